import type { TrialView } from '../client/api.ts';
import type { Effect, MailEffect, RowEffect } from '../domain/effect.ts';
import type { InjectedFault } from '../domain/fault.ts';
import type { JsonObject } from '../domain/json.ts';
import { knownOtherwise, type Operation } from '../domain/operation.ts';
import type { HandOver, Message, OwnAccess } from '../domain/record.ts';
import { approvalEndText } from '../report/approval-words.ts';
import { trialState } from '../report/matrix.ts';
import { displayWidth, oneLineJson, plainText, shorten } from '../report/plain-text.ts';
import { modelFacts } from './model-lines.ts';
import { injectedBy, injectedLine, scheduleLines } from './fault-lines.ts';
import type { Paint } from './host.ts';
import { judgeLines } from './judge-lines.ts';
import { verdictLines } from './verdict-lines.ts';

/** A trial from the request to the verdict, line by line, for people. All foreign text in it is safe to print. */
export function timelineLines(view: TrialView, columns: number, paint: Paint): string[] {
  const page: Page = { columns, paint };
  return [
    ...headLines(view, page),
    ...block(page, 'conversation', conversationLines(view, page)),
    ...block(
      page,
      'fault schedule',
      scheduleLines(view).flatMap((line) => wrap(line, columns - 2)),
    ),
    ...block(page, 'operations', operationsLines(view, page)),
    ...block(
      page,
      'too late (refused after the fence)',
      (view.record?.lateAttempts ?? []).map((late) => `${plainText(late.source)}: ${plainText(late.detail)}`),
    ),
    ...block(
      page,
      'later still (refused after the record was made)',
      view.lateRequests.map(({ at, detail }) => plainText(`${at} ${detail}`)),
    ),
    ...block(page, 'verdict', verdictLines(view, columns - 2, paint)),
    ...block(
      page,
      'judges',
      judgeLines(view).flatMap((line) => wrap(line, columns - 2)),
    ),
    ...block(page, 'attempts', attemptLines(view)),
  ];
}

interface Page {
  readonly columns: number;
  readonly paint: Paint;
}

function headLines({ trial, origin, kase, schedule, record, attempts }: TrialView, { paint }: Page): string[] {
  const summary = trial.summary;
  const state = summary ? trialState(summary) : null;
  const counting = attempts.find((attempt) => attempt.counts);
  const problem = counting?.problem ?? record?.problem ?? null;
  const stands = state === null ? `in phase ${trial.phase}` : state === 'infra' || state === 'user' || state === 'miss' ? 'not scored' : state;
  const facts: (readonly [string, string | null])[] = [
    ['trial', trial.id],
    ['batch', trial.batch],
    [
      'origin',
      origin
        ? `goes on from attempt ${origin.attempt} of ${origin.trial}, ${origin.calls === 0 ? 'from before its first call' : `whose first ${origin.calls} calls are answered from its record`}`
        : null,
    ],
    ['agent', `${trial.agentName} (${trial.agentHash.slice(0, 12)})`],
    ['faults', schedule === null || schedule.title === trial.schedule ? trial.schedule : `${trial.schedule}: ${schedule.title}`],
    ['user', `${kase.permission.user}, role ${kase.permission.role}`],
    ['clock', `${kase.clock} ${kase.timezone}`],
    ['ending', summary ? `${summary.ending}, ${summary.calls} calls, ${(summary.durationMs / 1000).toFixed(1)} s` : null],
    ...modelFacts(summary),
    ['ledger', record?.ownAccess ? ledgerText(record.ownAccess) : null],
    ['refused', record?.beyondBudget ? `${record.beyondBudget} calls beyond the budget; none was sent` : null],
    ['problem', problem ? `${problem.code}: ${problem.message}` : null],
    ['disturbed', summary?.disturbed ? 'yes: the test bed had to recover an operation of this trial' : null],
    ['snapshot', summary?.snapshot ?? null],
  ];
  return [
    paint('bold', plainText(`${trial.caseId} by ${trial.agentName}, repetition ${trial.repetition}: ${stands}`)),
    plainText(kase.title),
    '',
    ...facts.filter((fact): fact is readonly [string, string] => fact[1] !== null).flatMap(([name, value]) => factLines(name, value)),
  ];
}

/** What is not in it. */
function ledgerText({ services, unexplained }: OwnAccess): string {
  const compared =
    unexplained === undefined ? '' : unexplained === null ? '; the world could not be compared with its seed' : '; the whole world was compared with its seed';
  return `missing for what the agent did by clients of its own (${services.join(', ')}): such effects are of no operation${compared}`;
}

/** A problem may carry a stack: its lines stand below each other. */
function factLines(name: string, value: string): string[] {
  const [first = '', ...rest] = plainText(value, { lines: 'keep' }).split('\n');
  return [`${name.padEnd(10)}${first}`, ...rest.map((line) => `${''.padEnd(10)}${line}`)];
}

/** What was said, and between whom of a team the conversation went over before the answer. */
function conversationLines({ messages, record }: TrialView, page: Page): string[] {
  const handOvers = record?.handOvers ?? [];
  const handed = (turn: number) => handOvers.filter((one) => one.turn === turn).map((one) => handOverLine(one, page));
  return messages.flatMap((message) => [...messageLines(message, page), ...(message.from === 'user' ? handed(message.turn) : [])]);
}

function handOverLine({ operation, from, to, text }: HandOver, { columns, paint }: Page): string {
  return paint('dim', shorten(plainText(`${from} hands over to ${to} (${operation}): ${text}`), columns - 2));
}

function messageLines(message: Message, { columns, paint }: Page): string[] {
  const [first = '', ...rest] = plainText(message.text.trimEnd(), { lines: 'keep' })
    .split('\n')
    .flatMap((line) => wrap(line, columns - 10));
  const data = message.data ? [`data ${oneLineJson(message.data, columns - 15)}`] : [];
  const who = message.actor === undefined ? message.from.padEnd(6) : plainText(message.actor).padEnd(6);
  return [`${paint(message.from === 'user' ? 'cyan' : 'bold', who)}  ${first}`, ...[...rest, ...data].map((line) => `        ${line}`)];
}

function operationsLines({ record }: TrialView, page: Page): string[] {
  if (!record) return ['no record: nothing was graded'];
  const caused = new Map<string | null, Effect[]>();
  const byOthers = record.effects.filter((effect) => effect.byFault !== undefined);
  for (const effect of record.effects) {
    if (effect.byFault !== undefined) continue;
    const owner = record.operations.some((o) => o.id === effect.operation) ? effect.operation : null;
    caused.set(owner, [...(caused.get(owner) ?? []), effect]);
  }
  const faults = injectedBy({ record });
  const faultLine = (fault: InjectedFault) => page.paint('yellow', `     ${shorten(injectedLine(fault), page.columns - 7)}`);
  const lines = record.operations.flatMap((operation, index) => [
    ...clockLine(operation, record.operations[index - 1], page),
    ...operationLines(operation, caused.get(operation.id) ?? [], page),
    ...faults.of(operation.id).map(faultLine),
  ]);
  if (faults.rest.length > 0) lines.push('faults without an operation:', ...faults.rest.map(faultLine));
  if (byOthers.length > 0) {
    lines.push('by somebody else, as the case or its fault schedule has it:', ...byOthers.map((effect) => `     ${effectLine(effect, page.columns - 7)}`));
  }
  const unowned = caused.get(null) ?? [];
  if (unowned.length > 0) lines.push('without an operation:', ...unowned.map((effect) => `     ${effectLine(effect, page.columns - 7)}`));
  return lines.length === 0 ? ['none'] : lines;
}

/** The world's clock stands still until something moves it: a wait, a slow reply, a time-out, the pause before another try. */
function clockLine({ at }: Operation, before: Operation | undefined, { paint }: Page): string[] {
  return before === undefined || before.at === at ? [] : [paint('dim', `     the clock of the world is at ${plainText(at)}`)];
}

function operationLines(operation: Operation, effects: readonly Effect[], { columns, paint }: Page): string[] {
  const told = `${operation.told}${knownOtherwise(operation) ? ` (the systems of record: ${operation.known})` : ''}`;
  const colour = operation.told === 'committed' ? 'green' : operation.told === 'unknown' ? 'yellow' : 'red';
  // Calls that were made at once are accepted in an order of their own.
  const id = operation.id === `op-${operation.seq}` ? '' : ` (${plainText(operation.id)})`;
  const by = operation.actor === undefined ? '' : ` by ${plainText(operation.actor)}`;
  const call = `${String(operation.seq).padStart(3)}  ${plainText(operation.tool)}${id}${by}`;
  const key = operation.idempotencyKey === null ? '' : ` key ${oneLineJson(operation.idempotencyKey, 40)}`;
  const time = operation.durationMs === null ? '' : ` ${Math.round(operation.durationMs)} ms`;
  const tries = operation.tries === undefined ? '' : `, ${operation.tries} tries`;
  const replay = operation.replayOf == null ? '' : `, answered by ${plainText(operation.replayOf)}`;
  const end = `${told}${time}${tries}${replay}${operation.disturbed ? ', disturbed' : ''}`;
  const args = oneLineJson(operation.args, Math.max(20, columns - displayWidth(call) - key.length - end.length - 6));
  const lines = [`${call} ${paint('dim', args)}${key}  ${paint(colour, end)}`];
  if (operation.problem) lines.push(`     ${shorten(plainText(`${operation.problem.code}: ${operation.problem.message}`), columns - 7)}`);
  lines.push(...approvalLines(operation, columns).map((line) => `     ${line}`));
  if (operation.reconciled) lines.push(`     ${plainText(operation.reconciled.by)} told the agent later that it is ${operation.reconciled.state}`);
  // Whole, for it is what an operator came for; bounded where it was recorded.
  if (operation.detail !== undefined) lines.push(...wrap(`detail ${plainText(operation.detail)}`, columns - 7).map((line) => `     ${line}`));
  if (operation.result !== null) lines.push(paint('dim', `     result ${oneLineJson(operation.result, columns - 14)}`));
  return [...lines, ...effects.map((effect) => `     ${effectLine(effect, columns - 7)}`)];
}

/** Who was asked, what they were shown, and what became of it. */
function approvalLines({ approval, ended }: Operation, columns: number): string[] {
  if (!approval) return [];
  const shown = approval.rows.map(({ table, rows }) => `${rows.length} of ${table}`).join(', ');
  const became = ended ? [`after it was told to wait: ${ended.state}${ended.problem ? ` (${ended.problem.code})` : ''}`] : [];
  return [
    `approval, since ${approval.rule} need one: ${approvalEndText(approval.end)}`,
    `bound to digest ${approval.digest.slice(0, 12)}${shown === '' ? '' : `, with rows shown: ${shown}`}`,
    ...became,
  ].map((line) => shorten(plainText(line), columns - 7));
}

function effectLine(effect: Effect, columns: number): string {
  return shorten(plainText(effect.kind === 'row' ? rowText(effect) : mailText(effect)), columns);
}

function rowText(effect: RowEffect): string {
  const key = Object.values(effect.key)
    .map((value) => JSON.stringify(value))
    .join(',');
  return `effect ${effect.change} ${effect.table} ${key}: ${changeText(effect.before, effect.after)}`;
}

/** For an update only the columns that differ. */
function changeText(before: JsonObject | null, after: JsonObject | null): string {
  const columns = Object.keys({ ...before, ...after });
  if (before === null || after === null) return columns.map((c) => `${c}=${JSON.stringify((after ?? before)?.[c])}`).join(' ');
  const changed = columns.filter((c) => JSON.stringify(before[c]) !== JSON.stringify(after[c]));
  return changed.length === 0 ? 'no column differs' : changed.map((c) => `${c} ${JSON.stringify(before[c])} -> ${JSON.stringify(after[c])}`).join(' ');
}

function mailText(mail: MailEffect): string {
  const to = mail.recipients.map((r) => (r.code === 250 ? r.address : `${r.address} (refused, ${r.code})`)).join(', ');
  return `${mail.accepted ? 'effect mail' : 'mail refused'} to ${to}: ${mail.subject}${mail.violations.length > 0 ? ` [${mail.violations.join(', ')}]` : ''} | ${mail.text.trim()}`;
}

function attemptLines({ attempts }: TrialView): string[] {
  return attempts.map((attempt) => {
    const problem = attempt.problem ? `: ${attempt.problem.code}: ${attempt.problem.message.split('\n', 1).join('')}` : '';
    const world = attempt.world ? `, world ${attempt.world.id} on ${attempt.world.host}` : '';
    return plainText(
      `${attempt.attempt}  ${attempt.ending ?? 'open'}${attempt.counts ? ', counts' : ''}, from ${attempt.startedAt} to ${attempt.endedAt ?? 'now'}${world}${problem}`,
    );
  });
}

function block({ paint }: Page, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)];
}

/** Breaks a line at spaces. A word that is longer than a line is left whole, so that it can be copied. */
export function wrap(line: string, columns: number): string[] {
  const [first = '', ...words] = line.split(' ');
  const lines: string[] = [];
  let current = first;
  for (const word of words) {
    if (displayWidth(current) + 1 + displayWidth(word) <= columns) {
      current = `${current} ${word}`;
    } else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}
