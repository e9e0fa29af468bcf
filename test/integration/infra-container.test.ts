import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listContainers } from '../../src/environments/hosts/container.ts';
import { findContainerEngine, OWNER_LABEL, requireContainers } from '../../src/infra/postgres-container.ts';
import { acquireServices, down, status } from '../../src/infra/services.ts';
import { containerOwner } from '../../src/infra/world-containers.ts';
import { readSettings, type ServiceSettings } from '../../src/worker/config.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';

const container = await requireOrSkip('container');

describe.skipIf(!container.met)(skipTitle('worlds in a container', container), { timeout: 180_000 }, () => {
  let home: string;
  let settings: ServiceSettings;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'trialbed-infra-'));
    settings = { ...readSettings(process.env, { home }), postgres: 'auto', databaseUrl: null, worldsUrls: null, temporal: null };
  });

  afterEach(async () => {
    await down({ home }, { force: true });
    await rm(home, { recursive: true, force: true });
  });

  async function containers(): Promise<readonly string[]> {
    const engine = await findContainerEngine();
    if (engine.description === null) throw new Error(engine.reason);
    const found = await engine.client.container.dockerode.listContainers({ all: true, filters: { label: [`${OWNER_LABEL}=${home}`] } });
    return found.map(({ Id }) => Id);
  }

  test('worlds are in a container with our settings, the store is not, and the release removes the container', async () => {
    const lease = await acquireServices(settings);
    const [host] = lease.endpoints.worldHosts;
    expect(host?.kind).toBe('container');
    const client = new pg.Client({ connectionString: host?.adminUrl ?? '' });
    await client.connect();
    const { rows } = await client.query(
      "SELECT current_database() AS database, current_setting('max_connections') AS connections, current_setting('synchronous_commit') AS durable",
    );
    await client.end();
    expect(rows).toEqual([{ database: 'trialbed_worlds', connections: '200', durable: 'on' }]);
    expect(new URL(lease.endpoints.storeUrl).port).not.toBe(new URL(host?.adminUrl ?? '').port);
    expect(await containers()).toHaveLength(1);
    await lease.release();
    expect(await containers()).toEqual([]);
  });

  test('a container that vanishes is replaced at the same address, with an empty database', async () => {
    await using lease = await acquireServices(settings);
    const url = lease.endpoints.worldHosts[0]?.adminUrl ?? '';
    const engine = await findContainerEngine();
    if (engine.description === null) throw new Error(engine.reason);
    const [lost] = await containers();
    await engine.client.container.dockerode.getContainer(lost ?? '').remove({ force: true });
    while ((await status({ home }))?.services.find((service) => service.name === 'postgres-container')?.restarts !== 1) await sleep(100);
    while ((await status({ home }))?.services.find((service) => service.name === 'postgres-container')?.state !== 'running') await sleep(100);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = $1', ['public']);
    await client.end();
    expect(rows).toEqual([{ tables: 0 }]);
  });

  test('an image that cannot be had is said, and the embedded PostgreSQL is used instead', async () => {
    const lacking = { ...settings, postgresImage: 'localhost:1/trialbed/no-such-image:1' };
    for (const tries of ['pulling the container image localhost:1/trialbed/no-such-image:1', null]) {
      const heard: string[] = [];
      await using lease = await acquireServices(lacking, { progress: (text) => heard.push(text) });
      expect(lease.endpoints.worldHosts[0]?.kind).toBe('embedded');
      expect(lease.notes.join('\n')).toContain('no-such-image');
      // The second time it is known, and not tried again so soon.
      expect(heard.find((text) => text.startsWith('pulling')) ?? null).toBe(tries);
    }
  });

  test('a container that is demanded and cannot be had is an error', async () => {
    await expect(acquireServices({ ...settings, postgres: 'container', postgresImage: 'localhost:1/trialbed/no-such-image:1' })).rejects.toMatchObject({
      code: 'image_unavailable',
    });
    expect(await status({ home })).toBeNull();
  });

  test('that is demanded and cannot be made is told once, with the variable that names the image', async () => {
    await expect(requireContainers('localhost:1/trialbed/no-such-image:1', () => undefined)).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringMatching(/^[^\n]*no-such-image[^\n]*TRIALBED_POSTGRES_IMAGE[^\n]*$/),
    });
    await requireContainers(settings.postgresImage, () => undefined);
  });

  /** A container with the labels that one of a world has; it need not run. */
  async function worldContainer(world: string, labels: { readonly [label: string]: string }): Promise<void> {
    const engine = await findContainerEngine();
    if (engine.description === null) throw new Error(engine.reason);
    await engine.client.container.dockerode.createContainer({ Image: settings.postgresImage, Labels: { ...labels, 'trialbed.world': world } });
  }

  async function worldsOf(of: string): Promise<readonly string[]> {
    return (await listContainers((await containerOwner(of).filter()) ?? '')).map(({ world }) => world).sort();
  }

  test('down ends the containers of worlds of its home, and no others', async () => {
    const other = await mkdtemp(join(tmpdir(), 'trialbed-infra-'));
    await worldContainer('one', await containerOwner(home).labels('embedded'));
    await worldContainer('two', await containerOwner(home).labels('external'));
    await worldContainer('foreign', await containerOwner(other).labels('embedded'));
    expect(await worldsOf(home)).toEqual(['one', 'two']);
    expect(await down({ home }, { allGiven: true })).toMatchObject({ containers: { ended: 0, left: 2 } });
    const lease = await acquireServices({ ...settings, postgres: 'embedded' });
    expect(await down({ home })).toMatchObject({ result: 'users', containers: { ended: 0, left: 2 } });
    await lease.release();
    expect(await down({ home })).toEqual({ result: 'not running', users: [], containers: { ended: 2, left: 0 } });
    expect(await worldsOf(home)).toEqual([]);
    expect(await worldsOf(other)).toEqual(['foreign']);
    expect(await down({ home: other }, { allGiven: true, force: true })).toMatchObject({ containers: { ended: 1, left: 0 } });
    await rm(other, { recursive: true, force: true });
  });

  test('worlds that are registered in a throwaway server end with it, those that are registered elsewhere do not', async () => {
    const lease = await acquireServices(settings);
    expect(lease.endpoints.worldHosts[0]?.kind).toBe('container');
    await worldContainer('within', await containerOwner(home).labels('container'));
    await worldContainer('elsewhere', await containerOwner(home).labels('external'));
    await lease.release();
    expect(await worldsOf(home)).toEqual(['elsewhere']);
  });
});
