import type pg from 'pg';
import { covers, type DrawnRule, type Fault, KINDS_OF_SERVICE, LASTING_KINDS } from '../../domain/fault.ts';
import { inTransaction } from '../hosts/connection.ts';
import { type RequestFaults, type ServiceRequest, WorldGoneError } from '../world.ts';
import type { Access } from './access.ts';
import { advanceClock, holdLease, worldTime } from './clock.ts';
import { injected } from './fault-details.ts';
import { changeRows, countRead, hitsOf, noteFault, setFreeze, setLimit } from './fault-notes.ts';
import { isoUtc } from './journal.ts';
import { inSys } from './layout.ts';
import type { WorldRow } from './registry.ts';

/** One rule as it meets one request. */
interface Hit {
  readonly rule: DrawnRule;
  readonly position: number;
}

/**
 * Counts a request of a service and decides what the schedule does to it: rules armed for its operation first, then those of the service by the number of the
 * request, then a limit that still stands. What concerns the world (clock, rows, freezes) is done here; the rest is for the service. All in one transaction:
 * requests at the same time get numbers of their own. Without rules there is no query; after the fence nothing is injected.
 *
 * A request that repeats one of a dispatch that was lost with its worker has the number of that one.
 */
export async function decideRequest(access: Access, row: WorldRow, request: ServiceRequest): Promise<RequestFaults | null> {
  if ((row.lease?.faults ?? []).length === 0) return null;
  try {
    return await inTransaction(access.admin, async (client) => {
      if ((await holdLease(client, row)).closed) return null;
      return new Decision(client, row, request).decide();
    });
  } catch (error) {
    // The world has another owner: the request itself will be refused.
    if (error instanceof WorldGoneError) return null;
    throw error;
  }
}

/** Notes a fault of which a service could not say before that it would come to pass. */
export async function confirmFault(access: Access, row: WorldRow, request: ServiceRequest, hit: NonNullable<RequestFaults['fault']>): Promise<void> {
  const rule = row.lease?.faults?.find((known) => known.index === hit.rule);
  if (!rule) return;
  await inTransaction(access.admin, async (client) => {
    await holdLease(client, row);
    await noteFault(client, row.layout, injected(rule, hit.position, request), true);
  });
}

class Decision {
  private readonly client: pg.PoolClient;
  private readonly row: WorldRow;
  private readonly request: ServiceRequest;

  constructor(client: pg.PoolClient, row: WorldRow, request: ServiceRequest) {
    this.client = client;
    this.row = row;
    this.request = request;
  }

  async decide(): Promise<RequestFaults> {
    const { request } = this;
    const { service, operation } = request;
    const n = request.number ?? (await this.number());
    let fault: RequestFaults['fault'] = null;
    const after: RequestFaults['after'][number][] = [];
    for (const hit of await this.hits(n)) {
      const { fault: what, index } = hit.rule;
      if ('attempts' in what && what.attempts !== undefined && (await hitsOf(this.client, this.row.layout, index, operation?.id ?? null)) >= what.attempts)
        continue;
      const key = `${index} ${service} ${n}`;
      if (what.kind === 'stale_read') {
        const options = { service: 'tickets' as const, asOf: what.asOf, reads: what.reads ?? null, forSeconds: what.forSeconds ?? null };
        if (await setFreeze(this.client, this.row, index, options)) await this.note(hit);
      } else if (what.kind === 'conflicting_records' || (what.kind === 'concurrent_change' && what.when === 'before')) {
        if (await changeRows(this.client, this.row, index, key, what.changes)) await this.note(hit);
      } else if (what.kind === 'concurrent_change') {
        after.push({ rule: index, key, changes: what.changes });
        await this.note(hit);
      } else {
        const decisive = await this.act(hit, what, key);
        fault ??= decisive;
      }
    }
    fault ??= await this.limited(n);
    const stale = request.reads ? await countRead(this.client, this.row.layout, 'tickets', operation?.id ?? null) : null;
    return { number: n, fault, after, staleAfter: stale?.seq ?? null, now: await worldTime(this.client, this.row.layout) };
  }

  /** Moves the clock and sets limits. @returns what is left for the service to do. */
  private async act(hit: Hit, what: Fault, key: string): Promise<RequestFaults['fault']> {
    const { layout, services } = this.row;
    const patience = services.patienceSeconds ?? 30;
    const found = { rule: hit.rule.index, position: hit.position, fault: what, until: null };
    if (what.kind === 'slow') {
      await this.note(hit);
      await advanceClock(this.client, layout, key, { seconds: Math.min(what.bySeconds, patience) });
      // Nobody waits longer than the production client does.
      return what.bySeconds >= patience ? { ...found, fault: { kind: 'timeout_after_commit', afterMs: 0 } } : null;
    }
    if (what.kind === 'timeout_before_commit' || what.kind === 'timeout_after_commit') await advanceClock(this.client, layout, key, { seconds: patience });
    if (!this.request.confirms.has(what.kind)) await this.note(hit);
    if (what.kind !== 'rate_limited') return found;
    const until = new Date((await worldTime(this.client, layout)).getTime() + what.retryAfterSeconds * 1000);
    await setLimit(this.client, layout, `service ${this.request.service}`, until, hit.rule.index);
    return { ...found, until };
  }

  /** The limit that stands for the service: refused as the request that set it. */
  private async limited(n: number): Promise<RequestFaults['fault']> {
    const { client, row, request } = this;
    const { rows } = await client.query<{ until: string; rule: number | null }>(
      `SELECT ${isoUtc('until')} AS until, rule FROM ${inSys(row.layout, 'limits')} WHERE target = $1 AND until > (SELECT now FROM ${inSys(row.layout, 'clock')})`,
      [`service ${request.service}`],
    );
    const limit = rows[0];
    const rule = row.lease?.faults?.find((known) => known.index === limit?.rule);
    if (!limit || rule?.fault.kind !== 'rate_limited' || request.phase === 'connect') return null;
    const { attempts } = rule.fault;
    if (attempts !== undefined && (await hitsOf(client, row.layout, rule.index, request.operation?.id ?? null)) >= attempts) return null;
    await this.note({ rule, position: n });
    return { rule: rule.index, position: n, fault: rule.fault, until: new Date(limit.until) };
  }

  private async hits(n: number): Promise<Hit[]> {
    const { client, row, request } = this;
    const rules = row.lease?.faults ?? [];
    const fits = (rule: DrawnRule) =>
      KINDS_OF_SERVICE[request.service].has(rule.fault.kind) &&
      (rule.fault.kind === 'smtp_connect' ? request.phase !== 'rest' : request.phase !== 'connect') &&
      !(request.reads && rule.fault.kind === 'duplicate_delivery');
    const found: Hit[] = [];
    if (request.operation) {
      const { rows } = await client.query<{ rule: number; position: number }>(
        `SELECT rule, position FROM ${inSys(row.layout, 'armed')} WHERE operation = $1 ORDER BY rule`,
        [request.operation.id],
      );
      for (const { rule, position } of rows) {
        const known = rules.find((candidate) => candidate.index === rule);
        if (known && fits(known)) found.push({ rule: known, position });
      }
    }
    for (const rule of rules) {
      if (typeof rule.on === 'string' || !('service' in rule.on) || rule.on.service !== request.service || !fits(rule)) continue;
      if (covers(rule, n) || (LASTING_KINDS.has(rule.fault.kind) && (await this.triggered(rule.index)))) found.push({ rule, position: n });
    }
    return found;
  }

  private async triggered(rule: number): Promise<boolean> {
    const { rowCount } = await this.client.query(`SELECT 1 FROM ${inSys(this.row.layout, 'faults')} WHERE rule = $1 LIMIT 1`, [rule]);
    return (rowCount ?? 0) > 0;
  }

  private async number(): Promise<number> {
    const { client, request } = this;
    const sys = (name: string) => inSys(this.row.layout, name);
    // Held until this is decided.
    const { rows } = await client.query<{ requests: number }>(
      `INSERT INTO ${sys('counters')} AS c (service, requests) VALUES ($1, 0) ON CONFLICT (service) DO UPDATE SET requests = c.requests RETURNING requests`,
      [request.service],
    );
    if (request.operation) {
      const { rows: again } = await client.query<{ n: number }>(
        `UPDATE ${sys('requests')} SET attempt = $3 WHERE service = $1 AND n = (
           SELECT min(r.n) FROM ${sys('requests')} r JOIN ${sys('attempts')} a ON a.operation = r.operation
            WHERE r.service = $1 AND r.operation = $2 AND r.attempt <= a.fenced AND r.attempt < $3) RETURNING n`,
        [request.service, request.operation.id, request.operation.attempt],
      );
      if (again[0]) return again[0].n;
    }
    const n = (rows[0]?.requests ?? 0) + 1;
    await client.query(`UPDATE ${sys('counters')} SET requests = $2 WHERE service = $1`, [request.service, n]);
    await client.query(`INSERT INTO ${sys('requests')} (service, n, operation, attempt) VALUES ($1, $2, $3, $4)`, [
      request.service,
      n,
      request.operation?.id ?? null,
      request.operation?.attempt ?? null,
    ]);
    return n;
  }

  private async note(hit: Hit): Promise<void> {
    await noteFault(this.client, this.row.layout, injected(hit.rule, hit.position, this.request), true);
  }
}
