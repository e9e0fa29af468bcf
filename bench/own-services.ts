import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireServices } from '../src/infra/services.ts';
import { readConfig, readSettings } from '../src/worker/config.ts';
import { createRoot, type Root } from '../src/worker/root.ts';

/** Measures on services of its own, in a home folder that is gone afterwards. Worlds are in an embedded PostgreSQL unless `TRIALBED_POSTGRES` says otherwise. */
export async function onOwnServices(measure: (root: Root) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'trialbed-bench-'));
  const env = { ...process.env, TRIALBED_HOME: home, TRIALBED_POSTGRES: process.env.TRIALBED_POSTGRES ?? 'embedded' };
  const lease = await acquireServices(readSettings(env), { progress: (text) => process.stderr.write(`${text}\n`) });
  try {
    await using root = await createRoot(readConfig(env, lease.endpoints));
    await measure(root);
  } finally {
    await lease.release();
    await rm(home, { recursive: true, force: true });
  }
}
