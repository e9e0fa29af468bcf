import { basename } from 'node:path';
import type { CallRange, Fault, FaultRule, FaultSchedule, FaultTarget } from '../domain/fault.ts';
import { checkRule } from './check-rule.ts';
import { faultsSchema, type WrittenRule } from './fault-schema.ts';
import { contentHash } from './identity.ts';
import { check, inOrder } from './issues.ts';
import { type LoadedSchedule, SuiteFileError } from './suite.ts';
import { pathOf, readYaml, type YamlFile } from './yaml-file.ts';

/** Names that stand for something else than a file. */
export const RESERVED_SCHEDULES: readonly string[] = ['none', 'all'];

const SOURCES = new WeakMap<LoadedSchedule, YamlFile>();

/** The file that a schedule was read from, with the places of its parts. */
export function sourceOfSchedule(loaded: LoadedSchedule): YamlFile | null {
  return SOURCES.get(loaded) ?? null;
}

/** Reads one fault schedule. Its name is the file's without `.yaml`. @throws {SuiteFileError} that lists everything that is wrong with it. */
export async function loadSchedule(file: string): Promise<LoadedSchedule> {
  const source = await readYaml(file);
  const written = check(faultsSchema, source);
  const name = basename(file, '.yaml');
  const rules = written.faults.map(ruleOf);
  const problems = rules.flatMap((rule, index) => checkRule(source, ['faults', index], rule));
  if (problems.length > 0) throw new SuiteFileError(inOrder(problems));
  const schedule: FaultSchedule = { name, title: written.title ?? name, cases: written.cases ?? ['*'], rules };
  const loaded: LoadedSchedule = { schedule, file, hash: contentHash(schedule), lineOf: (path) => source.at(pathOf(path)).line };
  SOURCES.set(loaded, source);
  return loaded;
}

const AFTER_MS = 300;
const RETRY_AFTER_MS = 1000;
const LIMIT_BYTES = 1024;
const RECIPIENT_CODE = 450;

function ruleOf(written: WrittenRule): FaultRule {
  const { where, probability } = written;
  const calls = callsOf(written);
  return {
    on: targetOf(written.on),
    ...(calls === undefined ? {} : { calls }),
    ...(where === undefined ? {} : { where }),
    ...(probability === undefined ? {} : { probability }),
    fault: faultOf(written),
  };
}

function targetOf(on: WrittenRule['on']): FaultTarget {
  if (typeof on !== 'string') return on;
  return on === 'start' ? 'start' : { tool: on };
}

function callsOf({ call, calls }: WrittenRule): CallRange | readonly number[] | undefined {
  if (call !== undefined) return [call];
  if (calls === undefined) return undefined;
  if (Array.isArray(calls)) return [...new Set(calls)].sort((a, b) => a - b);
  return { from: calls.from, ...(calls.to === undefined ? {} : { to: calls.to }) };
}

function faultOf(written: WrittenRule): Fault {
  switch (written.fault) {
    case 'rate_limited':
      return {
        kind: written.fault,
        retryAfterSeconds: (written.retry_after ?? RETRY_AFTER_MS) / 1000,
        retryAfterAs: written.retry_after_as ?? 'seconds',
        ...given('attempts', written.attempts),
      };
    case 'unavailable':
      return {
        kind: written.fault,
        ...given('attempts', written.attempts),
        ...given('committed', written.committed === true ? true : undefined),
        ...given('retryAfterSeconds', secondsOf(written.retry_after)),
      };
    case 'timeout_before_commit':
    case 'timeout_after_commit':
      return { kind: written.fault, afterMs: written.after ?? AFTER_MS };
    case 'slow':
      return { kind: written.fault, bySeconds: written.by / 1000 };
    case 'stale_read':
      return {
        kind: written.fault,
        asOf: written.as_of ?? 'trigger',
        ...given('reads', written.reads),
        ...given('forSeconds', secondsOf(written.for)),
      };
    case 'concurrent_change':
      return { kind: written.fault, when: written.when ?? 'before', changes: written.changes };
    case 'conflicting_records':
      return { kind: written.fault, changes: written.changes };
    case 'duplicate_delivery':
      return { kind: written.fault, copies: written.copies ?? 1 };
    case 'schema_changed':
      return { kind: written.fault, rename: written.rename ?? {}, remove: written.remove ?? [], renameResult: written.rename_result ?? {} };
    case 'payload_too_large':
      return { kind: written.fault, limitBytes: written.limit_bytes ?? LIMIT_BYTES };
    case 'smtp_connect':
      return { kind: written.fault, ...given('code', written.code) };
    case 'smtp_recipient':
      return { kind: written.fault, code: written.code ?? RECIPIENT_CODE, ...given('recipient', written.recipient) };
    case 'smtp_final_dot':
      return { kind: written.fault, stored: written.stored ?? true, ...given('code', written.code) };
    case 'permission_revoked':
    case 'malformed_reply':
    case 'smtp_data':
      return { kind: written.fault };
  }
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

/** A member that is there only where it has a value, so that equal schedules have equal content. */
function given<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: V });
}
