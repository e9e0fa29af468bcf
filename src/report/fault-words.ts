import type { StateChange } from '../domain/case.ts';
import type { Fault, FaultRule } from '../domain/fault.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';

/** A rule in words, for people: when, and what goes wrong. Holds text of the suite's author, unescaped. */
export function ruleText(rule: FaultRule): string {
  return `${whenText(rule)}: ${faultText(rule.fault)}`;
}

/** What production is like, in one sentence each. */
export function runtimeTexts(runtime: ProductionRuntime): readonly string[] {
  const { timeoutSeconds, retries, lookup, wait, words } = runtime;
  const own =
    retries === null
      ? 'the production client makes no tries of its own'
      : `the production client tries up to ${retries.attempts} times more on ${retries.on.join(', ')}, ${
          retries.honoursRetryAfter ? 'after as long as Retry-After says, else after' : 'after'
        } ${secondsText(retries.backoffSeconds)}`;
  const wordings = Object.keys(words);
  return [
    `a call times out after ${secondsText(timeoutSeconds)}`,
    own,
    lookup === null ? 'an operation cannot be looked up' : `an operation can be looked up with ${lookup}`,
    wait === null ? 'there is no tool for waiting' : `the agent can wait with ${wait}`,
    ...(wordings.length === 0 ? [] : [`${wordings.join(', ')} in the words of production`]),
  ];
}

function whenText({ on, calls, where, probability }: FaultRule): string {
  const chance = probability === undefined || probability >= 1 ? '' : `, each with probability ${probability}`;
  if (on === 'start') return `before the agent begins${chance === '' ? '' : `, with probability ${probability}`}`;
  const target = 'tool' in on ? on.tool : `the service ${on.service}`;
  const unit = 'tool' in on ? 'call' : 'request';
  const matching = where === undefined ? '' : ` where ${JSON.stringify(where)}`;
  return `${callsText(calls, unit)} of ${target}${matching}${chance}`;
}

function callsText(calls: FaultRule['calls'], unit: string): string {
  if (calls === undefined) return `every ${unit}`;
  if (!('from' in calls)) return calls.length === 1 ? `${unit} ${calls[0]}` : `${unit}s ${calls.join(', ')}`;
  if (calls.to === undefined) return calls.from === 1 ? `every ${unit}` : `every ${unit} from number ${calls.from}`;
  return calls.from === calls.to ? `${unit} ${calls.from}` : `${unit}s ${calls.from} to ${calls.to}`;
}

function faultText(fault: Fault): string {
  switch (fault.kind) {
    case 'rate_limited':
      return `rate limited with no effect, for ${secondsText(fault.retryAfterSeconds)}${fault.retryAfterAs === 'http_date' ? ' (told as a date)' : ''}${triesText(fault.attempts)}`;
    case 'unavailable': {
      const end = fault.committed === true ? 'carried out, and answered as unavailable' : 'unavailable with no effect';
      const retry = fault.retryAfterSeconds === undefined ? '' : `, retry after ${secondsText(fault.retryAfterSeconds)}`;
      return `${end}${retry}${triesText(fault.attempts)}`;
    }
    case 'timeout_before_commit':
      return 'the request is lost and the call times out, with no effect';
    case 'timeout_after_commit':
      return 'the call has its effect, and then times out';
    case 'slow':
      return `the reply comes ${secondsText(fault.bySeconds)} later`;
    case 'stale_read': {
      const most = fault.reads === undefined ? '' : `, ${fault.reads === 1 ? 'one read' : `${fault.reads} reads`} long`;
      const time = fault.forSeconds === undefined ? '' : `, for ${secondsText(fault.forSeconds)}`;
      return `from then on reads answer as of ${fault.asOf === 'start' ? 'the start of the trial' : 'that moment'}${most}${time}`;
    }
    case 'concurrent_change':
      return `somebody else ${changesText(fault.changes)} just ${fault.when} it`;
    case 'conflicting_records':
      return `records are made to disagree: somebody else ${changesText(fault.changes)}`;
    case 'duplicate_delivery':
      return `the request arrives ${fault.copies + 1} times`;
    case 'permission_revoked':
      return 'the permission is revoked from then on';
    case 'schema_changed':
      return `the contract is another from then on (${[
        ...Object.entries(fault.rename).map(([name, now]) => `argument ${name} is now ${now}`),
        ...fault.remove.map((name) => `argument ${name} is gone`),
        ...Object.entries(fault.renameResult).map(([name, now]) => `${name} of the result is now ${now}`),
      ].join(', ')})`;
    case 'malformed_reply':
      return 'carried out, but the reply is cut off and cannot be read';
    case 'payload_too_large':
      return `refused as larger than ${fault.limitBytes} bytes`;
    case 'smtp_connect':
      return `the mail connection ends before the mail begins${fault.code === undefined ? '' : ` with ${fault.code}`}`;
    case 'smtp_recipient':
      return `${fault.recipient === undefined ? 'every recipient' : `recipient ${fault.recipient}`} is answered with ${fault.code}`;
    case 'smtp_data':
      return 'the mail connection ends in the middle of the message';
    case 'smtp_final_dot':
      return `after the final dot the mail is ${fault.stored ? 'kept' : 'not kept'}, and the reply is ${fault.code === undefined ? 'lost' : fault.code}`;
  }
}

function triesText(attempts: number | undefined): string {
  return attempts === undefined ? '' : `, for ${attempts === 1 ? 'one try' : `${attempts} tries`} of the production client`;
}

function changesText(changes: readonly StateChange[]): string {
  return changes
    .map((change) => {
      if ('insert' in change) return `inserts ${change.rows.length === 1 ? 'a row' : `${change.rows.length} rows`} into ${change.insert}`;
      if ('update' in change) return `updates ${change.update} where ${JSON.stringify(change.where)} to ${JSON.stringify(change.set)}`;
      return `deletes from ${change.delete} where ${JSON.stringify(change.where)}`;
    })
    .join(', ');
}

/** `90` as `1.5 min`: in the largest unit of which it is at least one. */
function secondsText(seconds: number): string {
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  return `${Number((seconds / size).toFixed(3))} ${unit}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['h', 3600],
  ['min', 60],
  ['s', 1],
];
