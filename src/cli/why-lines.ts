import type { BatchWhy, TrialWhy, WhyGroup } from '../domain/why.ts';
import { plainText } from '../report/plain-text.ts';
import { type Hint, withHints } from './hint.ts';
import type { Paint } from './host.ts';
import { wrap } from './trial-timeline.ts';

/** What a trial or a batch waits for, for people. */
export function whyLines(why: TrialWhy | BatchWhy, columns: number, paint: Paint, hint: Hint): readonly string[] {
  const { sentence, cause, evidence, next, temporalProblem } = why;
  return [
    ...wrap(plainText(sentence), columns).map((line) => paint('bold', line)),
    '',
    paint('dim', aboutLine(why)),
    `cause: ${cause}`,
    ...(temporalProblem === null ? [] : wrap(`Temporal did not answer, so this is what the store knows: ${plainText(temporalProblem)}`, columns)),
    ...(why.what === 'batch' ? groupLines(why.groups, columns) : []),
    ...(evidence.length === 0 ? [] : ['', 'evidence:']),
    ...evidence.flatMap(({ text }) => item(plainText(text), columns)),
    ...(next === null ? [] : ['', ...wrap(`next: ${withHints(plainText(next), hint)}`, columns)]),
  ];
}

function aboutLine(why: TrialWhy | BatchWhy): string {
  if (why.what === 'batch') return plainText(`batch ${why.batch} of ${why.suite}: ${why.state}, ${why.done} of ${why.trials} trials done`);
  return plainText(`trial ${why.trial}: ${why.case} with ${why.agent}, phase ${why.phase}, attempt ${why.attempt}`);
}

function groupLines(groups: readonly WhyGroup[], columns: number): readonly string[] {
  if (groups.length === 0) return [];
  const wide = Math.max(...groups.map(({ trials }) => String(trials).length));
  return [
    '',
    'trials that are not done, by what they wait for:',
    ...groups.flatMap(({ cause, trials, examples }) => [
      `  ${String(trials).padStart(wide)}  ${cause}`,
      ...examples.flatMap(({ trial, sentence }) => item(plainText(`${trial}: ${sentence}`), columns, '      ')),
    ]),
  ];
}

function item(text: string, columns: number, indent = '  '): readonly string[] {
  return wrap(text, Math.max(20, columns - indent.length)).map((line, index) => `${indent}${index === 0 ? '' : '  '}${line}`);
}
