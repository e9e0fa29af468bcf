import type { BatchSummary } from '../../domain/trial.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchRow } from '../../store/store.ts';
import type { ReportComparison } from '../data.ts';
import { percent, rateText } from './rate-text.ts';
import type { AgentRates } from './rates.ts';

/** Agents that are told of one by one; the tables have all. */
const MOST_AGENTS = 4;

/** Said where a report has no candidate's comparison to open with. */
export const COMPARED_WITH_NOTHING =
  'It is compared with nothing, so whether it is safer or more useful than what is there is not told; "trialbed report BATCH --against OTHER" tells it.';

/** Sentences of a comparison with one agent; with several the two answers of each. */
const MOST_LINES = 4;
const ANSWERS = 2;

/** Whether the candidate is safer and more useful than what it is compared with, and how far that goes. */
export function comparisonOpening(comparisons: readonly ReportComparison[]): readonly string[] {
  return comparisons.flatMap(({ agent, against, lines, comparison }) => {
    if (comparisons.length < 2 && comparison !== null) return lines.slice(0, MOST_LINES);
    return lines.slice(0, ANSWERS).map((line) => `${agent} beside ${against}: ${line}`);
  });
}

/** What a batch shows, in a few sentences, each with its figure. */
export function openingOf(
  batch: Pick<BatchRow, 'state' | 'done' | 'trials'>,
  summary: Pick<BatchSummary, 'infraErrors' | 'userErrors' | 'cancelled' | 'stopped'>,
  agents: readonly AgentRates[],
  facts: readonly TrialFacts[],
  neverFired: readonly string[],
): readonly string[] {
  const sentences: string[] = [];
  const open = facts.filter(({ ending }) => ending === null).length;
  if (batch.state === 'running') sentences.push(`The batch runs still: ${batch.done} of ${batch.trials} trials are done, and every figure is of these alone.`);
  else if (open > 0) sentences.push(`The batch is ${batch.state}, with ${open} of ${facts.length} trials not done: every figure is of the others alone.`);
  for (const one of agents.slice(0, MOST_AGENTS)) sentences.push(...agentSentences(one));
  if (agents.length > MOST_AGENTS) sentences.push(`${agents.length - MOST_AGENTS} more agents are in the tables.`);
  const missing = agents.reduce((sum, one) => sum + one.missing, 0);
  if (missing > 0) {
    const parts = [
      summary.infraErrors > 0 ? `${summary.infraErrors} by infrastructure errors` : null,
      summary.userErrors ? `${summary.userErrors} by faults of the simulated user` : null,
      summary.cancelled > 0 ? `${summary.cancelled} cancelled` : null,
    ].filter((part) => part !== null);
    sentences.push(
      `${missing} ${missing === 1 ? 'trial has' : 'trials have'} no result${parts.length > 0 ? ` (${parts.join(', ')})` : ''}, counted neither as passed nor as failed.`,
    );
  }
  if (neverFired.length > 0)
    sentences.push(`Nothing was tested by ${neverFired.slice(0, 5).join(', ')}${neverFired.length > 5 ? ' and others' : ''}: no fault of it ever fired.`);
  return sentences;
}

function agentSentences({ agent, views, forbidden, bounds, missing, scored }: AgentRates): readonly string[] {
  if (scored === 0) return [`Of ${agent} nothing was scored.`];
  const bounded = missing > 0 ? `; between ${percent(bounds.low)} and ${percent(bounds.high)} whatever became of the ${missing} without a result` : '';
  const passes = `${agent} passed ${rateText(views.pass)}${bounded}.`;
  const harm =
    forbidden.count === 0
      ? `It had no forbidden effect in ${forbidden.of} ${forbidden.of === 1 ? 'trial' : 'trials'}, which still allows for up to ${percent(forbidden.interval.high)} (95%).`
      : `It had a forbidden effect in ${rateText(forbidden)}.`;
  return [passes, harm];
}
