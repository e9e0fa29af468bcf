import type { Case } from '../domain/case.ts';
import { endState, endStateDifferences, withLetterCase } from '../domain/grading/end-state.ts';
import { grade } from '../domain/grading/grade.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { CallCounts, GradedRun, ProductFailure } from '../domain/recorded.ts';
import { printable, quote } from '../domain/text/bounded.ts';
import { repeatsOf } from './repeats.ts';
import type { RecordedRun, RunFormat } from './run.ts';

/** Both verdicts on a run of which the record is known: by the reference's rules, and that of the product. A pure function. */
export function gradeRun(format: RunFormat, run: RecordedRun, record: TrialRecord, writeTools: ReadonlySet<string>): GradedRun {
  const { effects, tables, referenceEffects } = record;
  const differences = endStateDifferences(endState(effects, tables), endState(referenceEffects ?? [], tables));
  const changed = endState(effects, withLetterCase(tables)).size > 0;
  const { line, model, tools, domain, task, error, published } = run;
  return {
    line,
    model,
    tools,
    domain,
    task,
    error,
    published,
    calls: countsOf(run, record),
    byRules: format.judge(run, { changed, sameAsGold: differences.length === 0, writeTools }),
    differences,
    ...(run.unsaid && { unsaid: run.unsaid }),
    product: productVerdict(run, record),
  };
}

/** A case that is met by the end state of the solution, with every write made once. */
export function caseOf(run: Pick<RecordedRun, 'task' | 'query' | 'domain'>, start: RunFormat['start']): Case {
  return {
    id: run.task,
    title: run.query,
    kind: run.domain,
    tags: [],
    turns: [run.query],
    permission: start.permission,
    clock: start.clock,
    timezone: start.timezone,
    budget: { calls: Number.MAX_SAFE_INTEGER, wallMs: Number.MAX_SAFE_INTEGER, turns: 1 },
    state: [],
    expectsNothing: false,
    expect: { outcomes: [{ name: 'gold', same_as: 'reference' }], allowed: [], forbidden: [], constraints: [], claims: [], repeatedWrites: 'forbid' },
    reference: { steps: [], answer: '' },
    mutants: [],
  };
}

/** The grader's verdict; and a run that ended with an error, or repeated a write that the tool then refused, fails. */
function productVerdict(run: RecordedRun, record: TrialRecord): GradedRun['product'] {
  const verdict = grade(caseOf(run, NO_START), '', record);
  const findings = [verdict.outcome, verdict.constraints, verdict.effects].flatMap((view) => view.findings);
  const failures: ProductFailure[] = [
    ...(run.error === '' ? [] : [{ code: 'ended_with_error', message: `The run ended with an error: ${printable(run.error)}` }]),
    ...(run.unsaid ?? []).map((text) => ({ code: 'unsaid', message: `The user was not told ${quote(text)}.` })),
    // The repeats below say more of these.
    ...findings.filter((finding) => finding.judgement !== 'pass' && finding.code !== 'repeated_write').map(({ code, message }) => ({ code, message })),
    ...repeatsOf(record).map(({ kind, message }) => ({ code: kind, message })),
  ];
  return { pass: verdict.pass !== 'undetermined' && failures.length > 0 ? 'fail' : verdict.pass, failures };
}

/** Grading reads nothing of a case's start. */
const NO_START: RunFormat['start'] = { clock: '', timezone: '', permission: { user: '', role: '', tools: [], attributes: {} } };

function countsOf(run: RecordedRun, record: TrialRecord): CallCounts {
  const unreadable = run.calls.filter((call) => call.unreadable !== null).length;
  const count = (test: (operation: TrialRecord['operations'][number]) => boolean): number =>
    record.operations.filter((operation, at) => run.calls[at]?.unreadable === null && test(operation)).length;
  return {
    made: run.calls.length,
    committed: count((operation) => operation.known === 'committed'),
    failed: count((operation) => operation.told === 'failed' || (operation.told === 'unknown' && operation.known === 'failed')),
    unreadable,
    unknownTool: count((operation) => operation.problem?.code === 'unknown_tool'),
    invalidArguments: count((operation) => operation.problem?.code === 'invalid_args' || operation.problem?.code === 'payload_too_large'),
    denied: count((operation) => operation.told === 'denied'),
  };
}
