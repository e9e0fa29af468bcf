import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import type { AttemptAgent, GatewayCall, GatewayToken, LateRequest, OpenTurn } from './store.ts';

/** Of one attempt; a flood of them says nothing more. */
const MAX_LATE = 100;

export async function putGatewayToken(sql: Sql, { name, digest, trial, attempt, agent, place }: GatewayToken): Promise<void> {
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.gateway_tokens (name, digest, trial, attempt, agent, place) values ($1, $2, $3, $4, $5, $6)
       on conflict (trial, attempt, agent) do update set name = excluded.name, digest = excluded.digest, place = excluded.place, ended_at = null`,
      [name, digest, trial, attempt, agent, place],
    ),
  );
}

/** It has ended with its agent, with its attempt, or with the attempt after it. */
export async function findGatewayToken(sql: Sql, name: string): Promise<(GatewayToken & { readonly ended: boolean }) | null> {
  const [row] = await sql.query<GatewayToken & { ended: boolean }>(
    `select g.name, g.digest, g.trial, g.attempt, g.agent, g.place,
            g.ended_at is not null or a.ended_at is not null or t.attempt <> g.attempt as ended
     from trialbed.gateway_tokens g join trialbed.attempts a on a.trial = g.trial and a.attempt = g.attempt join trialbed.trials t on t.id = g.trial
     where g.name = $1`,
    [name],
  );
  return row ?? null;
}

export async function gatewayTokenOf(sql: Sql, { trial, attempt, agent }: AttemptAgent): Promise<GatewayToken | null> {
  const [row] = await sql.query<GatewayToken>(
    'select name, digest, trial, attempt, agent, place from trialbed.gateway_tokens where trial = $1 and attempt = $2 and agent = $3 and ended_at is null',
    [trial, attempt, agent],
  );
  return row ?? null;
}

export async function moveGatewayToken(sql: Sql, name: string, place: string | null): Promise<void> {
  await sql.query('update trialbed.gateway_tokens set place = $2 where name = $1', [name, place]);
}

export async function endGatewayToken(sql: Sql, name: string, now: Date): Promise<void> {
  await sql.query('update trialbed.gateway_tokens set ended_at = $2 where name = $1 and ended_at is null', [name, now]);
}

/** The first operation of a name stands. */
export async function putGatewayCall(sql: Sql, trial: string, attempt: number, { id, digest, operation }: GatewayCall): Promise<void> {
  await ofAttempt(trial, attempt, () =>
    sql.query('insert into trialbed.gateway_calls (trial, attempt, call_id, digest, operation) values ($1, $2, $3, $4, $5) on conflict do nothing', [
      trial,
      attempt,
      id,
      digest,
      operation,
    ]),
  );
}

export async function listGatewayCalls(sql: Sql, trial: string, attempt: number): Promise<readonly GatewayCall[]> {
  return sql.query<GatewayCall>('select call_id as id, digest, operation from trialbed.gateway_calls where trial = $1 and attempt = $2', [trial, attempt]);
}

/** Null: none is open. */
export async function setOpenTurn(sql: Sql, trial: string, attempt: number, turn: OpenTurn | null): Promise<void> {
  if (turn === null) {
    await sql.query('delete from trialbed.open_turns where trial = $1 and attempt = $2', [trial, attempt]);
    return;
  }
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.open_turns (trial, attempt, asked, status) values ($1, $2, $3, $4)
       on conflict (trial, attempt) do update set asked = excluded.asked, status = excluded.status`,
      [trial, attempt, turn.asked, turn.status],
    ),
  );
}

export async function findOpenTurn(sql: Sql, trial: string, attempt: number): Promise<OpenTurn | null> {
  const [row] = await sql.query<OpenTurn>('select asked, status from trialbed.open_turns where trial = $1 and attempt = $2', [trial, attempt]);
  return row ?? null;
}

export async function addLateRequest(sql: Sql, trial: string, attempt: number, detail: string, now: Date): Promise<void> {
  await sql.query(
    `insert into trialbed.late_requests (trial, attempt, detail, at) select $1, $2, $3, $4
     where (select count(*) from trialbed.late_requests where trial = $1 and attempt = $2) < $5`,
    [trial, attempt, detail, now, MAX_LATE],
  );
}

/** In the order in which they came. */
export async function listLateRequests(sql: Sql, trial: string, attempt: number): Promise<readonly LateRequest[]> {
  const rows = await sql.query<{ detail: string; at: Date }>('select detail, at from trialbed.late_requests where trial = $1 and attempt = $2 order by id', [
    trial,
    attempt,
  ]);
  return rows.map(({ detail, at }) => ({ detail, at: at.toISOString() }));
}
