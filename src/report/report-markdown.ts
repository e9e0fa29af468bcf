import type { Json } from '../domain/json.ts';
import type { Finding, View } from '../domain/verdict.ts';
import { modelsText } from './models-markdown.ts';
import { printable } from '../domain/text/bounded.ts';
import type { OperationDetail, ReportData, ReportTrial } from './data.ts';
import { ratersMarkdown } from './raters/agreement-markdown.ts';
import { judgesMarkdown } from './judges/judges-markdown.ts';
import { schedulesText } from './schedules-markdown.ts';
import { teamsMarkdown } from './teams-markdown.ts';
import { cassettesMarkdown } from './cassettes-markdown.ts';
import { approvalsMarkdown } from './approvals-markdown.ts';
import { checkedMarkdown } from './checked-markdown.ts';
import {
  conditionalMarkdown,
  coverageMarkdown,
  diagnosticsMarkdown,
  failuresMarkdown,
  mixedMarkdown,
  proofsMarkdown,
  ratesMarkdown,
  spendingMarkdown,
} from './figures-markdown.ts';
import { changedMarkdown } from './comparison/changed-markdown.ts';
import { gatesMarkdown } from './gates-markdown.ts';
import { isolationMarkdown } from './isolation-markdown.ts';
import { IN_CLEAR } from './in-clear.ts';
import { seriesMarkdown } from './series-markdown.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import { mdBlock, mdCellCode, mdCode, mdTable, mdText } from './markdown.ts';
import { evidenceText, shorten } from './plain-text.ts';
import { type Cell, cellState, cellText, matrix, trialState } from './matrix.ts';

/**
 * A batch as Markdown: what it shows in a few sentences, then rates, matrix of cases and agents, results by fault schedule, failures with their evidence, what could not be decided, what was spent, what was
 * checked, and what the fixture does not prove. At most {@link MOST_CHARACTERS}, below the size of a comment on a pull request: what does not fit is named, and is in the other files.
 */
export function reportMarkdown(data: ReportData): string {
  const budget = { left: EVIDENCE_CHARACTERS };
  const of = (state: ReturnType<typeof trialState>, note = ''): string => trialList(data, state, budget, note);
  const sections: readonly (readonly [string, string])[] = [
    ['Gates', gatesMarkdown(data)],
    ['Changed trials', changedMarkdown(data)],
    ['Progress', seriesMarkdown(data)],
    ['Rates', ratesMarkdown(data)],
    ['Cases and agents', matrixTable(data)],
    ['Results by fault schedule', conditionalMarkdown(data)],
    ['Fault schedules', schedulesText(data)],
    ['What went wrong', failuresMarkdown(data)],
    ['Failures', of('fail')],
    ['Undetermined', of('undetermined', 'Code could not decide these; they count as scored and not as passed.')],
    ['Infrastructure errors', of('infra', 'Trouble of the test bed, not of the agent. Not scored: neither passed nor failed.')],
    ['Faults of the simulated user', of('user', 'No doing of the agent. Not scored: neither passed nor failed.')],
    ['Without a recorded answer', of('miss', 'A recording holds no such call. Not scored: neither passed nor failed.')],
    ['Cancelled', of('cancelled')],
    ['Mixed results and quarantine', mixedMarkdown(data)],
    ['Models', modelsText(data)],
    ['Cost and time', spendingMarkdown(data)],
    ['Teams', teamsMarkdown(data.summary)],
    ['Cassettes', cassettesMarkdown(data)],
    ['Approvals', approvalsMarkdown(data)],
    ['Judges', judgesMarkdown(data)],
    ['Agreement of raters', ratersMarkdown(data)],
    ['Diagnostics', diagnosticsMarkdown(data)],
    ['What each case checks', coverageMarkdown(data)],
    ['Leaks and contamination', isolationMarkdown(data)],
    ['What was checked', checkedMarkdown(data)],
    ['What this fixture proves, and what it does not', proofsMarkdown(data)],
  ];
  return fitted([heading(data), counts(data), opening(data)], sections);
}

/** The size of a comment on a pull request is 65,536. */
const MOST_CHARACTERS = 60_000;
/** Sections that go where all of them are too long, the least needed first; those that fit once a longer one has gone stay. What the fixture does not prove never goes. */
const DISPENSABLE = [
  'Diagnostics',
  'Teams',
  'Approvals',
  'Cancelled',
  'Cassettes',
  'Without a recorded answer',
  'What each case checks',
  'Cost and time',
  'Models',
  'Agreement of raters',
  'Judges',
  'Fault schedules',
  'Mixed results and quarantine',
  'Cases and agents',
  'Undetermined',
  'Infrastructure errors',
  'Failures',
  'Results by fault schedule',
  'Changed trials',
  'Progress',
];

function fitted(head: readonly string[], sections: readonly (readonly [string, string])[]): string {
  const text = (without: ReadonlySet<string>): string => {
    const left = sections.filter(([title, body]) => body !== '' && without.has(title)).map(([title]) => title);
    return [
      ...head,
      ...sections.flatMap(([title, body]) => (without.has(title) ? [] : [section(title, body)])),
      `${left.length > 0 ? `Left out for length: ${left.join(', ')}. ` : ''}The whole report: \`report.json\`, and a line for each trial in \`trials.csv\`, beside this file.`,
      IN_CLEAR,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
      .concat('\n');
  };
  const fits = (without: ReadonlySet<string>) => text(without).length <= MOST_CHARACTERS;
  const without = new Set<string>();
  for (const title of DISPENSABLE) {
    if (fits(without)) break;
    without.add(title);
  }
  // One that is long is no reason to do without the short ones that went before it.
  for (const title of DISPENSABLE.toReversed()) {
    if (without.delete(title) && !fits(without)) without.add(title);
  }
  return text(without);
}

function opening({ opening: sentences }: ReportData): string {
  return sentences.map((sentence) => mdText(shorten(sentence, 600))).join('\n');
}

/** Characters of evidence in one report; headings, matrix and one line per trial come on top. */
const EVIDENCE_CHARACTERS = 40_000;
/** Trials of one state, and rows of the matrix, that are listed at all. */
const LISTED = 100;
const NAME = 80;
const SHORT_CHARACTERS = 240;
const VALUE_CHARACTERS = 1_500;
const INLINE_CHARACTERS = 100;
const DETAIL_CHARACTERS = 600;
const GATE = { met: 'gate met', not_met: 'gate not met', infrastructure: 'gate not judged: infrastructure errors' } as const;
const USER_FAILED = 'gate not judged: the simulated user failed';

function heading({ summary }: ReportData): string {
  const scored = summary.passed + summary.failed + summary.undetermined;
  return `# ${mdText(summary.suite)}: ${summary.passed} of ${scored} passed, ${summary.gate === 'infrastructure' && summary.infraErrors === 0 ? USER_FAILED : GATE[summary.gate]}`;
}

function counts({ batch, summary }: ReportData): string {
  const { trials, passed, failed, undetermined, infraErrors, userErrors = 0, cassetteMisses = 0, cancelled, seconds } = summary;
  const columns: readonly (readonly [string, number])[] = [
    ['trials', trials],
    ['passed', passed],
    ['failed', failed],
    ['undetermined', undetermined],
    ['infrastructure errors', infraErrors],
    ...(userErrors > 0 ? [['faults of the simulated user', userErrors] as const] : []),
    ...(cassetteMisses > 0 ? [['without a recorded answer', cassetteMisses] as const] : []),
    ['cancelled', cancelled],
    ['seconds', Math.round(seconds)],
  ];
  const table = mdTable(
    columns.map(([name]) => name),
    [columns.map(([, value]) => String(value))],
  );
  return `Batch ${mdCode(batch.id)}, ${mdText(batch.createdAt)}\n\n${table}`;
}

function section(title: string, body: string): string {
  return body === '' ? '' : `## ${title}\n\n${body}`;
}

function matrixTable(data: ReportData): string {
  const { head, rows } = matrix(data.facts);
  if (rows.length === 0) return '';
  const mark = (cell: Cell | null): string => (cell === null ? '' : cellState(cell) === 'pass' ? cellText(cell) : `**${cellText(cell)}**`);
  const table = mdTable(
    head.map(mdText),
    rows.slice(0, LISTED).map((row) => [...row.names.map(mdCellCode), ...row.cells.map(mark)]),
  );
  return rows.length > LISTED ? `${table}\n\nand ${rows.length - LISTED} more lines, in \`report.json\`` : table;
}

function trialList({ facts, trials }: ReportData, state: ReturnType<typeof trialState>, budget: { left: number }, note: string): string {
  const of = facts.filter((one) => one.ending !== null && trialState(one) === state);
  if (of.length === 0) return '';
  const detailed = new Map(trials.map((trial) => [trial.summary.trial, trial]));
  const parts: string[] = note === '' ? [] : [note];
  const short: string[] = [];
  for (const one of of) {
    const trial = detailed.get(one.trial);
    const detail = trial === undefined ? null : trialDetail(trial);
    if (detail !== null && detail.length <= budget.left) {
      budget.left -= detail.length;
      parts.push(detail);
    } else if (short.length < LISTED) {
      short.push(`- ${trialName(one)}: ${mdText(shorten(one.why ?? one.ending ?? '', SHORT_CHARACTERS))}`);
    }
  }
  const told = parts.length - (note === '' ? 0 : 1) + short.length;
  if (short.length > 0) parts.push(`Without evidence, for length (\`trialbed show\` has it):\n\n${short.join('\n')}`);
  if (of.length > told) parts.push(`and ${of.length - told} more, in \`report.json\``);
  return parts.join('\n\n');
}

function trialName(one: Pick<TrialFacts, 'case' | 'agent' | 'schedule' | 'repetition'>): string {
  const schedule = one.schedule === 'none' ? '' : ` with ${mdCode(shorten(one.schedule, NAME))}`;
  const repetition = one.repetition > 1 ? `, repetition ${one.repetition}` : '';
  return `${mdCode(shorten(one.case, NAME))} by ${mdCode(shorten(one.agent, NAME))}${schedule}${repetition}`;
}

function trialDetail(trial: ReportTrial): string {
  const { summary, verdict, problem } = trial;
  const lines = [`### ${trialName(summary)}`, '', mdText(trial.title), ''];
  if (summary.ending !== 'completed') lines.push(`- ending: ${mdCode(summary.ending)}${problem ? `: ${mdText(problem.message)}` : ''}`);
  if (verdict) {
    for (const name of ['outcome', 'constraints', 'effects'] as const) lines.push(...viewLines(name, verdict[name]));
  } else if (summary.why !== null && summary.why !== problem?.message) {
    lines.push(`- ${mdText(summary.why)}`);
  }
  lines.push(...trial.details.map(detailLine));
  if (trial.attempts.length > 1) lines.push(`- attempts: ${trial.attempts.map((a) => `${a.attempt} ${a.ending ?? 'open'}`).join(', ')}`);
  if (trial.ownAccess.length > 0) lines.push(`- ledger: missing for what the agent did by clients of its own (${trial.ownAccess.join(', ')})`);
  if (summary.disturbed) lines.push('- disturbed: the test bed had to recover an operation of this trial');
  lines.push(`- timeline: ${mdCode(`trialbed show ${summary.trial}`)}`);
  return lines.join('\n');
}

/** What the agent was not told. */
function detailLine({ seq, tool, actor, told, code, detail }: OperationDetail): string {
  return `- call ${seq} ${mdCode(tool)} ${actor === undefined ? '' : `of ${mdCode(actor)} `}${told}${code === null ? '' : ` (${mdCode(code)})`}, in the words of what refused it: ${mdText(printable(detail, DETAIL_CHARACTERS))}`;
}

function viewLines(name: string, view: View): string[] {
  const findings = view.findings.filter((finding) => finding.judgement !== 'pass');
  if (view.judgement === 'pass' && findings.length === 0) return [];
  return [`- ${name}: **${view.judgement}**`, ...findings.flatMap(findingLines)];
}

function findingLines(finding: Finding): string[] {
  return [
    `  - ${mdCode(finding.code)} ${mdText(finding.message)} (rule ${mdCode(finding.rule)})`,
    ...valueLines('expected', finding.expected),
    ...valueLines('found', finding.found),
  ];
}

function valueLines(label: string, value: Json | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [`    - ${label}: ${mdText(printable(value, DETAIL_CHARACTERS))}`];
  const inline = evidenceText(value);
  if (inline.length <= INLINE_CHARACTERS) return [`    - ${label}: ${mdCode(inline)}`];
  const pretty = JSON.stringify(value, null, 2);
  const cut = pretty.length > VALUE_CHARACTERS ? `${pretty.slice(0, VALUE_CHARACTERS)}\n... (${pretty.length} characters in all, in report.json)` : pretty;
  return [`    - ${label}:`, '', mdBlock(cut, 6), ''];
}
