import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { Json, JsonObject } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';
import { isObject, printable } from '../domain/text/bounded.ts';
import type { Tool, ToolContext, WorldSql } from '../environments/define.ts';
import { ToolFailure } from '../environments/define.ts';
import { createWorldMail } from '../environments/inbox/client.ts';
import { createWorldTickets, FaultNotApplicableError } from '../environments/tickets/client.ts';
import type { World } from '../environments/world.ts';
import type { Bound } from './approvals.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { FAILURE } from './contract.ts';
import { failureDetail } from './failure-detail.ts';
import { isPassing, isServiceLoss } from './failures.ts';
import type { OperateRequest } from './operate.ts';
import { callServer, staleNotApplicable } from './served-call.ts';
import type { ActivityServices } from './services.ts';
import { traceHeaders } from './trace-headers.ts';

/** How the schedule bends a try. */
export interface Bend {
  /** Arrivals of the request beside the first, of a tool that works by SQL; what reaches a service arrives again there. */
  readonly copies: number;
  /** Journal entry as of which a read answers; null: as it is. */
  readonly asOf: number | null;
  /** New names of fields of the result. */
  readonly renameResult: { readonly [field: string]: string };
}

/**
 * One try of a call. A tool that works by SQL does so in the transaction that also writes its ledger row; a tool that works through a service is settled in the
 * ledger after the service has replied, and the service's own record knows the operation meanwhile; so is one that the environment's tool server brings.
 *
 * @throws {ToolFailure} when the tool knows that it had no effect; anything else that is thrown leaves the outcome open.
 */
export async function carryOut(
  services: ActivityServices,
  request: OperateRequest,
  tool: Tool,
  args: unknown,
  { bend, bound }: { readonly bend: Bend; readonly bound: Bound | null },
): Promise<void> {
  const { world, operation, dispatch } = request;
  const attempt = { id: operation, attempt: dispatch };
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  const runWith = async (sql: WorldSql): Promise<Json> => resultOf(tool, await tool.run(args, await contextOf(services, request, sql)), bend.renameResult);
  const runThere = async (): Promise<Json> => resultOf(tool, await callServer(services, request, tool, args as JsonObject), bend.renameResult);
  try {
    if (tool.served) {
      if (bend.asOf !== null) throw staleNotApplicable(tool);
      if (bound) bound.check(await world.preview(bound.queries));
      const result = await runThere();
      // What a second arrival is answered concerns nobody.
      for (let copy = 0; copy < bend.copies; copy++) await runThere().catch(ignoreFailure);
      await world.ledger.settle(operation, dispatch, { state: 'committed', result, durationMs: took() });
    } else if (tool.effect === 'external') {
      // No transaction of ours holds what a service does: the rows are looked at just before it is asked.
      if (bound) bound.check(await world.preview(bound.queries));
      const result = await runWith(sqlOf(services, world, attempt));
      services.failpoint('service_replied_before_ledger');
      await world.ledger.settle(operation, dispatch, { state: 'committed', result, durationMs: took() });
    } else if (bend.asOf !== null) {
      const result = await world.faults.readAsOf(bend.asOf, runWith);
      await world.ledger.settle(operation, dispatch, { state: 'committed', result, durationMs: took() });
    } else {
      const work = async (sql: WorldSql) => {
        const result = await runWith(sql);
        for (let copy = 0; copy < bend.copies; copy++) await arriveAgain(sql, runWith);
        services.failpoint('tool_wrote_before_commit');
        return { value: undefined, result };
      };
      await world.transact(attempt, work, bound ?? undefined);
    }
  } catch (error) {
    throw await settleFailure(services, request, error, took());
  }
}

/** What the failure means for the operation. Settled in the ledger where it is known that nothing happened. */
async function settleFailure(services: ActivityServices, request: OperateRequest, error: unknown, durationMs: number): Promise<unknown> {
  const { world, operation, dispatch } = request;
  await explain(services, request, error);
  if (error instanceof FaultNotApplicableError)
    return ApplicationFailure.nonRetryable(`a rule of the fault schedule cannot be applied: ${printable(error.message)}`, FAILURE.faultNotApplicable);
  const failed = (failure: ToolFailure) => world.ledger.settle(operation, dispatch, { state: 'failed', problem: problemOf(failure), durationMs });
  if (isServiceLoss(error)) {
    // A real service that does not answer is production as it is. Else the schedule may have asked for it. In both, production's own reading holds: it is no trouble of ours.
    if (!world.live && (!request.scheduled || !(await world.faults.hit(operation)))) return error;
    const failure = error instanceof ToolFailure ? error : await withoutEffect(request, error);
    if (failure) await failed(failure);
    else await world.ledger.settle(operation, dispatch, { state: 'unknown', durationMs });
    return knownLoss(failure ?? error);
  }
  if (error instanceof ToolFailure) {
    await failed(error);
    return error;
  }
  // A tool's own database error says that its transaction was rolled back: without effect, but not in words that it declared.
  if (isSqlError(error) && !isPassing(error)) {
    const failure = new ToolFailure('tool_error', 'The tool failed and changed nothing.');
    await failed(failure);
    services.log.warn({ operation, tool: request.tool, err: error }, 'a tool ended with a database error');
    return failure;
  }
  return isDefect(request, error) ? internalError() : error;
}

/** What a tool threw that it does not declare: a defect of its code. The names of its classes are nothing for an agent; operators have them in the detail. */
function isDefect({ signal }: OperateRequest, error: unknown): boolean {
  return error instanceof Error && !(error instanceof TemporalFailure) && !isPassing(error) && !('code' in error) && !signal.aborted;
}

function internalError(): ApplicationFailure {
  const message = 'The call ended with an internal error; its outcome is unknown.';
  return ApplicationFailure.create({ message, type: 'internal_error', nonRetryable: true });
}

/**
 * A lost reply of which it is known all the same that nothing happened: of a read; or of a mail whose connection was cut before its final dot, where a client may have
 * sent the dot and not yet seen the cut. Null: it may have happened.
 */
async function withoutEffect({ world, environment, operation, tool: name }: OperateRequest, error: unknown): Promise<ToolFailure | null> {
  const tool = environment.environment.tools.find((candidate) => candidate.name === name);
  if (tool?.effect === 'read') return new ToolFailure('unavailable', 'The service gave no answer that could be read.');
  const last = (await world.faults.injected()).findLast((fault) => fault.operation === operation);
  if (last?.kind !== 'smtp_data') return null;
  return new ToolFailure('mail_unavailable', `the mail was not sent: ${error instanceof Error ? error.message : String(error)}`);
}

/** The failure of a service that a fault of the schedule caused, or of a real service, in a form that nothing takes for trouble of ours. */
function knownLoss(error: unknown): ApplicationFailure {
  const code = (error as { code?: unknown }).code;
  return ApplicationFailure.create({
    message: printable(error instanceof Error ? error.message : String(error), MAX_PROBLEM_LENGTH),
    type: typeof code === 'string' ? code : 'unknown_error',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}

export function problemOf(failure: ToolFailure): OperationProblem {
  return {
    code: failure.code,
    message: printable(failure.message, MAX_PROBLEM_LENGTH),
    ...(failure.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: failure.retryAfterSeconds }),
  };
}

/** Keeps what the failure says for operators. A failure of doing so must not hide the failure itself. */
async function explain(services: ActivityServices, { world, operation, tool, dispatch, signal }: OperateRequest, error: unknown): Promise<void> {
  // What a library throws when it is told to stop says nothing of the tool.
  if (signal.aborted && !(error instanceof ToolFailure)) return;
  try {
    const { toolSecret, agentSecret, server } = await world.credentials();
    const detail = failureDetail(error, [toolSecret, agentSecret, ...(server ? [server.secret] : [])]);
    if (detail !== null) await world.ledger.explain(operation, dispatch, detail);
  } catch (lost) {
    services.log.warn({ operation, tool, err: lost }, 'why a tool failed could not be kept');
  }
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof ToolFailure)) throw error;
}

/** A second arrival of a request that has been carried out: what it does stays, and what it fails with concerns nobody. */
async function arriveAgain(sql: WorldSql, run: (sql: WorldSql) => Promise<Json>): Promise<void> {
  await sql.query('SAVEPOINT arrival');
  try {
    await run(sql);
    await sql.query('RELEASE SAVEPOINT arrival');
  } catch {
    await sql.query('ROLLBACK TO SAVEPOINT arrival');
  }
}

async function contextOf(services: ActivityServices, request: OperateRequest, db: WorldSql): Promise<ToolContext> {
  const { world, operation, dispatch } = request;
  const [clock, credentials] = await Promise.all([request.clock ?? world.clock(), world.credentials()]);
  const attempt = { id: operation, attempt: dispatch };
  const real = { operation: attempt, now: clock.now, signal: request.signal };
  return {
    operation: attempt,
    permission: request.permission,
    now: clock.now,
    timezone: clock.timezone,
    db,
    mail: world.live?.mail?.(real) ?? createWorldMail({ address: services.addresses.smtp, credentials, operation: attempt, now: clock.now }),
    tickets:
      world.live?.tickets?.(real) ?? createWorldTickets({ url: services.addresses.tickets, credentials, operation: attempt, traceHeaders: traceHeaders() }),
    traceHeaders: traceHeaders(),
    signal: request.signal,
  };
}

/** SQL of a tool that works through services: each query is a transaction of its own, attributed to the operation. */
function sqlOf(services: ActivityServices, world: World, attempt: { id: string; attempt: number }): WorldSql {
  return {
    async query(text, values) {
      const { toolSecret } = await world.credentials();
      const session = await services.worlds.authenticate(world.ref.id, toolSecret);
      if (!session) throw ApplicationFailure.nonRetryable(`world ${world.ref.id} refused its own tools`, 'WorldGone');
      return session.transact(attempt, (sql) => sql.query(text, values));
    },
  };
}

function resultOf(tool: Tool, value: unknown, renamed: Bend['renameResult']): Json {
  const result = JSON.parse(JSON.stringify(tool.result.parse(value) ?? null)) as Json;
  if (!isObject(result)) return result;
  return Object.fromEntries(
    Object.entries(result as JsonObject).map(([field, part]) => [Object.hasOwn(renamed, field) ? (renamed[field] ?? field) : field, part]),
  );
}

/** A reply of the database server itself; carries a SQLSTATE of five characters. */
function isSqlError(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}
