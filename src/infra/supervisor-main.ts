/** The supervisor's process: the plan comes on standard input as JSON, the log goes to standard output. */
import { text } from 'node:stream/consumers';
import type { ServicePlan } from './plan.ts';
import { supervise } from './supervisor.ts';

const log = (line: string): void => {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
};

try {
  const plan: ServicePlan = JSON.parse(await text(process.stdin));
  await supervise(plan, log);
  // Testcontainers keeps handles open that have nothing left to do.
  process.exit(0);
} catch (error) {
  log(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exit(3);
}
