import { quote } from '../domain/text/bounded.ts';
import type { CallCounts, GradedRun, ReferencePart, Repeat } from '../domain/recorded.ts';

/** Recorded runs that were made again: the reference's verdicts, the same by its rules in our worlds, and the product's own verdict beside them. */
export interface AgreementReport {
  readonly format: string;
  readonly totals: AgreementTotals;
  readonly seconds: number;
  readonly runsPerSecond: number;
  readonly calls: CallCounts;
  /** Per model and tool set; `domain` is `all`. */
  readonly models: readonly AgreementGroup[];
  /** Per model, tool set and domain. */
  readonly groups: readonly AgreementGroup[];
  /** Per part of the reference's verdict: how many it has published, and how many of them are ours too. */
  readonly parts: { readonly [part in ReferencePart]: { readonly published: number; readonly agree: number } };
  readonly table: OursByReference;
  /** The cell `stricter`: how many runs of it have a failure of each kind. */
  readonly stricterKinds: { readonly [kind: string]: number };
  readonly stricter: readonly AgreementEntry[];
  readonly disagreements: readonly AgreementEntry[];
}

export interface AgreementTotals {
  readonly n: number;
  /** By the reference's rules, of what happened in our worlds. */
  readonly correct: number;
  readonly side_effects: number;
  readonly exact: number;
  /** Runs that the reference passes and the product fails for a write that was not made exactly once. */
  readonly stricter: number;
  /** Runs with another verdict than the published one, by the rules or by the product, outside of `stricter`. */
  readonly disagreements: number;
}

export interface AgreementGroup extends AgreementTotals {
  readonly model: string;
  readonly tools: string;
  readonly domain: string;
  readonly errors: number;
  readonly table: OursByReference;
}

/** The product's verdict against the reference's `correct`; as published, or by its rules where nothing is published. */
export interface OursByReference {
  readonly bothPass: number;
  readonly bothFail: number;
  /** The reference passes, ours fails exactly-once. */
  readonly stricter: number;
  /** The reference passes, ours fails for another reason: a disagreement. */
  readonly referenceOnly: number;
  /** Ours passes, the reference fails: a disagreement. */
  readonly oursOnly: number;
}

export interface AgreementEntry {
  readonly line: number;
  readonly model: string;
  readonly tools: string;
  readonly domain: string;
  readonly task: string;
  /** What differs: a part of the reference's verdict, or `product`. */
  readonly about: ReferencePart | 'product';
  readonly ours: boolean;
  readonly reference: boolean;
  readonly why: string;
}

/** Adds up graded runs. A pure function. */
export function agreementOf(format: string, runs: readonly GradedRun[], seconds: number): AgreementReport {
  const judged = runs.map(judge);
  const stricter = judged.flatMap((one) => one.stricter ?? []);
  const kinds = judged.filter((one) => one.cell === 'stricter').flatMap(({ run }) => [...new Set(run.product.failures.map((failure) => failure.code))]);
  return {
    format,
    totals: totalsOf(judged),
    seconds: Math.round(seconds * 100) / 100,
    runsPerSecond: seconds > 0 ? Math.round((runs.length / seconds) * 10) / 10 : 0,
    calls: sumOf(runs.map((run) => run.calls)),
    models: groupsOf(judged, ({ model, tools }) => ({ model, tools, domain: 'all' })),
    groups: groupsOf(judged, ({ model, tools, domain }) => ({ model, tools, domain })),
    parts: { correct: partOf(runs, 'correct'), sideEffects: partOf(runs, 'sideEffects'), exact: partOf(runs, 'exact') },
    table: tableOf(judged),
    stricterKinds: Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length])),
    stricter,
    disagreements: judged.flatMap((one) => one.disagreements),
  };
}

/** Failures that say that a write was not made exactly once, or was made and taken back; an end state cannot show them. */
const EXACTLY_ONCE: ReadonlySet<string> = new Set<Repeat | 'reverted_effect'>([
  'duplicate',
  'silent_overwrite',
  'refused_repeat',
  'idle_repeat',
  'reverted_effect',
]);

const PARTS: readonly ReferencePart[] = ['correct', 'sideEffects', 'exact'];

interface Judged {
  readonly run: GradedRun;
  readonly cell: keyof OursByReference;
  readonly stricter: AgreementEntry | null;
  readonly disagreements: readonly AgreementEntry[];
}

function judge(run: GradedRun): Judged {
  const disagreements = PARTS.flatMap((part): AgreementEntry[] => {
    const [ours, reference] = [run.byRules[part], run.published?.[part] ?? null];
    return ours === null || reference === null || ours === reference ? [] : [entry(run, part, ours, reference, whyByRules(run, part))];
  });
  const passes = run.product.pass === 'pass';
  const reference = run.published?.correct ?? run.byRules.correct ?? false;
  const cell = cellOf(run, passes, reference);
  const why = run.product.failures.map((failure) => failure.message).join(' ') || 'The product finds nothing wrong.';
  const about = entry(run, 'product', passes, reference, why);
  return {
    run,
    cell,
    stricter: cell === 'stricter' ? about : null,
    disagreements: cell === 'referenceOnly' || cell === 'oursOnly' ? [...disagreements, about] : disagreements,
  };
}

function cellOf(run: GradedRun, passes: boolean, reference: boolean): keyof OursByReference {
  if (passes) return reference ? 'bothPass' : 'oursOnly';
  if (!reference) return 'bothFail';
  return run.product.failures.length > 0 && run.product.failures.every((failure) => EXACTLY_ONCE.has(failure.code)) ? 'stricter' : 'referenceOnly';
}

function entry(run: GradedRun, about: AgreementEntry['about'], ours: boolean, reference: boolean, why: string): AgreementEntry {
  const { line, model, tools, domain, task } = run;
  return { line, model, tools, domain, task, about, ours, reference, why };
}

function whyByRules(run: GradedRun, part: ReferencePart): string {
  if (part === 'exact') return 'The texts of the writes are compared with those of the solution; nothing is run for it.';
  const state = run.differences.length === 0 ? 'The end state is that of the solution.' : `The end state: ${run.differences.slice(0, 3).join('; ')}.`;
  const unsaid = run.unsaid === undefined || run.unsaid.length === 0 ? '' : ` Not said to the user: ${run.unsaid.map((text) => quote(text)).join(', ')}.`;
  return run.error === '' ? `${state}${unsaid}` : `${state}${unsaid} The run ended with an error: ${run.error}`;
}

function totalsOf(judged: readonly Judged[]): AgreementTotals {
  const count = (test: (one: Judged) => boolean): number => judged.filter(test).length;
  return {
    n: judged.length,
    correct: count(({ run }) => run.byRules.correct === true),
    side_effects: count(({ run }) => run.byRules.sideEffects === true),
    exact: count(({ run }) => run.byRules.exact === true),
    stricter: count(({ cell }) => cell === 'stricter'),
    disagreements: count(({ disagreements }) => disagreements.length > 0),
  };
}

type GroupName = Pick<AgreementGroup, 'model' | 'tools' | 'domain'>;

/** In the order in which the file first names them. */
function groupsOf(judged: readonly Judged[], nameOf: (run: GradedRun) => GroupName): AgreementGroup[] {
  return [...Map.groupBy(judged, ({ run }) => JSON.stringify(nameOf(run)))].map(([name, of]) => ({
    ...(JSON.parse(name) as GroupName),
    ...totalsOf(of),
    errors: of.filter(({ run }) => run.error !== '').length,
    table: tableOf(of),
  }));
}

function tableOf(judged: readonly Judged[]): OursByReference {
  const count = (cell: keyof OursByReference): number => judged.filter((one) => one.cell === cell).length;
  return {
    bothPass: count('bothPass'),
    bothFail: count('bothFail'),
    stricter: count('stricter'),
    referenceOnly: count('referenceOnly'),
    oursOnly: count('oursOnly'),
  };
}

function partOf(runs: readonly GradedRun[], part: ReferencePart): { readonly published: number; readonly agree: number } {
  const compared = runs.filter((run) => typeof run.published?.[part] === 'boolean' && run.byRules[part] !== null);
  return { published: compared.length, agree: compared.filter((run) => run.published?.[part] === run.byRules[part]).length };
}

function sumOf(counts: readonly CallCounts[]): CallCounts {
  const sum = (of: keyof CallCounts): number => counts.reduce((total, one) => total + one[of], 0);
  return {
    made: sum('made'),
    committed: sum('committed'),
    failed: sum('failed'),
    unreadable: sum('unreadable'),
    unknownTool: sum('unknownTool'),
    invalidArguments: sum('invalidArguments'),
    denied: sum('denied'),
  };
}
