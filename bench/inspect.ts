import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readSettings } from '../src/worker/config.ts';
import type { Root } from '../src/worker/root.ts';
import { type Effort, type Figures, rounded } from './figures.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./inspect_eight.py', import.meta.url));
/** Installing takes about half a minute where the packages are near. */
const INSTALL_MS = 120_000;
const VERSION = '0.3.285';

/** What was measured earlier on two cores, for where Inspect AI cannot be installed. */
const EARLIER = { inspect_per_s: 6, inspect_cpu_ms_per_sample: 118, inspect_measured_now: 0 };

/** The same number of calls of tools on a dictionary within one process by Inspect AI, measured from outside on this machine. It is installed into the user's cache, once. */
export async function inspectAi({ config }: Pick<Root, 'config'>, { quick }: Effort): Promise<Figures> {
  const venv = join(readSettings(process.env).cacheFolder, `inspect-ai-${VERSION}`);
  const python = join(venv, 'bin', 'python');
  try {
    const installed = await run(python, ['-c', 'import inspect_ai']).catch(() => null);
    if (installed === null) {
      process.stderr.write('installing Inspect AI\n');
      await run('python3', ['-m', 'venv', '--clear', venv], { timeout: INSTALL_MS });
      await run(python, ['-m', 'pip', 'install', '--quiet', `inspect-ai==${VERSION}`], { timeout: INSTALL_MS });
    }
    const { stdout } = await run(python, [PROGRAM, String(quick ? 20 : 100), join(config.home, 'inspect-logs')], { cwd: config.home });
    const { per_s: perSecond, cpu_ms: cpu } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { readonly per_s: number; readonly cpu_ms: number };
    return { inspect_per_s: rounded(perSecond), inspect_cpu_ms_per_sample: rounded(cpu, 1), inspect_measured_now: 1 };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    process.stderr.write(`Inspect AI could not be measured (${reason}); figures of an earlier run stand for it\n`);
    return EARLIER;
  }
}
