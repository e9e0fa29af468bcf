import type { Cassette } from '../../domain/cassette.ts';
import type { Operation } from '../../domain/operation.ts';
import { isObject } from '../../domain/text/bounded.ts';
import type { LoadedEnvironment } from '../../environments/world.ts';
import { contentHash } from '../../suite/identity.ts';
import { plainArguments } from '../../suite/plain-arguments.ts';
import type { LoadedAgent, LoadedCase, Suite } from '../../suite/suite.ts';
import type { Root } from '../../worker/root.ts';
import { planBatch, type PlannedTrial } from '../plan.ts';
import { startBatch, type WorkFor } from '../start-batch.ts';

/** Calls of a cassette that are made again, each in its order: those that are compared, and those that these may rest on. */
export interface CallsAgain {
  readonly kase: LoadedCase;
  readonly cassette: Cassette;
  /** Places of interactions, from 1. */
  readonly places: readonly number[];
}

/** What a world answered the calls of a cassette. */
export interface AnsweredAgain {
  readonly calls: CallsAgain;
  /** By place of the interaction, from 1. Null: the trial has no record. */
  readonly answers: ReadonlyMap<number, Operation> | null;
  /** Why it has none; null: it has one. */
  readonly why: string | null;
}

/** Makes recorded calls again, those of each cassette in a world of its case, of any environment with the same tools: a fixture, another version of it, or a live binding. */
export async function performAgain(
  root: Root,
  { suite, environment, calls }: { readonly suite: Suite; readonly environment: LoadedEnvironment; readonly calls: readonly CallsAgain[] },
  workFor: WorkFor,
): Promise<{ readonly batch: string; readonly answered: readonly AnsweredAgain[] }> {
  const trials = calls.map((one): PlannedTrial => ({ kase: one.kase, schedule: null, agent: callsAgain(one), repetition: 1 }));
  const options = { isolation: 'schema', keep: 'never', concurrency: 8, retries: 2 } as const;
  const plan = await planBatch({ suite: { ...suite, name: `${suite.name} (contract)` }, environment, trials, options, seed: null });
  await root.store.putDocuments({
    cases: [...new Map(trials.map(({ kase }) => [kase.hash, { hash: kase.hash, kase: kase.kase }])).values()],
    agents: [...new Map(trials.map(({ agent }) => [agent.hash, { hash: agent.hash, spec: agent.spec }])).values()],
  });
  await root.store.createBatch(plan);
  const batch = await root.store.batch(plan.id);
  if (!batch) throw new Error(`batch ${plan.id} was stored and cannot be found`);
  const { taskQueue, broken } = await workFor(batch);
  await startBatch(root, batch, false, broken, taskQueue).result();
  const answered: AnsweredAgain[] = [];
  for (const [index, one] of calls.entries()) {
    const row = await root.store.trial(plan.trials[index]?.id ?? '');
    const record = row?.summary ? await root.store.record(row.id, row.summary.attempt) : null;
    const made = stepsOf(one);
    answered.push({
      calls: one,
      // Each step of the script is the operation of its number.
      answers:
        record &&
        new Map(
          record.operations.flatMap((operation) => (made[ordinalOf(operation)] === undefined ? [] : [[made[ordinalOf(operation)] ?? 0, operation] as const])),
        ),
      why: record ? null : (row?.summary?.why ?? 'its trial has no record'),
    });
  }
  return { batch: plan.id, answered };
}

/** Places of the calls that are made, in order. */
function stepsOf({ cassette, places }: CallsAgain): readonly number[] {
  return places.filter((place) => isObject(cassette.interactions[place - 1]?.args));
}

function ordinalOf({ id }: Operation): number {
  return Number(/^op-(\d+)$/.exec(id)?.[1] ?? 0) - 1;
}

/** An agent that makes calls of a cassette in their order. */
function callsAgain(calls: CallsAgain): LoadedAgent {
  const { cassette } = calls;
  const steps = stepsOf(calls).flatMap((place) => {
    const { tool = '', args = null } = cassette.interactions[place - 1] ?? {};
    return isObject(args) ? [{ call: tool, with: plainArguments(args) }] : [];
  });
  const spec = { kind: 'script', name: `calls of ${cassette.variant}`, version: '1', solution: { steps, answer: '' } } as const;
  return { spec, hash: contentHash(spec) };
}
