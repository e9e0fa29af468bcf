import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DEFAULT_RUNTIME } from '../../domain/runtime.ts';
import { inTransaction, openPool, withClient, withDatabase } from '../hosts/connection.ts';
import { startContainer } from '../hosts/container.ts';
import { ensureToolRole, type Host } from '../hosts/host.ts';
import { WORLDS_DATABASE } from '../hosts/migrations.ts';
import { changeDatabase, closeDatabase, closeOtherDatabases, restrictDatabase } from '../hosts/privileges.ts';
import type { LeaseRequest, LoadedEnvironment, WorldSnapshot } from '../world.ts';
import { type Blueprint, blueprintOf } from './blueprint.ts';
import { buildContent, createRole, createServerRole } from './build.ts';
import { catalogueStamp } from './catalogue.ts';
import { count } from './counts.ts';
import { dropSchemas, dropWorld } from './drop.ts';
import { openDoor } from './fence.ts';
import { differences, fingerprint } from './fingerprint.ts';
import { checkGeneration, generationRecord, keepSeedRows } from './generation-record.ts';
import type { Layout } from './layout.ts';
import { insertWorld, type Lease, lockOwner, setBuilt, setLeased, takeFree, worldByOwner, type WorldRow } from './registry.ts';
import { applySnapshot } from './snapshot.ts';
import { applyState } from './state.ts';
import { ensureTemplate, schemasInDatabase } from './template.ts';

const { escapeIdentifier } = pg;

export interface ProvisionContext {
  readonly host: Host;
  readonly id: () => string;
  readonly failpoint: (name: string) => void;
  readonly log: (message: string, details: { readonly [name: string]: unknown }) => void;
  /** Image of worlds of isolation `container`. */
  readonly image: string;
  /** Labels of its containers, beside those of their world. */
  readonly containerLabels: () => Promise<{ readonly [label: string]: string }>;
}

/** Leases a world to an owner: the one that the owner has, one of the pool, or a new one. */
export async function provisionWorld(
  context: ProvisionContext,
  environment: LoadedEnvironment,
  request: LeaseRequest,
  snapshot: WorldSnapshot | null,
): Promise<WorldRow> {
  const blueprint = await blueprintOf(environment);
  const lease: Lease = { ...request, toolSecret: secret(), agentSecret: secret(), serverSecret: secret() };
  if (request.isolation === 'schema' && !blueprint.needsDatabase) return provisionSchema(context, environment, blueprint, lease, snapshot);
  return provisionServer(context, environment, blueprint, lease, request.isolation, snapshot);
}

/** All in one transaction: a crash leaves nothing behind. */
async function provisionSchema(
  context: ProvisionContext,
  environment: LoadedEnvironment,
  blueprint: Blueprint,
  lease: Lease,
  snapshot: WorldSnapshot | null,
): Promise<WorldRow> {
  const { host, failpoint } = context;
  const id = context.id();
  const layout: Layout = { database: WORLDS_DATABASE, schemas: [`w_${id}`], sys: `w_${id}_sys`, role: `w_${id}`, direct: false };
  let made = false;
  const row = await inTransaction(host.admin, async (client) => {
    await lockOwner(client, lease.owner);
    const known = await worldByOwner(client, lease.owner);
    if (known?.state === 'leased') return known;
    made = true;
    const world = (await takePooled(context, client, environment.generation)) ?? (await makeSchema(client, id, layout, environment, blueprint, lease));
    const epoch = await begin(client, world, lease, snapshot);
    const leased = requireRow(await setLeased(client, world.id, epoch, servicesOf(environment), lease), world.id);
    failpoint('world_made_before_leased');
    return leased;
  }).catch(async (error: unknown) => {
    // SQL of the pack that ended our transaction has kept what was made before it.
    await dropSchemas(host, id, [layout.sys, ...layout.schemas], layout.role).catch((problem: unknown) =>
      context.log('what is left of a world is left for the sweeper', { world: id, err: problem }),
    );
    throw error;
  });
  if (made) await count(host.admin, 'made');
  failpoint('world_leased_before_reply');
  return row;
}

/** Rolls on past worlds that a crash of the server has left other than their seed: those are marked for the sweeper. */
async function takePooled(context: ProvisionContext, client: pg.PoolClient, generation: string): Promise<PooledWorld | null> {
  for (;;) {
    const free = await takeFree(client, generation);
    if (!free) return null;
    if (!free.restarted) return free.row;
    const expected = await generationRecord(client, generation);
    const unlike = expected ? differences(expected, await fingerprint(client, free.row.layout, free.row.tables)) : ['generation'];
    if (unlike.length === 0) return free.row;
    context.log('a pooled world is not as its seed after a restart of the server, and will be dropped', { world: free.row.id, differs: unlike });
    await client.query("UPDATE trialbed.worlds SET state = 'dropping' WHERE id = $1", [free.row.id]);
  }
}

async function makeSchema(
  client: pg.PoolClient,
  id: string,
  layout: Layout,
  environment: LoadedEnvironment,
  blueprint: Blueprint,
  lease: Lease,
): Promise<PooledWorld> {
  const built = await buildContent(client, layout, id, environment.environment, blueprint);
  await createRole(client, built.layout, id, null);
  await checkGeneration(client, environment.generation, await fingerprint(client, built.layout, built.tables));
  await keepSeedRows(client, environment.generation, built.tables);
  await insertWorld(
    client,
    {
      id,
      generation: environment.generation,
      isolation: 'schema',
      services: servicesOf(environment),
      stamp: await catalogueStamp(client, built.layout),
      ...built,
    },
    lease,
  );
  return { id, ...built };
}

/** A database on the host, or a server in a container: not in one transaction, so the registry knows of it before it is there. */
async function provisionServer(
  context: ProvisionContext,
  environment: LoadedEnvironment,
  blueprint: Blueprint,
  lease: Lease,
  isolation: LeaseRequest['isolation'],
  snapshot: WorldSnapshot | null,
): Promise<WorldRow> {
  const { host, failpoint } = context;
  // A connection of its own holds the owner's lock meanwhile: one of the pool would be one that the work below waits for.
  const guard = new pg.Client({ connectionString: withDatabase(host.adminUrl, WORLDS_DATABASE), application_name: 'trialbed provision' });
  guard.on('error', () => undefined);
  await guard.connect();
  try {
    await guard.query('BEGIN');
    await lockOwner(guard, lease.owner);
    const known = await worldByOwner(host.admin, lease.owner);
    if (known?.state === 'leased') return known;
    // Half made by a process that is gone.
    if (known) await dropWorld(host, known, failpoint);
    const id = context.id();
    const direct = isolation !== 'schema';
    const container = isolation === 'container';
    const served = environment.environment.toolServer !== undefined;
    const layout: Layout = {
      database: container ? 'world' : `w_${id}`,
      ...schemasInDatabase(blueprint),
      role: `w_${id}`,
      direct,
      ...(served && { serverRole: `w_${id}_server` }),
    };
    const placeholder = { id, generation: environment.generation, isolation: container ? ('container' as const) : ('database' as const) };
    await insertWorld(host.admin, { ...placeholder, layout, services: servicesOf(environment), tables: {}, sequences: {}, stamp: null }, lease);
    try {
      const adminUrl = container
        ? await makeContainer(context, id, environment, blueprint, layout)
        : await cloneTemplate(context, id, environment, blueprint, layout);
      failpoint('database_made_before_leased');
      const built = requireRow(await worldByOwner(host.admin, lease.owner), id);
      const epoch = await inDatabase(withDatabase(adminUrl, layout.database), async (client) => {
        await createRole(client, built.layout, id, direct ? { password: lease.agentSecret } : null);
        await createServerRole(client, built.layout, id, lease.serverSecret);
        for (const role of [...(direct ? [layout.role] : []), ...(layout.serverRole ? [layout.serverRole] : [])]) {
          await changeDatabase(client, `GRANT CONNECT ON DATABASE ${escapeIdentifier(layout.database)} TO ${escapeIdentifier(role)}`);
        }
        await checkGeneration(host.admin, environment.generation, await fingerprint(client, built.layout, built.tables));
        return begin(client, built, lease, snapshot);
      });
      const leased = requireRow(await setLeased(host.admin, id, epoch, servicesOf(environment), lease), id);
      await count(host.admin, 'made');
      return leased;
    } catch (error) {
      await dropWorld(host, { ...placeholder, layout }, failpoint).catch((problem: unknown) =>
        context.log('a world that could not be made is left for the sweeper', { world: id, err: problem }),
      );
      throw error;
    }
  } finally {
    await guard.end().catch(() => undefined);
  }
}

async function cloneTemplate(context: ProvisionContext, id: string, environment: LoadedEnvironment, blueprint: Blueprint, layout: Layout): Promise<string> {
  const { host } = context;
  const template = await ensureTemplate(host, environment, blueprint);
  const name = escapeIdentifier(layout.database);
  await host.admin.query(`CREATE DATABASE ${name} TEMPLATE ${escapeIdentifier(template.database)}`);
  await host.admin.query(`COMMENT ON DATABASE ${name} IS ${pg.escapeLiteral(`trialbed world ${id}`)}`);
  // Privileges on a database are not copied with it. Those inside it are.
  await closeDatabase(host.admin, layout.database);
  // Databases that were made since the host was prepared are open to every role.
  if (layout.direct) await withClient(host.admin, (client) => closeOtherDatabases(client, host.kind !== 'external'));
  await setBuilt(host.admin, id, { ...template, layout: inThisWorld(template.layout, layout) });
  return host.adminUrl;
}

async function makeContainer(context: ProvisionContext, id: string, environment: LoadedEnvironment, blueprint: Blueprint, layout: Layout): Promise<string> {
  const { host } = context;
  // From now on a sweep asks the container engine too.
  await host.admin.query("INSERT INTO trialbed.settings (name, value) VALUES ('containers', 'used') ON CONFLICT DO NOTHING");
  const { rows } = await host.admin.query<{ workflow_id: string | null; lease_until: Date }>(
    'SELECT workflow_id, lease_until FROM trialbed.worlds WHERE id = $1',
    [id],
  );
  const lease = requireRow(rows[0] ?? null, id);
  const server = await startContainer({
    registry: host.registry,
    world: id,
    workflowId: lease.workflow_id,
    leaseUntil: lease.lease_until,
    labels: await context.containerLabels(),
    image: context.image,
  });
  context.failpoint('container_started_before_registered');
  const toolPassword = secret();
  await host.admin.query('UPDATE trialbed.worlds SET container = $2 WHERE id = $1', [id, JSON.stringify({ ...server, toolPassword })]);
  await inDatabase(server.adminUrl, (client) => ensureToolRole(client, toolPassword));
  const outside = new pg.Client({ connectionString: server.adminUrl });
  outside.on('error', () => undefined);
  await outside.connect();
  try {
    await outside.query(`CREATE DATABASE ${escapeIdentifier(layout.database)} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
    await closeOtherDatabases(outside, true);
  } finally {
    await outside.end();
  }
  const built = await inDatabase(withDatabase(server.adminUrl, layout.database), async (client) => {
    const content = await buildContent(client, layout, id, environment.environment, blueprint);
    await restrictDatabase(client, layout.database, { shared: false });
    return content;
  });
  await setBuilt(host.admin, id, { ...built, layout: inThisWorld(built.layout, layout) });
  return server.adminUrl;
}

/** Where the parts of a template lie in one world. */
function inThisWorld(of: Layout, { database, role, direct, serverRole }: Layout): Layout {
  return { ...of, database, role, direct, ...(serverRole && { serverRole }) };
}

/** The door opens, the case's initial state is applied, and a snapshot on top of it where there is one. */
async function begin(client: pg.ClientBase, world: PooledWorld, lease: Lease, snapshot: WorldSnapshot | null): Promise<number> {
  const epoch = await openDoor(client, world.layout, { now: lease.kase.clock, timezone: lease.kase.timezone });
  await applyState(client, world.layout, world.tables, lease.kase.state);
  if (snapshot) await applySnapshot(client, world.layout, world.tables, epoch, snapshot);
  return epoch;
}

async function inDatabase<T>(url: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const pool = openPool({ url, max: 1, name: 'trialbed build' });
  try {
    return await inTransaction(pool, work);
  } finally {
    await pool.end();
  }
}

type PooledWorld = Pick<WorldRow, 'id' | 'layout' | 'tables' | 'sequences'>;

function servicesOf(environment: LoadedEnvironment): WorldRow['services'] {
  const { services, runtime } = environment.environment;
  return {
    inbox: services?.inbox ?? null,
    tickets: services?.tickets ?? null,
    patienceSeconds: runtime?.timeoutSeconds ?? DEFAULT_RUNTIME.timeoutSeconds,
  };
}

function requireRow<Row>(row: Row | null, id: string): Row {
  if (!row) throw new Error(`the registry lost the row of world ${id}`);
  return row;
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}
