import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const port = z.int().min(1).max(65_535);

const schema = z.object({
  /** Ports that the services of this home use at every start, so that a restart is found where the old server was. */
  ports: z.record(z.string(), port),
  /** Password of the embedded PostgreSQL's superuser. */
  postgresPassword: z.string(),
  /** Folder of its cluster; outside the home where PostgreSQL's user cannot reach the home. */
  postgresFolder: z.string().nullable(),
  /** An image that could not be pulled, and when (ISO time), so that not every command tries it again. */
  unavailableImage: z.object({ image: z.string(), reason: z.string(), at: z.iso.datetime() }).nullable().default(null),
  /** Processes that the last supervisor started, so that the next can end what a killed one left. */
  running: z.array(z.object({ name: z.string(), pid: z.int(), mark: z.string() })),
});

/** What the supervisor of a home remembers; in `services.json`, which only its owner can read. */
export type HomeState = z.infer<typeof schema>;

/** The remembered state, or that of a home without services. A file that cannot be read as such is an error, since it holds the database's password. */
export async function readHomeState(home: string): Promise<HomeState> {
  const file = stateFile(home);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return { ports: {}, postgresPassword: randomBytes(24).toString('base64url'), postgresFolder: null, unavailableImage: null, running: [] };
  }
  return schema.parse(JSON.parse(text));
}

/** Only the supervisor, which holds the home's lock, writes; synchronously, since its services report side by side. */
export function writeHomeState(home: string, state: HomeState): void {
  const file = stateFile(home);
  mkdirSync(home, { recursive: true });
  writeFileSync(`${file}.partial`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.partial`, file);
}

function stateFile(home: string): string {
  return join(home, 'services.json');
}
