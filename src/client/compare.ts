import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { TrialFacts } from '../domain/trial-facts.ts';
import { compareFacts, type SideFacts } from '../report/comparison/compare-facts.ts';
import type { ChangedTrial, Comparison, UnmatchedReason } from '../report/comparison/comparison.ts';
import { comparisonMarkdown } from '../report/comparison/comparison-markdown.ts';
import { sideBySide } from '../report/comparison/timeline.ts';
import { unmatchedText } from '../report/comparison/wording.ts';
import type { BatchRow, Store } from '../store/store.ts';
import { NotFoundError } from './api.ts';
import { show } from './show.ts';

/** Which two agents to compare: `a` is the one that is there, `b` the candidate. */
export interface CompareRequest {
  readonly a: ComparedAgent;
  readonly b: ComparedAgent;
  /** Trials of other generations of the environment are compared too, and that is said. Default: they are left out. */
  readonly acrossGenerations?: boolean;
  /** Changed trials of which both timelines are read. Default 12. */
  readonly timelines?: number;
}

export interface ComparedAgent {
  readonly batch: string;
  /** May be left out where the batch has one agent, or where it has two and both sides are of it. */
  readonly agent?: string;
}

/** Thrown where two agents cannot be compared; nothing was computed. */
export class ComparisonRefusedError extends Error {
  override readonly name = 'ComparisonRefusedError';
  readonly code = 'comparison_refused';
  readonly reason: 'agent_unclear' | 'same_trials' | 'nothing_matches';

  constructor(reason: ComparisonRefusedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Compares two agents on the trials that both had. @throws {NotFoundError} @throws {ComparisonRefusedError} */
export async function compareAgents(store: Store, request: CompareRequest, today: Date): Promise<Comparison> {
  const { acrossGenerations = false, timelines = TIMELINES } = request;
  const read = new Map<string, { readonly batch: BatchRow; readonly facts: readonly TrialFacts[] }>();
  for (const { batch } of [request.a, request.b]) if (!read.has(batch)) read.set(batch, await batchFacts(store, batch));
  const sideOf = (of: ComparedAgent, place: 0 | 1): SideFacts => {
    const { batch, facts } = read.get(of.batch) ?? { batch: null, facts: [] };
    const agent = agentOf(of, facts, request.a.batch === request.b.batch ? place : null);
    return { batch: of.batch, agent, seed: batch?.seed ?? '', facts: facts.filter((one) => one.agent === agent) };
  };
  const [a, b] = [sideOf(request.a, 0), sideOf(request.b, 1)];
  if (a.batch === b.batch && a.agent === b.agent)
    throw new ComparisonRefusedError(
      'same_trials',
      `both sides are ${a.batch}:${a.agent}; a comparison of other agents says how its repetitions differ from each other`,
    );
  const comparison = compareFacts(a, b, { today: today.toISOString().slice(0, 10), acrossGenerations });
  if (comparison.a.matched === 0) {
    const [one, other] = [request.a, request.b].map(({ batch }) => read.get(batch)?.batch.suite ?? '');
    throw nothingMatches(comparison, one === other ? null : `they are of two suites, ${one} and ${other}`);
  }
  return { ...comparison, changed: await withTimelines(store, comparison.changed, timelines) };
}

/** Writes a comparison as HTML or Markdown, where asked for; a reader never sees half a file. Folders are made where missing. The files hold data of trials in clear. */
export async function writeComparison(comparison: Comparison, files: { readonly html?: string; readonly markdown?: string }): Promise<void> {
  if (files.markdown !== undefined) await replaceFile(files.markdown, comparisonMarkdown(comparison));
  if (files.html === undefined) return;
  // Of no use to any other command.
  const { comparisonHtml } = await import('../report/comparison/page.tsx');
  await replaceFile(files.html, comparisonHtml(comparison));
}

const TIMELINES = 12;

async function batchFacts(store: Store, id: string): Promise<{ readonly batch: BatchRow; readonly facts: readonly TrialFacts[] }> {
  const batch = await store.batch(id);
  if (!batch) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
  const facts: TrialFacts[] = [];
  for await (const page of store.facts(id)) facts.push(...page);
  return { batch, facts };
}

/** `place`: which of two agents of one batch, where both sides are of it. */
function agentOf({ batch, agent }: ComparedAgent, facts: readonly TrialFacts[], place: 0 | 1 | null): string {
  const agents = [...new Set(facts.map((one) => one.agent))];
  const [first, second] = agents;
  if (agent !== undefined) {
    if (agents.includes(agent)) return agent;
    throw new NotFoundError(`batch ${batch} has no agent ${agent}; it has ${agents.join(', ')}`);
  }
  if (place !== null && first !== undefined && second !== undefined && agents.length === 2) return place === 0 ? first : second;
  if (place === null && first !== undefined && agents.length === 1) return first;
  const example = place === null ? `${batch}:${first ?? 'AGENT'}` : `--agents ${first ?? 'ONE'} ${second ?? 'OTHER'}`;
  throw new ComparisonRefusedError(
    'agent_unclear',
    `batch ${batch} has ${agents.length === 0 ? 'no trials' : `the agents ${agents.join(', ')}`}; say which to compare, as in ${example}`,
  );
}

/** `suites`: that they are of two, in words. */
function nothingMatches(comparison: Comparison, suites: string | null): ComparisonRefusedError {
  const left = comparison.unmatched.map((one) => unmatchedText(comparison, one)).join(', ');
  const has = (reason: UnmatchedReason): boolean => comparison.unmatched.some((one) => one.reason === reason);
  const way = has('generation')
    ? 'run both again with the environment as it is now; or compare with --across-generations, and whatever is found may be due to the environment'
    : has('not_ended')
      ? 'wait until both have ended; `trialbed watch BATCH` goes on with one that was interrupted'
      : 'run both with the same cases, fault schedules and number of trials';
  const told = [left || 'there are no trials', ...(suites === null ? [] : [suites]), way];
  return new ComparisonRefusedError('nothing_matches', `no trial of the one is a trial of the other: ${told.join('; ')}`);
}

/** One of each case and schedule, in the order in which they are listed. */
async function withTimelines(store: Store, changed: readonly ChangedTrial[], most: number): Promise<readonly ChangedTrial[]> {
  const seen = new Set<string>();
  const read = new Map<ChangedTrial, ChangedTrial['timeline']>();
  for (const one of changed) {
    const key = JSON.stringify([one.case, one.schedule]);
    if (seen.size >= most) break;
    if (seen.has(key)) continue;
    seen.add(key);
    const [a, b] = await Promise.all([show(store, one.a.trial), show(store, one.b.trial)]);
    read.set(one, sideBySide(a, b));
  }
  return changed.map((one) => ({ ...one, timeline: read.get(one) ?? null }));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const file = resolve(path);
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
