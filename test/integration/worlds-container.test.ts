import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { type ContainerOwner, containersOfRegistry, listContainers, removeContainer } from '../../src/environments/hosts/container.ts';
import { type ClosedWorkflows, WorldGoneError, type Worlds } from '../../src/environments/world.ts';
import { readSettings } from '../../src/worker/config.ts';
import { openShop, ownServer, type Shop, statements } from '../fixtures/packs/shop/kit.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';

const container = await requireOrSkip('container');

describe.skipIf(!container.met)(skipTitle('a world in a container of its own', container), { timeout: 180_000 }, () => {
  let server: Awaited<ReturnType<typeof ownServer>>;
  let shop: Shop;
  beforeAll(async () => {
    server = await ownServer();
    shop = await openShop(server.url, 'container', { image: readSettings(process.env).postgresImage });
  });
  afterAll(async () => {
    await shop.admin.query("UPDATE trialbed.worlds SET lease_until = now() - interval '1 second'");
    await shop.worlds.sweep({});
    await shop[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Worlds of this registry that the engine has a container of. */
  const running = async () => {
    const { rows } = await shop.admin.query<{ value: string }>("SELECT value FROM trialbed.settings WHERE name = 'registry'");
    return (await containersOfRegistry(rows[0]?.value ?? '')).map(({ world }) => world);
  };

  test('is the same world as in a schema: journal, fence, snapshot; and has a server that knows nothing else', async () => {
    const world = await shop.make({ isolation: 'container', state: [{ update: 'orders', where: { id: 1 }, set: { status: 'sent' } }] });
    expect(world.ref.isolation).toBe('container');
    await statements(world, 'op1', "insert into notes values ('a', 'b')");
    const { rows } = await shop.admin.query<{ url: string }>("SELECT container ->> 'adminUrl' AS url FROM trialbed.worlds WHERE id = $1", [world.ref.id]);
    const { agentSecret } = await world.credentials();
    const agent = new pg.Client({ connectionString: withDatabase(rows[0]?.url ?? '', 'world', { user: `w_${world.ref.id}`, password: agentSecret }) });
    agent.on('error', () => undefined);
    await agent.connect();
    await agent.query("INSERT INTO notes VALUES ('mine', 'x')");
    await expect(agent.query('SELECT pg_read_file($1)', ['/etc/passwd'])).rejects.toMatchObject({ code: '42501' });
    await world.fence({ drainMs: 100 });
    await expect(agent.query("INSERT INTO notes VALUES ('late', 'x')")).rejects.toThrow();
    const { effects } = await world.observe();
    expect(effects).toMatchObject([{ operation: 'op1' }, { operation: null, after: { about: 'mine' } }]);
    // Another process finds it by the registry.
    await using other = await openShop(server.url, 'container');
    expect((await (await other.worlds.open(world.ref)).observe()).effects).toHaveLength(2);
    const again = await shop.worlds.open(await shop.worlds.restore(shop.environment, await world.snapshot(), shop.lease()));
    expect((await again.observe()).effects).toHaveLength(2);
    await again.release({ reuse: false });
    expect(await world.release()).toBe('dropped');
    expect(await running()).not.toContain(world.ref.id);
  });

  test('is swept from the database alone when its lease has lapsed', async () => {
    const ref = await shop.worlds.provision(shop.environment, shop.lease('lapsed-container', { isolation: 'container', leaseMs: -1 }));
    expect(await running()).toContain(ref.id);
    // Another process than the one that started it.
    await using sweeper = await openShop(server.url, 'container');
    const { swept } = await sweeper.worlds.sweep({});
    expect(swept).toContainEqual({ world: ref.id, owner: 'lapsed-container', reason: 'lease_lapsed' });
    expect(await running()).not.toContain(ref.id);
  });

  test('is swept when the registry has lost its row, and left alone by the sweeper of another registry', async () => {
    const ref = await shop.worlds.provision(shop.environment, shop.lease('lost-container', { isolation: 'container' }));
    await shop.admin.query('DELETE FROM trialbed.worlds WHERE id = $1', [ref.id]);
    await using elsewhere = await ownServer();
    await using stranger = await openShop(elsewhere.url, 'container');
    await stranger.admin.query("INSERT INTO trialbed.settings VALUES ('containers', 'used')");
    expect((await stranger.worlds.sweep({})).swept).toEqual([]);
    expect(await running()).toContain(ref.id);
    expect((await shop.worlds.sweep({})).swept).toContainEqual({ world: ref.id, owner: '', reason: 'orphan' });
    expect(await running()).not.toContain(ref.id);
  });

  test('is gone when its container is, and its row with it: neither waits for a server that never answers', async () => {
    const [one, other] = [await shop.make({ isolation: 'container' }), await shop.make({ isolation: 'container' })];
    for (const { ref } of [one, other]) await removeContainer(ref.id);
    await expect(shop.worlds.open(one.ref)).rejects.toThrow(WorldGoneError);
    const { rows } = await shop.admin.query<{ id: string }>('SELECT id FROM trialbed.worlds WHERE id = ANY($1)', [[one.ref.id, other.ref.id]]);
    expect(rows).toEqual([{ id: other.ref.id }]);
    const { swept } = await shop.worlds.sweep({});
    expect(swept).toMatchObject([{ world: other.ref.id, reason: 'container_lost' }]);
  });

  test('whose registry is gone is judged by the labels of its container, and only where it is of the same owner', async () => {
    const owner = (name: string, throwaway = false): ContainerOwner => ({
      labels: async () => ({ 'trialbed.test-owner': name }),
      filter: async () => `trialbed.test-owner=${name}`,
      throwaway: () => throwaway,
    });
    const name = `owner-${process.pid}`;
    const { getContainerRuntimeClient } = await import('testcontainers');
    const { dockerode } = (await getContainerRuntimeClient()).container;
    const image = readSettings(process.env).postgresImage;
    for (const [world, minutes] of [
      ['live', 10],
      ['lapsed', -1],
      ['closed', 10],
    ] as const) {
      const until = new Date(Date.now() + minutes * 60_000).toISOString();
      const labels = { 'trialbed.world': world, 'trialbed.registry': 'lost', 'trialbed.workflow': `workflow ${world}`, 'trialbed.lease-until': until };
      await dockerode.createContainer({ Image: image, Labels: { ...labels, 'trialbed.test-owner': name } });
    }
    const sweepAs = async (containerOwner: ContainerOwner, options: Parameters<Worlds['sweep']>[0] = {}) => {
      await using now = await openShop(server.url, 'container', { image, containerOwner, hosts: [{ name: 'test', kind: 'embedded', adminUrl: server.url }] });
      return await now.worlds.sweep(options);
    };
    expect((await sweepAs(owner('another'))).swept).toEqual([]);
    const ask: ClosedWorkflows = async (ids, asked) => new Set(asked?.unknownIsClosed === false ? ids.filter((id) => id === 'workflow closed') : ids);
    const report = await sweepAs(owner(name), { closed: ask });
    expect(report.swept.map(({ world, reason }) => [world, reason]).sort()).toEqual(
      [
        ['lapsed', 'lease_lapsed'],
        ['closed', 'workflow_closed'],
      ].sort(),
    );
    expect(report.live).toBe(1);
    const dry = await sweepAs(owner(name, true), { dryRun: true });
    expect(dry).toMatchObject({ swept: [{ world: 'live', reason: 'orphan' }], leaked: 1 });
    expect((await listContainers(`trialbed.test-owner=${name}`)).map(({ world }) => world)).toEqual(['live']);
    await sweepAs(owner(name, true));
    expect(await listContainers(`trialbed.test-owner=${name}`)).toEqual([]);
  });
});
