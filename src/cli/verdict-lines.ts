import type { TrialView } from '../client/api.ts';
import type { Finding, Judgement } from '../domain/verdict.ts';
import type { StoredVerdict } from '../store/store.ts';
import { evidenceText, plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';

/** The verdict that counts with its evidence, and the verdicts before it where the trial was graded again. */
export function verdictLines({ verdicts, trial }: TrialView, columns: number, paint: Paint): string[] {
  const current = verdicts.find((verdict) => verdict.current);
  if (!current) return ['none: the trial was not graded'];
  const edited = current.caseHash === trial.caseHash ? '' : ', by a case that was edited since';
  return [
    `${judged(current.pass, paint)}${current.reached === null ? '' : `, reached "${plainText(current.reached)}"`} (grader ${plainText(current.graderVersion)}, ${plainText(current.gradedAt)}${edited})`,
    ...(['outcome', 'constraints', 'effects'] as const).flatMap((name) => viewLines(name, current, columns, paint)),
    ...routeLines(current),
    ...recoveryLines(current),
    ...diagnosticsLines(current),
    ...verdicts.filter((verdict) => verdict !== current).map((old) => paint('dim', plainText(earlierLine(old)))),
  ];
}

function viewLines(name: 'outcome' | 'constraints' | 'effects', verdict: StoredVerdict, columns: number, paint: Paint): string[] {
  const view = verdict[name];
  return [
    `${name.padEnd(12)}${judged(view.judgement, paint)}`,
    ...view.findings.filter((finding) => finding.judgement !== 'pass').flatMap((finding) => findingLines(finding, columns, paint)),
  ];
}

function findingLines(finding: Finding, columns: number, paint: Paint): string[] {
  const value = (label: string, json: Finding['expected']): string[] =>
    json === undefined ? [] : [`    ${label.padEnd(9)}${evidenceText(json, columns - 15)}`];
  const operations = finding.operations?.length ? [`    ${'by'.padEnd(9)}${plainText(finding.operations.join(', '))}`] : [];
  return [
    `  ${judged(finding.judgement, paint)} ${plainText(finding.code)} at ${plainText(finding.rule)}: ${plainText(finding.message)}`,
    ...value('expected', finding.expected),
    ...value('found', finding.found),
    ...operations,
  ];
}

/** How the trial went along its cassette. */
function routeLines({ replayed }: StoredVerdict): string[] {
  if (!replayed) return [];
  const { variant, route, interactions, unused } = replayed;
  const how = route === 'recorded' ? 'the recorded route' : 'another route than the recorded one, of which nothing is claimed about a world';
  const left =
    unused.length === 0 ? '' : `; not used: ${unused.slice(0, 50).join(', ')}${unused.length > 50 ? ' and more' : ''} of ${interactions} interactions`;
  return [plainText(`cassette    ${variant}: ${how}; outcome and effects are judged by replayed effects${left}`)];
}

/** What the agent did after each write of unknown outcome. */
function recoveryLines({ recovery = [] }: StoredVerdict): string[] {
  return recovery.map((note) => {
    const repeats = note.repeats.length === 0 ? '' : `, called again in ${note.repeats.join(', ')}`;
    const looked = { before_repeat: ' after a look', not_before_repeat: ' without a look', later: ', looked for later', never: ', never looked for' }[
      note.looked
    ];
    const times = note.committed === 1 ? 'once' : note.committed === 0 ? 'not' : `${note.committed} times`;
    return plainText(`recovery    ${note.tool} (${note.operation}) was of unknown outcome${repeats}${looked}; its effect is ${times} there`);
  });
}

/** Only what is not as usual; none of it decides the verdict. */
function diagnosticsLines({ diagnostics: d }: StoredVerdict): string[] {
  const notable: [string, number][] = [
    ['rejected calls', d.rejectedCalls],
    ['unknown tools', d.unknownTools],
    ['invalid arguments', d.invalidArguments],
    ['denied calls', d.deniedCalls],
    ['repeated calls', d.repeatedCalls],
    ['empty retrievals', d.emptyRetrievals],
    ['writes without change', d.noOpWrites],
    ['unattributed effects', d.unattributedEffects],
    ['late attempts', d.lateAttempts],
    ['hand-overs', d.handOvers ?? 0],
    ['repeated hand-overs', d.repeatedHandOvers ?? 0],
  ];
  const shown = notable.filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count}`);
  return shown.length === 0 ? [] : [`diagnostics (not part of the verdict): ${shown.join(', ')}`];
}

function earlierLine(old: StoredVerdict): string {
  return `earlier: ${old.pass} of attempt ${old.attempt}, graded ${old.gradedAt} by grader ${old.graderVersion}, case ${old.caseHash.slice(0, 12)}`;
}

function judged(judgement: Judgement, paint: Paint): string {
  return paint(judgement === 'pass' ? 'green' : judgement === 'fail' ? 'red' : 'yellow', judgement);
}
