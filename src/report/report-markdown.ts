import type { Json } from '../domain/json.ts';
import type { Finding, View } from '../domain/verdict.ts';
import { modelsText } from './models-markdown.ts';
import { printable } from '../domain/text/bounded.ts';
import type { OperationDetail, ReportData, ReportTrial } from './data.ts';
import { schedulesText } from './schedules-markdown.ts';
import { teamsMarkdown } from './teams-markdown.ts';
import { cassettesMarkdown } from './cassettes-markdown.ts';
import { approvalsMarkdown } from './approvals-markdown.ts';
import { mdBlock, mdCellCode, mdCode, mdTable, mdText } from './markdown.ts';
import { evidenceText } from './plain-text.ts';
import { type Cell, cellState, cellText, matrix, trialState } from './matrix.ts';

/**
 * A batch as Markdown: summary, matrix of cases and agents, fault schedules, failures with their evidence, what could not be decided, infrastructure errors and faults of simulated users apart, and what
 * was checked. At most about 60,000 characters, the size of a comment on a pull request: beyond it failures are listed without evidence, then counted.
 */
export function reportMarkdown(data: ReportData): string {
  const budget = { left: EVIDENCE_CHARACTERS };
  const of = (state: ReturnType<typeof trialState>): ReportTrial[] => data.trials.filter((t) => trialState(t.summary) === state);
  return [
    heading(data),
    counts(data),
    section('Cases and agents', matrixTable(data)),
    section('Fault schedules', schedulesText(data)),
    section('Models', modelsText(data)),
    section('Teams', teamsMarkdown(data.summary)),
    section('Cassettes', cassettesMarkdown(data)),
    section('Approvals', approvalsMarkdown(data.trials)),
    section('Failures', trialList(of('fail'), budget)),
    section('Undetermined', trialList(of('undetermined'), budget, 'Code could not decide these; they count as scored and not as passed.')),
    section('Infrastructure errors', trialList(of('infra'), budget, 'Trouble of the test bed, not of the agent. Not scored: neither passed nor failed.')),
    section('Faults of the simulated user', trialList(of('user'), budget, 'No doing of the agent. Not scored: neither passed nor failed.')),
    section('Without a recorded answer', trialList(of('miss'), budget, 'A recording holds no such call. Not scored: neither passed nor failed.')),
    section('Cancelled', trialList(of('cancelled'), budget)),
    section('What was checked', checked(data)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** Characters of evidence in one report; headings, matrix and one line per trial come on top. */
const EVIDENCE_CHARACTERS = 40_000;
/** Trials and rows of the matrix that are listed at all. */
const LISTED = 200;
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
  const { head, rows } = matrix(data.trials.map((t) => t.summary));
  if (rows.length === 0) return '';
  const mark = (cell: Cell | null): string => (cell === null ? '' : cellState(cell) === 'pass' ? cellText(cell) : `**${cellText(cell)}**`);
  const table = mdTable(
    head.map(mdText),
    rows.slice(0, LISTED).map((row) => [...row.names.map(mdCellCode), ...row.cells.map(mark)]),
  );
  return rows.length > LISTED ? `${table}\n\nand ${rows.length - LISTED} more lines, in \`report.json\`` : table;
}

function trialList(trials: readonly ReportTrial[], budget: { left: number }, note: string = ''): string {
  if (trials.length === 0) return '';
  const parts: string[] = note === '' ? [] : [note];
  const short: string[] = [];
  for (const trial of trials) {
    const detail = trialDetail(trial);
    if (detail.length <= budget.left) {
      budget.left -= detail.length;
      parts.push(detail);
    } else {
      short.push(`- ${trialName(trial)}: ${mdText(trial.summary.why ?? trial.summary.ending)}`);
    }
  }
  const listed = short.slice(0, LISTED);
  if (listed.length > 0) parts.push(`Without evidence, for length (\`report.json\` has it):\n\n${listed.join('\n')}`);
  if (short.length > LISTED) parts.push(`and ${short.length - LISTED} more, in \`report.json\``);
  return parts.join('\n\n');
}

function trialName({ summary }: ReportTrial): string {
  const schedule = summary.schedule === 'none' ? '' : ` with ${mdCode(summary.schedule)}`;
  const repetition = summary.repetition > 1 ? `, repetition ${summary.repetition}` : '';
  return `${mdCode(summary.case)} by ${mdCode(summary.agent)}${schedule}${repetition}`;
}

function trialDetail(trial: ReportTrial): string {
  const { summary, verdict, problem } = trial;
  const lines = [`### ${trialName(trial)}`, '', mdText(trial.title), ''];
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

function checked({ batch, summary, trials }: ReportData): string {
  const distinct = (values: readonly string[]): string[] => [...new Set(values)];
  const agents = distinct(trials.map((t) => `${t.row.agentName} ${t.row.agentHash.slice(0, 12)}`));
  const schedules = distinct(trials.map(({ row }) => (row.scheduleHash === null ? row.schedule : `${row.schedule} ${row.scheduleHash.slice(0, 12)}`)));
  const graders = distinct(trials.flatMap((t) => (t.verdict ? [t.verdict.graderVersion] : [])));
  const repetitions = new Set(trials.map((t) => t.row.repetition)).size;
  const { environment } = batch;
  const regraded = trials.filter((t) => t.verdict !== null && t.verdict.caseHash !== t.row.caseHash).length;
  return [
    'Every trial ran in a world of its own. Its outcome and effects were read from the systems of record (rows and mail), not from what the agent said;',
    'an effect that the case neither expects nor allows fails it.',
    '',
    `- cases: ${distinct(trials.map((t) => t.row.caseId)).length}, repetitions: ${repetitions}, seed ${mdCode(batch.seed)}`,
    `- environment: ${mdCode(`${environment.name} ${environment.version}`)}, generation ${mdCode(environment.generation.slice(0, 12))}, isolation ${mdCode(batch.options.isolation)}`,
    `- agents: ${agents.map(mdCode).join(', ')}`,
    schedules.every((s) => s === 'none')
      ? '- faults: none were injected; the results say nothing about behaviour under faults'
      : `- fault schedules: ${schedules.map(mdCode).join(', ')}`,
    ...ownAccessLines(trials),
    `- grader: ${graders.length === 0 ? 'nothing was graded' : graders.map(mdCode).join(', ')}${regraded > 0 ? `; ${regraded} trials were graded again by an edited case` : ''}`,
    ...Object.entries(batch.sources).map(([what, source]) => `- source of ${mdText(what)}: ${sourceText(source)}`),
    `- worlds: ${summary.worlds.made} made, ${summary.worlds.released} released, ${summary.worlds.swept} swept, ${summary.worlds.leaked} leaked`,
  ].join('\n');
}

/** What no ledger says. */
function ownAccessLines(trials: readonly ReportTrial[]): string[] {
  const direct = trials.filter(({ ownAccess }) => ownAccess.length > 0);
  if (direct.length === 0) return [];
  const services = [...new Set(direct.flatMap(({ ownAccess }) => ownAccess))].sort();
  return [
    `- direct access: in ${direct.length} of ${trials.length} trials the agent had clients of its own (${services.join(', ')}). The ledger of what it did by them is missing: its effects were seen as of no operation and graded the same; calls, their order and their number were not`,
  ];
}

function sourceText(source: { readonly commit: string | null; readonly dirty: boolean | null }): string {
  if (source.commit === null) return 'not in a git work tree';
  return `${mdCode(source.commit.slice(0, 12))}${source.dirty ? ', with uncommitted changes' : ''}`;
}
