import type { ReportComparison } from '../report/data.ts';
import { comparisonSentences } from '../report/comparison/comparison-markdown.ts';
import { sideText } from '../report/comparison/wording.ts';
import type { Trialbed } from './api.ts';
import { type ComparedAgent, type CompareRequest, ComparisonRefusedError } from './compare.ts';

/** What the agents of a batch are compared with. */
export interface BatchComparison extends Pick<CompareRequest, 'acrossGenerations' | 'timelines'> {
  readonly batch: string;
  /** What is there. Without an agent: the one of the same name, else the only one of that batch; of the same batch it must be named. */
  readonly against: ComparedAgent;
}

/** Agents of a batch that are compared; each reads both batches. */
const MOST_COMPARED = 4;

/**
 * Compares the agents of a batch, each a candidate, with one that is there, for the batch's report. Where one of several cannot be compared the others are.
 * @throws {NotFoundError} @throws {ComparisonRefusedError} where none can, or it is not clear with whom
 */
export async function compareBatch(bed: Pick<Trialbed, 'compare' | 'documents'>, request: BatchComparison): Promise<readonly ReportComparison[]> {
  const { batch, against, ...options } = request;
  const named = async (id: string): Promise<readonly string[]> => [...new Set((await bed.documents(id)).agents.map(({ spec }) => spec.name))].sort();
  const own = await named(batch);
  const theirs = against.batch === batch ? own : await named(against.batch);
  const candidates = own.filter((agent) => against.batch !== batch || agent !== against.agent);
  if (against.batch === batch && against.agent === undefined)
    throw new ComparisonRefusedError(
      'agent_unclear',
      `batch ${batch} has the agents ${own.join(', ')}; say which of them is there, as in ${batch}:${own[0] ?? 'AGENT'}`,
    );
  if (candidates.length === 0)
    throw new ComparisonRefusedError(
      'same_trials',
      `batch ${batch} has no agent beside ${against.agent ?? ''}; compare it with another batch, as in --against OTHER`,
    );
  const found: ReportComparison[] = [];
  let refused: ComparisonRefusedError | null = null;
  for (const agent of candidates.slice(0, MOST_COMPARED)) {
    const [only] = theirs;
    const beside = against.agent ?? (theirs.includes(agent) ? agent : theirs.length === 1 ? only : undefined);
    const a: ComparedAgent = { batch: against.batch, ...(beside !== undefined && { agent: beside }) };
    try {
      const comparison = await bed.compare({ ...options, a, b: { batch, agent } });
      found.push({ agent, against: sideText(comparison.a), lines: comparisonSentences(comparison), comparison });
    } catch (error) {
      if (!(error instanceof ComparisonRefusedError)) throw error;
      refused ??= error;
      found.push({
        agent,
        against: beside === undefined ? against.batch : `${against.batch}:${beside}`,
        lines: [`not compared: ${error.message}.`],
        comparison: null,
      });
    }
  }
  if (refused !== null && found.every(({ comparison }) => comparison === null)) throw refused;
  return found;
}
