import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEnvironment } from '../../src/environments/load.ts';
import { type LoadedEnvironment, WorldGoneError, type WorldRef, WorldServerAwayError, type Worlds } from '../../src/environments/world.ts';
import { createWorlds, type WorldsConfig } from '../../src/environments/worlds/worlds.ts';
import { freePort } from '../../src/infra/ports.ts';
import { ownServer, shopSource, statements } from '../fixtures/packs/shop/kit.ts';
import { type Detour, startDetour } from '../harness/detour.ts';

const stack = new AsyncDisposableStack();
// Of the server that all tests share nobody knows how many worlds it has, which decide where one is made.
let eastUrl: string;
let westUrl: string;
let proxy: Detour;
let environment: LoadedEnvironment;
/** Milliseconds that the worlds' clock is ahead. */
let ahead = 0;
const logged: string[] = [];

beforeAll(async () => {
  eastUrl = stack.use(await ownServer()).url;
  westUrl = stack.use(await ownServer()).url;
  proxy = stack.use(await startDetour(westUrl));
  environment = await loadEnvironment(shopSource({ salt: 'servers' }));
});
afterAll(() => stack.disposeAsync());

function open(config: Partial<WorldsConfig> = {}): Promise<Worlds> {
  return createWorlds({
    hosts: [host('east', eastUrl), host('west', proxy.url)],
    connections: 8,
    failpoint: () => undefined,
    now: () => performance.now() + ahead,
    log: (message, details) => logged.push(`${message} ${JSON.stringify(details)}`),
    ...config,
  });
}

function host(name: string, adminUrl: string, connections?: number): WorldsConfig['hosts'][number] {
  return { name, kind: 'external', adminUrl, ...(connections !== undefined && { connections }) };
}

let n = 0;
function provision(worlds: Worlds, owner = `servers-${process.pid}-${++n}`): Promise<WorldRef> {
  const kase = { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] };
  return worlds.provision(environment, { owner, workflowId: null, isolation: 'schema', leaseMs: 600_000, kase });
}

const on = (refs: readonly WorldRef[], name: string) => refs.filter((ref) => ref.host === name).length;
const release = async (worlds: Worlds, refs: readonly WorldRef[]) => {
  await Promise.all(refs.map(async (ref) => (await worlds.open(ref)).release({ reuse: false })));
};

describe('worlds on two servers', () => {
  test('many, with few connections: no server has more than its budget, and each as many worlds as its budget has room for', async () => {
    await using watcher = await connected(westUrl);
    await using worlds = await open({ hosts: [host('east', eastUrl, 16), host('west', westUrl)] });
    let watching = true;
    let most = 0;
    const watch = (async () => {
      while (watching) {
        most = Math.max(most, await watcher.sessions());
        await sleep(5);
      }
    })();
    const refs = await Promise.all(Array.from({ length: 60 }, () => provision(worlds)));
    await Promise.all(refs.map(async (ref) => statements(await worlds.open(ref), 'op1', `insert into notes values ('n', '${ref.id}')`)));
    for (const ref of refs.slice(0, 20)) expect((await (await worlds.open(ref)).observe()).effects).toMatchObject([{ after: { body: ref.id } }]);
    await release(worlds, refs);
    watching = false;
    await watch;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
    expect(on(refs, 'west')).toBeGreaterThanOrEqual(15);
    expect(on(refs, 'east')).toBeGreaterThan(0);
  });

  test('an owner has one, however many ask at once and whoever asks again', async () => {
    await using worlds = await open();
    const refs = await Promise.all(Array.from({ length: 6 }, () => provision(worlds, 'servers-once')));
    expect(new Set(refs.map((ref) => JSON.stringify(ref))).size).toBe(1);
    await using others = await open();
    expect(await provision(others, 'servers-once')).toEqual(refs[0]);
    expect(await others.leased('servers-once')).toBe(1);
    await release(worlds, refs.slice(0, 1));
  });

  test('are found by workers that know the servers by other names, and by services that know none', async () => {
    await using worlds = await open();
    const refs = await Promise.all(Array.from({ length: 8 }, () => provision(worlds)));
    expect([on(refs, 'east'), on(refs, 'west')]).not.toContain(0);
    await using others = await open({ hosts: [host('west', eastUrl), host('elsewhere', proxy.url)] });
    for (const ref of refs) {
      const { user, toolSecret } = await (await worlds.open(ref)).credentials();
      expect((await others.authenticate(user, toolSecret))?.worldId).toBe(ref.id);
      expect((await others.open(ref)).ref).toEqual(ref);
    }
    await release(others, refs);
    await expect(worlds.open(refs[0] as WorldRef)).rejects.toThrow(WorldGoneError);
  });
});

describe('a server of worlds that is away', () => {
  test('is waited for, then given up; new worlds are made elsewhere; when it is back it is used again and swept', async () => {
    await using worlds = await open();
    const refs = await Promise.all(Array.from({ length: 8 }, () => provision(worlds)));
    const there = refs.find((ref) => ref.host === 'west') as WorldRef;
    const here = refs.filter((ref) => ref.host === 'east');
    await proxy.cut();
    const away = () =>
      worlds.open(there).then(
        () => expect.unreachable(),
        (error: unknown) => error as WorldServerAwayError,
      );
    expect(await away()).toMatchObject({
      name: 'WorldServerAwayError',
      server: 'west',
      lasting: false,
      message: expect.stringMatching(/^the Postgres server west.*; it is waited for$/),
    });
    await expect(worlds.leased('servers-')).rejects.toThrow(WorldServerAwayError);
    const later = await Promise.all([provision(worlds), provision(worlds), provision(worlds)]);
    expect(on(later, 'east')).toBe(3);
    const other = await worlds.open(here[0] as WorldRef);
    const { user, toolSecret } = await other.credentials();
    expect((await worlds.authenticate(user, toolSecret))?.worldId).toBe(other.ref.id);
    ahead += 61_000;
    expect(await away()).toMatchObject({
      lasting: true,
      message: expect.stringMatching(/has not answered for 6\d s \(.+\); attempts that have their world there end, and begin anew on another server$/),
    });
    expect(await worlds.leased('servers-')).toBe(here.length + later.length);
    await using started = await open();
    expect(on([await provision(started, 'servers-started')], 'east')).toBe(1);
    const { away: unseen } = await worlds.sweep({ dryRun: true });
    expect(unseen).toEqual([{ server: 'west', why: expect.stringContaining('ECONNREFUSED') }]);
    await proxy.mend();
    ahead += 1_000;
    expect((await worlds.open(there)).ref).toEqual(there);
    // It has had fewer since.
    const back = await provision(worlds);
    expect(back.host).toBe('west');
    await release(worlds, [...refs, ...later, back, await provision(started, 'servers-started')]);
    expect(await worlds.leased('servers-')).toBe(0);
    expect(logged.filter((line) => line.includes('server of worlds')).map((line) => line.split(' {')[0])).toEqual(
      expect.arrayContaining(['a server of worlds does not answer', 'a server of worlds answers again']),
    );
  });

  test('from the start is prepared when it answers; where none answers, nothing starts', async () => {
    const nowhere = `postgres://postgres:test@127.0.0.1:${await freePort()}/postgres`;
    await expect(open({ hosts: [host('north', nowhere)] })).rejects.toThrow(/^world host north: cannot connect: /);
    await proxy.cut();
    await using worlds = await open();
    await proxy.mend();
    ahead += 2_000;
    const refs = await Promise.all(Array.from({ length: 8 }, () => provision(worlds)));
    expect(on(refs, 'west')).toBeGreaterThan(0);
    await release(worlds, refs);
  });
});

/** Counts our sessions. */
async function connected(url: string): Promise<{ sessions(): Promise<number> } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    async sessions() {
      const { rows } = await client.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name ~ '^trialbed' AND application_name <> 'trialbed prepare'",
      );
      return rows[0]?.n ?? 0;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
