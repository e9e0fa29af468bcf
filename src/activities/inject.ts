import { CompleteAsyncError } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { covers, type DrawnRule, type Fault, SERVICE_KINDS, targetText } from '../domain/fault.ts';
import type { StateChange } from '../domain/case.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { printable } from '../domain/text/bounded.ts';
import { type Tool, ToolFailure } from '../environments/define.ts';
import type { World } from '../environments/world.ts';
import type { Bend } from './carry-out.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { FAILURE } from './contract.ts';

/** A call that rules of the schedule hit. */
export interface HitCall {
  readonly world: World;
  readonly tool: Tool;
  readonly operation: string;
  /** Of the tool's calls, from 1; null where no rule hits. */
  readonly position: number | null;
  /** Rules that hit this call, in the schedule's order. */
  readonly hits: readonly DrawnRule[];
  /** All rules of the trial's schedule. */
  readonly rules: readonly DrawnRule[];
  readonly idempotencyKey: string | null;
  readonly runtime: ProductionRuntime;
}

/** Rows that disagree, or that others change, before the agent's first message. */
export async function changeAtStart(world: World, rules: readonly DrawnRule[]): Promise<void> {
  for (const rule of rules) {
    const { fault } = rule;
    if (rule.on !== 'start' || !covers(rule, 1)) continue;
    if (fault.kind === 'stale_read') {
      const { asOf, reads = null, forSeconds = null } = fault;
      await world.faults.freeze(rule.index, { service: 'all', asOf, reads, forSeconds });
      // It fires with the first read that it makes stale.
      continue;
    } else if (fault.kind === 'conflicting_records' || fault.kind === 'concurrent_change') {
      await changed(world, rule, null, fault.changes);
    } else continue;
    await world.faults.record({ rule: rule.index, kind: fault.kind, on: 'start', position: null, operation: null, detail: 'in force from the start' });
  }
}

/** What happens before the call is sent: others change rows, reads freeze, services are told what to do with its requests. */
export async function beforeCall(call: HitCall): Promise<void> {
  for (const rule of call.hits) {
    const { fault } = rule;
    if (fault.kind === 'stale_read') await freeze(call, rule);
    if ((fault.kind === 'concurrent_change' && fault.when === 'before') || fault.kind === 'conflicting_records') await change(call, rule);
  }
  const armed = call.hits.filter((rule) => forService(call.tool, rule));
  if (armed.length > 0)
    await call.world.faults.arm(
      call.operation,
      armed.map((rule) => ({ rule: rule.index, position: call.position ?? 0 })),
    );
}

/** Refuses a try of the call where the schedule says so. @throws {ToolFailure} that had no effect. @throws {CompleteAsyncError} when the request is lost on its way. */
export async function refuse(call: HitCall, attempt: number): Promise<void> {
  const { world, tool } = call;
  for (const rule of call.hits) {
    const { fault } = rule;
    if (fault.kind === 'timeout_before_commit') throw new CompleteAsyncError();
    if (fault.kind === 'payload_too_large') {
      await record(call, rule, `${tool.name} was refused: more than ${fault.limitBytes} bytes`);
      throw new ToolFailure('payload_too_large', `The request or its reply exceeds ${fault.limitBytes} bytes.`);
    }
    if (fault.kind === 'unavailable' && attempt <= (fault.attempts ?? Number.POSITIVE_INFINITY)) {
      await record(call, rule, `${tool.name} was not available (try ${attempt})`);
      throw unavailable(fault.retryAfterSeconds);
    }
    // Without a number of tries, the later ones meet the limit that the first has met, for as long as it stands.
    if (fault.kind === 'rate_limited' && attempt <= (fault.attempts ?? 1)) {
      const { now } = await world.clock();
      const until = new Date(now.getTime() + fault.retryAfterSeconds * 1000);
      // With a number of tries the limit is as short as those.
      if (fault.attempts === undefined) await world.faults.limit(tool.name, until);
      await record(call, rule, `${tool.name} was limited until ${until.toISOString()} (try ${attempt})`);
      throw new LimitedFailure(fault.retryAfterSeconds, fault.retryAfterAs === 'http_date' ? until : null);
    }
  }
  const limit = call.rules.find((rule) => rule.fault.kind === 'rate_limited' && targetText(rule.on) === tool.name);
  if (!limit) return;
  const until = await world.faults.limitedUntil(tool.name);
  if (until === null) return;
  const { now } = await world.clock();
  await record(call, limit, `${tool.name} was still limited until ${until.toISOString()} (try ${attempt})`);
  const asDate = limit.fault.kind === 'rate_limited' && limit.fault.retryAfterAs === 'http_date';
  throw new LimitedFailure(Math.ceil((until.getTime() - now.getTime()) / 1000), asDate ? until : null);
}

/** How the try is bent that is carried out. */
export async function bendOf(call: HitCall): Promise<Bend> {
  const twice = call.hits.find((rule) => rule.fault.kind === 'duplicate_delivery' && !forService(call.tool, rule));
  // With a key, the system of record knows the second arrival for what it is.
  const copies = twice?.fault.kind === 'duplicate_delivery' && call.idempotencyKey === null ? twice.fault.copies : 0;
  if (twice) await record(call, twice, `${call.tool.name} arrived ${copies + 1} times`);
  const contract = call.hits.findLast((rule) => rule.fault.kind === 'schema_changed');
  if (contract) await record(call, contract, `${call.tool.name} had another contract`);
  const freezes = call.tool.effect === 'read' && call.rules.some((rule) => rule.fault.kind === 'stale_read');
  const frozen = freezes ? await call.world.faults.frozen('database', call.operation) : null;
  const stale = call.rules.find((rule) => rule.index === frozen?.rule);
  if (stale) await record(call, stale, `${call.tool.name} answered as of before`);
  return {
    copies,
    asOf: frozen?.seq ?? null,
    renameResult: contract?.fault.kind === 'schema_changed' ? contract.fault.renameResult : {},
  };
}

/**
 * What happens once the call has been carried out.
 * @throws {CompleteAsyncError} when its reply never comes: the activity stays open, its slot is free, and the server's own time-out ends it.
 * @throws {ApplicationFailure} or {ToolFailure} when its reply cannot be read.
 */
export async function afterCall(call: HitCall): Promise<void> {
  const { world, tool, operation } = call;
  for (const rule of call.hits) {
    const { fault } = rule;
    if (fault.kind === 'concurrent_change' && fault.when === 'after') await change(call, rule);
    if (fault.kind === 'slow' && !outlives(rule, call.runtime)) {
      await world.faults.advance(`${operation} slow ${rule.index}`, { seconds: fault.bySeconds });
      await record(call, rule, `the reply of ${tool.name} took ${fault.bySeconds} s`);
    }
    if (fault.kind === 'malformed_reply') {
      await record(call, rule, `the reply of ${tool.name} was cut off`);
      const message = `The reply of ${tool.name} could not be read: it ends too early.`;
      if (tool.effect === 'read') throw new ToolFailure('malformed_reply', message);
      throw ApplicationFailure.create({ message, type: 'malformed_reply', nonRetryable: true, category: ApplicationFailureCategory.BENIGN });
    }
  }
  if (replyNeverComes(call)) throw new CompleteAsyncError();
}

/** The reply of this call, good or bad, comes after its time. */
export function replyNeverComes({ hits, runtime }: Pick<HitCall, 'hits' | 'runtime'>): boolean {
  return hits.some((rule) => outlives(rule, runtime));
}

/** A rule whose call times out for real. */
export function timesOut(fault: Fault, runtime: ProductionRuntime): boolean {
  return fault.kind === 'timeout_before_commit' || outlives({ fault }, runtime);
}

/** Records an injected time-out, and lets the time pass that the production client waited. Idempotent: the activity that timed out may have been lost. */
export async function recordTimeout(call: HitCall): Promise<void> {
  const rule = call.hits.find(({ fault }) => timesOut(fault, call.runtime));
  if (!rule) return;
  await call.world.faults.advance(`${call.operation} timeout`, { seconds: call.runtime.timeoutSeconds });
  const what = rule.fault.kind === 'timeout_before_commit' ? 'was lost on its way' : 'was carried out, and its reply never came';
  await record(call, rule, `${call.tool.name} ${what}`);
}

/** A slow reply outlives its time where it takes longer than the production client waits. */
function outlives({ fault }: Pick<DrawnRule, 'fault'>, runtime: ProductionRuntime): boolean {
  return fault.kind === 'timeout_after_commit' || (fault.kind === 'slow' && fault.bySeconds >= runtime.timeoutSeconds);
}

async function freeze(call: HitCall, rule: DrawnRule): Promise<void> {
  if (rule.fault.kind !== 'stale_read') return;
  const { asOf, reads = null, forSeconds = null } = rule.fault;
  await call.world.faults.freeze(rule.index, { service: 'all', asOf, reads, forSeconds });
  await record(call, rule, `reads answer as of ${asOf === 'start' ? 'the start' : 'now'}`);
}

async function change(call: HitCall, rule: DrawnRule): Promise<void> {
  if (rule.fault.kind !== 'concurrent_change' && rule.fault.kind !== 'conflicting_records') return;
  await changed(call.world, rule, call.operation, rule.fault.changes);
  await record(call, rule, "rows changed by somebody else's hand");
}

/**
 * Somebody else's change, as the schedule has it.
 * @throws {ApplicationFailure} `FaultNotApplicable` where the world is not as the rule supposes: the schedule's mistake, and nothing that an agent answers for.
 */
async function changed(world: World, rule: DrawnRule, operation: string | null, changes: readonly StateChange[]): Promise<void> {
  try {
    await world.faults.change({ rule: rule.index, operation }, changes);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'world_state') throw error;
    const why = printable(error instanceof Error ? error.message : String(error), MAX_PROBLEM_LENGTH);
    throw ApplicationFailure.nonRetryable(
      `rule ${rule.index + 1} of the fault schedule (${rule.fault.kind}) cannot be applied: ${why}`,
      FAILURE.faultNotApplicable,
    );
  }
}

/** A rule on a tool that is injected by the service which the tool's call reaches. */
function forService(tool: Tool, { fault }: DrawnRule): boolean {
  return SERVICE_KINDS.has(fault.kind) || (fault.kind === 'duplicate_delivery' && tool.effect === 'external');
}

function record(call: Pick<HitCall, 'world' | 'tool' | 'operation' | 'position'>, rule: DrawnRule, detail: string): Promise<void> {
  const { world, operation, position } = call;
  return world.faults.record({ rule: rule.index, kind: rule.fault.kind, on: targetText(rule.on), position, operation, detail });
}

function unavailable(retryAfterSeconds: number | undefined): ToolFailure {
  return new ToolFailure('unavailable', 'The service is not available.', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

/** Refused by a limit. Told as a date, as HTTP has it, the seconds are for the agent to find out; the production client reads both forms. */
export class LimitedFailure extends ToolFailure {
  readonly pauseSeconds: number;

  constructor(pauseSeconds: number, date: Date | null) {
    const when = date === null ? `in ${pauseSeconds} s` : `after ${date.toUTCString()}`;
    super('rate_limited', `Too many requests; try again ${when}.`, date === null ? { retryAfterSeconds: pauseSeconds } : {});
    this.pauseSeconds = pauseSeconds;
  }
}
