import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadEnvironment, resolveEnvironment } from '../src/environments/load.ts';
import type { Isolation, LoadedEnvironment, World } from '../src/environments/world.ts';
import type { Root } from '../src/worker/root.ts';
import { type Effort, type Figure, type Figures, inLanes, quantile, rounded, timed } from './figures.ts';

/** Rows of the tables of two seeds of one schema, to tell whether a reset depends on what it need not touch. */
const SEEDS = { small: 300, large: 30_000 } as const;
const LANES = 10;

/** What worlds cost: made, leased from the pool, written, fenced, reset with the check (three rows touched), dropped; how many a second; and a reset beside a rebuild at two sizes of the seed. */
export async function worldCost(root: Root, { quick }: Effort): Promise<Figures> {
  const desk = await loadEnvironment({ file: resolveEnvironment('support-desk', process.cwd()), options: {} });
  const n = quick ? 8 : 40;
  const inSchema = await measured(root, desk, 'schema', n);
  const inDatabase = await measured(root, desk, 'database', quick ? 4 : 12);
  const bySeed: { [name: string]: { [size: string]: Figure } } = {};
  for (const [size, rows] of Object.entries(SEEDS)) {
    const { reset, make } = await measured(root, await items(root, rows), 'schema', quick ? 5 : 20);
    bySeed['world_reset_ms_p50_by_seed'] = { ...bySeed['world_reset_ms_p50_by_seed'], [size]: reset === undefined ? null : quantile(reset, 0.5) };
    bySeed['world_rebuild_ms_p50_by_seed'] = { ...bySeed['world_rebuild_ms_p50_by_seed'], [size]: make === undefined ? null : quantile(make, 0.5) };
  }
  const halves = (of: { readonly [what: string]: readonly number[] }, prefix: string): Figures =>
    Object.fromEntries(Object.entries(of).flatMap(([what, ms]) => [50, 95].map((q) => [`${prefix}_${what}_ms_p${q}`, quantile(ms, q / 100)])));
  return {
    ...halves(inSchema, 'world'),
    ...halves(inDatabase, 'database_world'),
    ...(bySeed as Figures),
    ...(await rates(root, desk, quick ? 30 : 150)),
  };
}

/** Milliseconds by what was done. */
async function measured({ worlds }: Root, environment: LoadedEnvironment, isolation: Isolation, n: number): Promise<{ readonly [what: string]: number[] }> {
  const times: { [what: string]: number[] } = {};
  const of = (what: string): number[] => (times[what] ??= []);
  const provision = async () => worlds.open(await worlds.provision(environment, lease(isolation)));
  // The first one of a generation also records it, or makes its template.
  await (await provision()).release({ reuse: false });
  for (let i = 0; i < n; i++) {
    const world = await timed(of('make'), provision);
    await timed(of('write'), () => touch(world, environment));
    await timed(of('fence'), () => world.fence({ drainMs: 1000 }));
    await timed(of('drop'), () => world.release({ reuse: false }));
  }
  if (isolation !== 'schema') return times;
  await (await provision()).release();
  for (let i = 0; i < n; i++) {
    const world = await timed(of('lease'), provision);
    await touch(world, environment);
    await world.fence({ drainMs: 1000 });
    if ((await timed(of('reset'), () => world.release())) !== 'pooled') throw new Error('a world was not reused; the figures would mean nothing');
  }
  return times;
}

/** Worlds made and dropped, and leased, touched and reset, in some lanes at once. */
async function rates({ worlds }: Root, environment: LoadedEnvironment, n: number): Promise<Figures> {
  const turns = Array.from({ length: n });
  const made = await inLanes(turns, LANES, async () => {
    await (await worlds.open(await worlds.provision(environment, lease('schema')))).release({ reuse: false });
  });
  const reset = await inLanes(turns, LANES, async () => {
    const world = await worlds.open(await worlds.provision(environment, lease('schema')));
    await touch(world, environment);
    await world.fence({ drainMs: 1000 });
    await world.release();
  });
  return { worlds_made_per_s: rounded(n / made), worlds_reset_per_s: rounded(n / reset) };
}

/** Three rows, in one operation. */
async function touch(world: World, { environment }: LoadedEnvironment): Promise<void> {
  const statement =
    environment.name === 'bench' ? 'update items set name = name || $1 where id <= 3' : 'update customers set name = name || $1 where id <= 1003';
  await world.ledger.propose({ id: 'op', tool: 'bench', args: {}, idempotencyKey: null, refusal: null });
  await world.transact({ id: 'op', attempt: 1 }, async (sql) => {
    await sql.query(statement, ['!']);
    return { value: null, result: null };
  });
}

/** An environment of one table with so many rows. */
async function items({ config }: Root, rows: number): Promise<LoadedEnvironment> {
  const folder = join(config.home, `bench-${rows}`);
  await mkdir(folder, { recursive: true });
  const lines = Array.from({ length: rows }, (_none, n) => `${n + 1},Item ${n + 1},${n % 100}`);
  await writeFile(join(folder, 'items.csv'), `id,name,stock\n${lines.join('\n')}\n`);
  await writeFile(join(folder, 'schema.sql'), 'create table items (id int primary key, name text not null, stock int not null);\n');
  await writeFile(join(folder, 'policy.md'), 'None.\n');
  const define = fileURLToPath(new URL('../src/environments/define.ts', import.meta.url));
  await writeFile(
    join(folder, 'pack.ts'),
    `import { defineEnvironment } from ${JSON.stringify(define)};
export default defineEnvironment({
  name: 'bench',
  version: '1.0.0',
  schema: [new URL('./schema.sql', import.meta.url)],
  seed: [{ csv: new URL('./items.csv', import.meta.url), table: 'items' }],
  tools: [],
  policy: new URL('./policy.md', import.meta.url),
});
`,
  );
  return loadEnvironment({ file: join(folder, 'pack.ts'), options: {} });
}

function lease(isolation: Isolation) {
  const owner = `bench-${performance.now()}`;
  return { owner, workflowId: owner, isolation, leaseMs: 600_000, kase: { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] } };
}
