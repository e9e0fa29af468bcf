import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const HEALTH_MS = 2_000;

/** `url`: by which it is asked whether it is there. `told`: by which people reach it. */
const remembered = z.object({ url: z.url(), told: z.url(), instance: z.string() });

/** Where a console of this machine is served. */
type ConsoleAt = z.output<typeof remembered>;

/** Address, as people are told it, of a console that this home has; null: none answers. */
export async function runningConsole(home: string): Promise<string | null> {
  try {
    const { url, told, instance } = await consoleAt(home);
    const answer = await fetch(`${url}/console/health`, { signal: AbortSignal.timeout(HEALTH_MS) });
    const body: unknown = await answer.json();
    return typeof body === 'object' && body !== null && 'console' in body && body.console === instance ? told : null;
  } catch {
    return null;
  }
}

/** From now on this is the console that is found for the home. */
export async function remember(home: string, value: ConsoleAt): Promise<void> {
  const file = fileOf(home);
  await mkdir(home, { recursive: true });
  await writeFile(`${file}.partial`, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(`${file}.partial`, file);
}

/** One that came later stays. */
export async function forget(home: string, instance: string): Promise<void> {
  const last = await consoleAt(home).catch(() => null);
  if (last === null || last.instance === instance) await rm(fileOf(home), { force: true });
}

async function consoleAt(home: string): Promise<ConsoleAt> {
  return remembered.parse(JSON.parse(await readFile(fileOf(home), 'utf8')));
}

function fileOf(home: string): string {
  return join(home, 'console.json');
}
