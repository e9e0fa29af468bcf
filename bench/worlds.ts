/**
 * What worlds cost: provision, reset and drop of each kind, p50 and p95 in milliseconds. `--json` prints one object. With `TRIALBED_POSTGRES_URL` on that server,
 * else on an embedded one; figures of another machine, or of a busy one, are other figures.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnvironment, resolveEnvironment } from '../src/environments/load.ts';
import type { Isolation, World, Worlds } from '../src/environments/world.ts';
import { createWorlds } from '../src/environments/worlds/worlds.ts';
import { freePort } from '../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../src/infra/postgres-embedded.ts';

interface Row {
  readonly what: string;
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
}

const folder = await mkdtemp(join(tmpdir(), 'trialbed-bench-'));
await chmod(folder, 0o755);
const given = process.env.TRIALBED_POSTGRES_URL;
const server = given
  ? { url: given, stop: async () => undefined }
  : await startEmbeddedPostgres({ dataFolder: join(folder, 'postgres'), port: await freePort(), password: 'bench', logFile: join(folder, 'log'), fsync: true });
try {
  const environment = await loadEnvironment({ file: resolveEnvironment('support-desk', process.cwd()), options: {} });
  await using worlds = await createWorlds({ hosts: [{ name: 'bench', kind: 'external', adminUrl: server.url }], connections: 20, failpoint: () => undefined });
  const rows = [...(await measure(worlds, 'schema', 40)), ...(await measure(worlds, 'database', 20))];
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ environment: environment.environment.name, rows })}\n`);
  else process.stdout.write(`${table(rows)}\n`);

  async function measure(all: Worlds, isolation: Isolation, n: number): Promise<Row[]> {
    const times: Record<string, number[]> = {};
    const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = performance.now();
      const value = await work();
      const name = `${isolation}: ${what}`;
      times[name] = [...(times[name] ?? []), performance.now() - startedAt];
      return value;
    };
    const provision = async (what: string) => all.open(await timed(what, () => all.provision(environment, lease(isolation))));
    // The first one of a generation also records it, or makes its template.
    await (await all.open(await all.provision(environment, lease(isolation)))).release({ reuse: false });
    for (let i = 0; i < n; i += 1) {
      const world = await provision('make');
      await timed('operation of one write', () => write(world));
      await timed('fence', () => world.fence({ drainMs: 1000 }));
      await timed('drop', () => world.release({ reuse: false }));
    }
    if (isolation === 'schema') {
      await (await all.open(await all.provision(environment, lease(isolation)))).release();
      for (let i = 0; i < n; i += 1) {
        const world = await provision('lease from the pool');
        await write(world);
        await world.fence({ drainMs: 1000 });
        if ((await timed('reset', () => world.release())) !== 'pooled') throw new Error('a world was not reused; the figures would mean nothing');
      }
    }
    return Object.entries(times).map(([what, values]) => ({ what, n: values.length, p50: quantile(values, 0.5), p95: quantile(values, 0.95) }));
  }
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function write(world: World): Promise<void> {
  await world.ledger.propose({ id: 'op', tool: 'bench', args: {}, idempotencyKey: null, refusal: null });
  await world.transact({ id: 'op', attempt: 1 }, async (sql) => {
    await sql.query('update customers set name = name || $1', ['!']);
    return { value: null, result: null };
  });
}

function lease(isolation: Isolation) {
  const owner = `bench-${performance.now()}`;
  return { owner, workflowId: owner, isolation, leaseMs: 600_000, kase: { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] } };
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0) * 10) / 10;
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map((row) => row.what.length));
  const line = (what: string, cells: readonly (string | number)[]) => [what.padEnd(width), ...cells.map((cell) => String(cell).padStart(8))].join('');
  return [line('milliseconds', ['n', 'p50', 'p95']), ...rows.map((row) => line(row.what, [row.n, row.p50, row.p95]))].join('\n');
}
