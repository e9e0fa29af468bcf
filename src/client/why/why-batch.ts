import { countTrials, type WaitReason } from '../../domain/progress.ts';
import type { BatchWhy, TrialWhy, WhyCause, WhyGroup } from '../../domain/why.ts';
import { inParallel } from '../../activities/in-parallel.ts';
import type { BatchRow } from '../../store/store.ts';
import { batchFacts, type Looking } from './batch-facts.ts';
import { explainBatch } from './explain-batch.ts';
import { explainTrial } from './explain-trial.ts';
import { asSentence, type Found, said } from './found.ts';
import { soon } from './soon.ts';
import { trialFacts } from './trial-facts.ts';

/** Trials that are looked at one by one, those that have run for longest; and the time for all of them. */
const MOST_LOOKED = 40;
const AT_ONCE = 8;
const LOOK_MS = 800;
const MOST_EXAMPLES = 3;

/** What a batch waits for, and its trials by what they do. */
export async function whyBatch(looking: Looking, stored: BatchRow): Promise<BatchWhy> {
  const { store } = looking.root;
  const facts = await batchFacts(looking, stored);
  const [groups, running] = await Promise.all([store.progress(stored.id), store.running({ batch: stored.id, limit: MOST_LOOKED })]);
  const counts = countTrials(groups, facts.workforce);
  const looked: TrialWhy[] = [];
  // What was found when the time is over is what is told.
  await soon(LOOK_MS, () =>
    inParallel(running, AT_ONCE, async ({ trial: id }) => {
      const trial = await store.trial(id);
      if (trial) looked.push(explainTrial(await trialFacts(looking, trial, facts)));
    }),
  );
  const trials = [...looked];
  const found = explainBatch(looking.now(), facts);
  const grouped = groupsOf(trials, counts, found);
  const { cause, sentence, evidence, next } = mainOf(found, grouped, counts.running + counts.waiting);
  return {
    type: 'why',
    what: 'batch',
    batch: stored.id,
    suite: stored.suite,
    state: facts.workforce.state,
    trials: counts.trials,
    done: counts.done,
    cause,
    sentence: asSentence(sentence),
    evidence,
    next,
    groups: grouped,
    looked: trials.length,
    temporalProblem: facts.temporalProblem,
  };
}

/** Those that were looked at by what was found; the others by what the store knows. */
function groupsOf(trials: readonly TrialWhy[], counts: ReturnType<typeof countTrials>, batch: Found): readonly WhyGroup[] {
  const groups = new Map<WhyCause, { trials: number; examples: WhyGroup['examples'][number][] }>();
  const add = (cause: WhyCause, count: number, example?: TrialWhy): void => {
    const group = groups.get(cause) ?? { trials: 0, examples: [] };
    groups.set(cause, group);
    group.trials += count;
    if (example && group.examples.length < MOST_EXAMPLES) {
      const { trial, case: kase, agent, sentence } = example;
      group.examples.push({ trial, case: kase, agent, sentence });
    }
  };
  for (const trial of trials) add(trial.cause, 1, trial);
  let unlooked = Math.max(0, counts.running + counts.waiting - trials.length);
  // Whoever has not begun was not looked at.
  for (const reason of ['turn', 'paused', 'launcher'] satisfies readonly WaitReason[]) {
    const count = Math.min(unlooked, counts.waits[reason] ?? 0);
    if (count > 0) add(batch.cause === 'working' || reason !== 'turn' ? (batch.cause === 'budget' ? 'budget' : reason) : batch.cause, count);
    unlooked -= count;
  }
  if (unlooked > 0) add(counts.running > 0 ? 'step' : 'worker', unlooked);
  return [...groups].map(([cause, group]) => ({ cause, ...group })).sort((a, b) => b.trials - a.trials);
}

/** Where nothing is in the batch's own way, what most of its trials wait for. */
function mainOf(found: Found, groups: readonly WhyGroup[], open: number): Found {
  const [first] = groups;
  if (found.cause !== 'working' || !first) return found;
  const stuck = groups.find(({ cause }) => !GOES_ON.has(cause));
  if (!stuck) return found;
  const example = stuck.examples[0];
  const shown = example === undefined ? '' : `; for example ${example.trial}: ${said(example.sentence, 600)}`;
  return {
    ...found,
    cause: stuck.cause,
    sentence: `${found.sentence}; ${stuck.trials} of ${open} open trials ${stuck.trials === 1 ? 'is' : 'are'} held up by the same${shown}`,
  };
}

const GOES_ON: ReadonlySet<WhyCause> = new Set(['activity', 'step', 'turn', 'world', 'worker', 'retry', 'done', 'working']);
