import { readFile } from 'node:fs/promises';
import type { Case } from '../../src/domain/case.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { Verdict } from '../../src/domain/verdict.ts';

const FOLDER = new URL('../fixtures/records/', import.meta.url);

/** Records of real trials, one JSON a line. */
export const RECORDS = new URL('records.jsonl', FOLDER);
/** What the grader made of them when they were saved. */
export const VERDICTS = new URL('verdicts.json', FOLDER);

/** A record of a real trial with its case. */
export interface SavedRecord {
  readonly agent: string;
  readonly kase: Case;
  readonly record: TrialRecord;
}

/** Everything of a verdict that decides something, by the name of what was graded. Sentences and evidence may change without another version. */
export interface SavedVerdicts {
  readonly graderVersion: string;
  readonly verdicts: { readonly [name: string]: string };
}

/** The saved records. */
export async function savedRecords(): Promise<readonly SavedRecord[]> {
  const text = await readFile(RECORDS, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SavedRecord);
}

/** Grades records as they are, and as they would be had the trial gone otherwise. */
export function verdictsOf(records: readonly SavedRecord[]): SavedVerdicts['verdicts'] {
  const named = records.flatMap(({ agent, kase, record }) =>
    Object.entries(variantsOf(record)).map(([variant, changed]): [string, string] => [
      `${kase.id} by ${agent}: ${variant}`,
      digestOf(grade(kase, '', changed)),
    ]),
  );
  return Object.fromEntries(named);
}

function variantsOf(record: TrialRecord): { readonly [variant: string]: TrialRecord } {
  const { operations, effects, messages } = record;
  const write = operations.findIndex((operation) => operation.effect !== 'read' && operation.known === 'committed');
  const writes = operations.filter((operation) => operation.effect !== 'read');
  const last = messages.findLastIndex((message) => message.from === 'agent');
  const highest = Math.max(0, ...effects.map((effect) => effect.seq));
  return {
    'as it was': record,
    'nothing said': { ...record, messages: messages.filter((message) => message.from === 'user') },
    'nothing done': { ...record, effects: [], operations: operations.filter((operation) => operation.effect === 'read') },
    'cut short': { ...record, ending: 'cassette_miss', problem: { code: 'cassette', message: 'No such reply was recorded.' } },
    ...(write < 0
      ? {}
      : {
          'first write of unknown outcome': {
            ...record,
            operations: operations.map((one, at) => (at === write ? { ...one, told: 'unknown', known: 'undetermined' } : one)),
          },
        }),
    ...(last < 0
      ? {}
      : { 'a vague answer': { ...record, messages: messages.map((one, at) => (at === last ? { ...one, text: `Perhaps. ${one.text}`, data: null } : one)) } }),
    ...(effects.length === 0
      ? {}
      : {
          'every write twice': {
            ...record,
            operations: [...operations, ...writes.map((one) => ({ ...one, id: `${one.id}-again`, seq: one.seq + operations.length }))],
          },
          'the last effect missing': { ...record, effects: effects.slice(0, -1) },
          'every effect twice': { ...record, effects: [...effects, ...effects.map((effect) => ({ ...effect, seq: effect.seq + highest }))] },
          'effects of nobody': { ...record, effects: effects.map((effect) => ({ ...effect, operation: null })) },
        }),
  };
}

function digestOf(verdict: Verdict): string {
  const views = (['outcome', 'constraints', 'effects'] as const).map((name) => {
    const { judgement, findings } = verdict[name];
    return `${name} ${judgement}${findings.map((finding) => ` [${finding.code} ${finding.judgement} ${finding.rule}]`).join('')}`;
  });
  return [verdict.pass, `reached ${verdict.reached ?? 'none'}`, ...views].join('; ');
}
