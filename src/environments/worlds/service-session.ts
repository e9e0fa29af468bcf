import { trialOfOwner } from '../../domain/trial.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { WorldSql } from '../define.ts';
import { inTransaction } from '../hosts/connection.ts';
import { FencedError, type ServiceRequest, type ServiceSession } from '../world.ts';
import type { Access } from './access.ts';
import { holdLease } from './clock.ts';
import { changeRows } from './fault-notes.ts';
import { isoUtc } from './journal.ts';
import { inSys, type Layout } from './layout.ts';
import { WorldLedger } from './ledger.ts';
import type { WorldRow } from './registry.ts';
import { confirmFault, decideRequest } from './request-faults.ts';
import { staleSql } from './stale.ts';
import { type Attempt, enter, isFence, toolTransaction } from './transact.ts';

/** Which of a world's secrets this is, compared in constant time; null: none. */
export function secretKind(row: WorldRow, secret: string): SecretKind | null {
  const tool = equal(row.tool_secret, secret);
  const agent = equal(row.agent_secret, secret);
  const server = equal(row.server_secret, secret);
  return tool ? 'tool' : agent ? 'agent' : server ? 'server' : null;
}

/** `tool`: names the operation that it speaks for. `server`: speaks for the one that it serves. `agent`: for none. */
export type SecretKind = 'tool' | 'agent' | 'server';

/**
 * A service's access to one lease of a world. The secrets stay known until the world is released, so that what comes after the fence is not lost in a
 * failed login but refused and listed as late. A trusted session may still read then: an operation of unknown outcome is looked up after the fence.
 */
export function serviceSession(row: WorldRow, access: Access, kind: SecretKind, failpoint: (name: string) => void): ServiceSession {
  const { layout, epoch } = row;
  const trusted = kind === 'tool';
  const ledger = new WorldLedger(access, row);
  /** Whoever may not speak for an operation has none. */
  const attributedTo = async (named: Attempt | null): Promise<Attempt | null> => (kind === 'server' ? servedNow(access, layout) : trusted ? named : null);
  const own = async (request: ServiceRequest): Promise<ServiceRequest> => ({ ...request, operation: await attributedTo(request.operation) });
  // Or about to be: the fence ends whoever holds on, one after another, before it closes.
  const isClosed = async (): Promise<boolean> => {
    const { rows } = await access.admin.query<{ closed: boolean }>(
      `SELECT closed OR closing OR epoch <> $1 AS closed FROM ${inSys(layout, 'fence')}, ${inSys(layout, 'door')}`,
      [epoch],
    );
    return rows[0]?.closed ?? true;
  };
  return {
    worldId: row.id,
    concerns: { world: row.id, ...trialOfOwner(row.owner) },
    trusted,
    environment: row.services,
    async clock() {
      const { rows } = await access.admin.query<{ now: string; timezone: string }>(`SELECT ${isoUtc('now')} AS now, timezone FROM ${inSys(layout, 'clock')}`);
      return { now: new Date(rows[0]?.now ?? 0), timezone: rows[0]?.timezone ?? 'UTC' };
    },
    fault: async (request) => decideRequest(access, row, await own(request)),
    confirm: async (request, fault) => confirmFault(access, row, await own(request), fault),
    async change({ rule, key, changes }) {
      await inTransaction(access.admin, async (client) => {
        if (!(await holdLease(client, row)).closed) await changeRows(client, row, rule, key, changes);
      });
    },
    readAsOf: (seq, work) => work(staleSql(access.services, row, seq)),
    async storeMail(mail, copies) {
      const { raw, attempt: named, operation, ...rest } = mail;
      const served = await attributedTo(operation === null ? null : { id: operation, attempt: named });
      const attributed = served?.id ?? null;
      const attempt = served?.attempt ?? named;
      try {
        const store = inSys(layout, 'store_mail');
        const values = [attributed, attempt, epoch, JSON.stringify(rest), raw];
        const { rows } = copies
          ? await access.services.query<{ seq: string }>(
              `SELECT ${store}($1, $2, $3, $4, $5) AS seq UNION ALL SELECT ${store}($1, $2, $3, $6, $5) FROM generate_series(1, $7)`,
              [...values, JSON.stringify({ ...rest, byFault: copies.rule }), copies.count],
            )
          : await access.services.query<{ seq: string }>(`SELECT ${store}($1, $2, $3, $4, $5) AS seq`, values);
        failpoint('mail_stored_before_reply');
        return { seq: Number(rows[0]?.seq) };
      } catch (error) {
        if (!isFence(error)) throw error;
        const to = rest.recipients.map((recipient) => recipient.address).join(', ');
        await ledger.late({ source: 'smtp', operation: attributed, detail: `mail from ${rest.from} to ${to}: ${rest.subject}` });
        throw new FencedError('the world');
      }
    },
    async transact<T>(operation: Attempt | null, work: (sql: WorldSql) => Promise<T>): Promise<T> {
      const attributed = await attributedTo(operation);
      let ended = false;
      const lost = (commitSent: boolean) => {
        ended = !commitSent;
      };
      try {
        return await toolTransaction(access.services, { layout, epoch, operation: attributed, begin: enter(layout, attributed, epoch, !trusted), lost }, work);
      } catch (error) {
        const fenced = error instanceof FencedError;
        const heldOn = !fenced && ended && (await isClosed());
        if (!fenced && !heldOn) throw error;
        const detail = fenced ? error.message : 'its session held on at the fence and was ended; nothing of it was committed';
        await ledger.late({ source: 'tickets', operation: attributed?.id ?? null, detail });
        throw fenced ? error : new FencedError('the world');
      }
    },
    async late(source, operation, detail) {
      await ledger.late({ source, operation, detail });
    },
  };
}

async function servedNow(access: Access, layout: Layout): Promise<Attempt | null> {
  const { rows } = await access.admin.query<{ operation: string | null; attempt: number }>(`SELECT operation, attempt FROM ${inSys(layout, 'serving')}`);
  const [row] = rows;
  return row?.operation == null ? null : { id: row.operation, attempt: row.attempt };
}

function equal(known: string | null, shown: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(known ?? ''), digest(shown)) && known !== null;
}
