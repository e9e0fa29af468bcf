import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../src/client/run.ts';
import { startWorkerProcess } from '../src/client/worker-process.ts';
import type { Root } from '../src/worker/root.ts';
import { writeOneCaseSuite } from '../test/harness/one-case-suite.ts';
import { calls, says, startProvider } from '../test/harness/provider.ts';
import { type Effort, type Figures, rounded } from './figures.ts';

const MODEL_MS = 1_000;
/** Calls of tools, one in each message, before the answer. */
const TOOL_CALLS = 5;
const IN_FLIGHT = 20;

/** Trials of an agent whose model takes a second for each reply, twenty in flight: which share of the time is ours. Ideal is the time in which the model alone would have answered. */
export async function slowModel(root: Root, { quick }: Effort): Promise<Figures> {
  await using worker = await startWorkerProcess(root.config);
  let delay = 0;
  await using provider = await startProvider(async ({ body }) => {
    await sleep(delay);
    const done = body.messages.filter(({ role }) => role === 'tool').length;
    return done < TOOL_CALLS ? calls(['get_order', { order_id: 5001 + done }]) : says('These are the orders.');
  });
  const agent = { kind: 'model', prompt: 'Read five orders.', route: { url: provider.url, model: 'sleeper' } };
  const suite = await writeOneCaseSuite(root.config.home, 'slow-model', { environment: 'support-desk', agent });
  const trials = async (count: number): Promise<number> => {
    const handle = await run(root, { ...suite, trials: count, concurrency: IN_FLIGHT, keep: 'never' }, worker.broken);
    let startedAt = performance.now();
    for await (const event of handle.events()) {
      if (event.type === 'batch') startedAt = performance.now();
      if (event.type === 'trial' && (event.ending !== 'completed' || event.calls !== TOOL_CALLS))
        throw new Error(`a trial ended as ${event.ending}: ${event.why}`);
    }
    await handle.result();
    return (performance.now() - startedAt) / 1000;
  };
  await trials(IN_FLIGHT);
  delay = MODEL_MS;
  const count = (quick ? 2 : 6) * IN_FLIGHT;
  const seconds = await trials(count);
  const ideal = ((count / IN_FLIGHT) * (TOOL_CALLS + 1) * MODEL_MS) / 1000;
  return { slow_model_seconds: rounded(seconds), slow_model_ideal_seconds: ideal, slow_model_harness_share: rounded(1 - ideal / seconds, 3) };
}
