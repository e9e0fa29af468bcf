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

/** Trials that are looked at one by one: of those that have begun, the ones that have run for longest; of those that have not, the first. And the time for all of them. */
const MOST_BEGUN = 32;
const MOST_LAUNCHED = 8;
const AT_ONCE = 8;
const LOOK_MS = 900;
const MOST_EXAMPLES = 3;

/** What a batch waits for, and its trials by what they do. */
export async function whyBatch(looking: Looking, stored: BatchRow): Promise<BatchWhy> {
  const { store } = looking.root;
  const batch = stored.id;
  const [facts, groups, begun, launched] = await Promise.all([
    batchFacts(looking, stored),
    store.progress(batch),
    store.running({ batch, limit: MOST_BEGUN }),
    store.launched({ batch, limit: MOST_LAUNCHED }),
  ]);
  const counts = countTrials(groups, facts.workforce);
  const looked: TrialWhy[] = [];
  // What was found when the time is over is what is told.
  await soon(LOOK_MS, () =>
    inParallel([...begun.map(({ trial }) => trial), ...launched], AT_ONCE, async (id) => {
      const trial = await store.trial(id);
      if (trial) looked.push(explainTrial(await trialFacts(looking, trial, facts)));
    }),
  );
  const open = looked.filter(({ phase }) => phase !== 'done');
  const found = explainBatch(looking.now(), facts);
  const grouped = groupsOf(open, counts, found, facts.temporalProblem !== null);
  const { cause, sentence, evidence, next } = mainOf(found, grouped, counts.running + counts.waiting);
  return {
    type: 'why',
    what: 'batch',
    batch,
    suite: stored.suite,
    state: facts.workforce.state,
    trials: counts.trials,
    done: counts.done,
    cause,
    sentence: asSentence(sentence),
    evidence,
    next,
    groups: grouped,
    looked: open.length,
    temporalProblem: facts.temporalProblem,
  };
}

/** Those that were looked at by what was found; the others by what the store knows. */
function groupsOf(looked: readonly TrialWhy[], counts: ReturnType<typeof countTrials>, batch: Found, away: boolean): readonly WhyGroup[] {
  const groups = new Map<WhyCause, { trials: number; examples: WhyGroup['examples'][number][] }>();
  const add = (cause: WhyCause, count: number, example?: TrialWhy): void => {
    if (count <= 0) return;
    const group = groups.get(cause) ?? { trials: 0, examples: [] };
    groups.set(cause, group);
    group.trials += count;
    if (example && group.examples.length < MOST_EXAMPLES) {
      const { trial, case: kase, agent, sentence } = example;
      group.examples.push({ trial, case: kase, agent, sentence });
    }
  };
  for (const trial of looked) add(trial.cause, 1, trial);
  let rest = counts.running + counts.waiting - looked.length;
  for (const [reason, count] of Object.entries(counts.waits) as [WaitReason, number][]) {
    // Whoever has not been launched was not looked at, and waits for what its batch waits for.
    const unlaunched = UNLAUNCHED.has(reason);
    const unlooked = Math.min(rest, unlaunched ? count : count - looked.filter(({ cause }) => cause === reason).length);
    add(unlaunched && batch.cause !== 'working' ? batch.cause : away ? 'infrastructure' : reason, unlooked);
    rest -= Math.max(0, unlooked);
  }
  add(away ? 'infrastructure' : 'step', rest);
  return [...groups].map(([cause, group]) => ({ cause, ...group })).sort((a, b) => b.trials - a.trials);
}

const UNLAUNCHED: ReadonlySet<WaitReason> = new Set(['turn', 'paused', 'launcher']);

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
