import pg from 'pg';
import type { InboxOptions, TicketsOptions, WorldSql } from '../../src/environments/define.ts';
import type { ServiceDirectory } from '../../src/environments/services.ts';
import { FencedError, type ServiceSession, type WorldCredentials } from '../../src/environments/world.ts';
import type { LateAttempt, MailEffect } from '../../src/domain/effect.ts';
import type { JsonObject } from '../../src/domain/json.ts';

/** A small directory over a real database. */
export class TestDirectory implements ServiceDirectory {
  readonly pool: pg.Pool;
  constructor(url: string) {
    this.pool = new pg.Pool({ connectionString: url, max: 20 });
  }
  readonly worlds = new Map<string, TestWorld>();
  async world(id: string, inbox: InboxOptions = {}): Promise<TestWorld> {
    const w = new TestWorld(this.pool, id, inbox);
    await w.make();
    this.worlds.set(id, w);
    return w;
  }
  async authenticate(worldId: string, secret: string): Promise<ServiceSession | null> {
    const w = this.worlds.get(worldId);
    if (!w) return null;
    if (secret === w.credentials.toolSecret) return w.session(true);
    if (secret === w.credentials.agentSecret) return w.session(false);
    return null;
  }
}

export class TestWorld {
  readonly #pool: pg.Pool;
  readonly #inbox: InboxOptions;
  readonly id: string;
  readonly credentials: WorldCredentials;
  readonly #tickets: TicketsOptions = { tickets: 'tickets', comments: 'comments' };
  constructor(pool: pg.Pool, id: string, inbox: InboxOptions) {
    this.#pool = pool;
    this.id = id;
    this.#inbox = inbox;
    this.credentials = { user: id, toolSecret: `tool-${id}`, agentSecret: `agent-${id}` };
  }
  async make() {
    const s = `w_${this.id}`;
    await this.#pool.query(`drop schema if exists ${s} cascade; create schema ${s};
      create table ${s}.fence(closed boolean not null); insert into ${s}.fence values (false);
      create table ${s}.mails(seq serial primary key, accepted boolean, mail json, raw bytea, attempt int);
      create table ${s}.late(source text, operation text, detail text);
      create table ${s}.tickets(id serial primary key, subject text not null, body text not null, requester text not null, status text not null default 'open' check (status in ('open','pending','closed')), priority text not null default 'normal', assignee text, created_at timestamptz not null, updated_at timestamptz not null, unique(subject, requester));
      create table ${s}.comments(id serial primary key, ticket_id int references ${s}.tickets, author text not null, body text not null, public boolean not null, created_at timestamptz not null);
      create table ${s}.ops(operation text, attempt int)`);
  }
  session(trusted: boolean): ServiceSession {
    const s = `w_${this.id}`;
    const tx = async <T>(work: (c: pg.PoolClient) => Promise<T>): Promise<T> => {
      const c = await this.#pool.connect();
      try {
        await c.query('begin');
        await c.query(`set local search_path = ${s}`);
        const v = await work(c);
        await c.query('commit');
        return v;
      } catch (e) {
        await c.query('rollback');
        throw e;
      } finally {
        c.release();
      }
    };
    const late = async (source: string, operation: string | null, detail: string) => {
      await this.#pool.query(`insert into ${s}.late values ($1,$2,$3)`, [source, operation, detail]);
    };
    return {
      worldId: this.id,
      trusted,
      clock: async () => ({ now: new Date('2026-03-02T08:30:00Z'), timezone: 'Europe/Berlin' }),
      environment: { inbox: this.#inbox, tickets: this.#tickets },
      late,
      storeMail: async ({ raw, attempt, ...mail }) => {
        try {
          return await tx(async (c) => {
            const f = await c.query('select closed from fence for share');
            if (f.rows[0].closed) throw new FencedError(`world ${this.id}`);
            const r = await c.query('insert into mails(accepted, mail, raw, attempt) values ($1,$2,$3,$4) returning seq', [mail.accepted, mail, raw, attempt]);
            return { seq: r.rows[0].seq };
          });
        } catch (e) {
          if (e instanceof FencedError) await late('smtp', mail.operation, mail.subject);
          throw e;
        }
      },
      transact: (operation, work) =>
        (async <T>(run: Promise<T>): Promise<T> => {
          try {
            return await run;
          } catch (e) {
            if (e instanceof FencedError) await late('tickets', operation?.id ?? null, e.message);
            throw e;
          }
        })(tx(async (c) => {
          const sql: WorldSql = {
            query: async <Row extends JsonObject>(text: string, values?: readonly unknown[]) => {
              if (!/^\s*select/i.test(text)) {
                const f = await c.query('select closed from fence for share');
                if (f.rows[0].closed) throw new FencedError(`world ${this.id}`);
                await c.query('insert into ops values ($1,$2)', [operation?.id ?? null, operation?.attempt ?? null]);
              }
              const r = await c.query(text, values ? [...values] : []);
              return r.rows.map((row) => JSON.parse(JSON.stringify(row)) as Row);
            },
          };
          return work(sql);
        })),
    };
  }
  async fence() {
    await this.#pool.query(`update w_${this.id}.fence set closed = true`);
  }
  async mails(): Promise<MailEffect[]> {
    return (await this.#pool.query(`select seq, mail from w_${this.id}.mails order by seq`)).rows.map((r) => ({ kind: 'mail', seq: r.seq, at: '', ...r.mail }));
  }
  async raws(): Promise<Buffer[]> {
    return (await this.#pool.query(`select raw from w_${this.id}.mails order by seq`)).rows.map((r) => r.raw);
  }
  async late(): Promise<Omit<LateAttempt, 'at'>[]> {
    return (await this.#pool.query(`select * from w_${this.id}.late`)).rows;
  }
  async writers(): Promise<(string | null)[]> {
    return (await this.#pool.query(`select operation from w_${this.id}.ops`)).rows.map((r) => r.operation);
  }
  async rows(table: string): Promise<JsonObject[]> {
    return (await this.#pool.query(`select * from w_${this.id}.${table} order by 1`)).rows;
  }
}
