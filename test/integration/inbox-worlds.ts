import { createHash } from 'node:crypto';
import type { LateAttempt, MailEffect, RowEffect } from '../../src/domain/effect.ts';
import type { DrawnRule } from '../../src/domain/fault.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { defineEnvironment, type InboxOptions } from '../../src/environments/define.ts';
import type { ServiceDirectory } from '../../src/environments/services.ts';
import type { LoadedEnvironment, World, WorldCredentials } from '../../src/environments/world.ts';
import { createWorlds } from '../../src/environments/worlds/worlds.ts';

/** Real worlds with two tables for the ticket service, and what a test asks of them. */
export interface ServiceWorlds extends AsyncDisposable {
  readonly directory: ServiceDirectory;
  make(inbox?: InboxOptions, faults?: readonly DrawnRule[]): Promise<ServiceWorld>;
}

export interface ServiceWorld {
  readonly id: string;
  readonly credentials: WorldCredentials;
  readonly world: World;
  fence(): Promise<unknown>;
  mails(): Promise<readonly MailEffect[]>;
  /** Messages as stored, in order. */
  raws(): Promise<readonly Buffer[]>;
  late(): Promise<readonly LateAttempt[]>;
  /** Row changes as `table change operation`. */
  changes(): Promise<readonly string[]>;
  /** Rows of a table as its changes left them. */
  rows(table: string): Promise<readonly JsonObject[]>;
}

export async function openServiceWorlds(postgresUrl: string): Promise<ServiceWorlds> {
  const worlds = await createWorlds({
    hosts: [{ name: 'test', kind: 'external', adminUrl: postgresUrl }],
    connections: 20,
    failpoint: () => undefined,
    image: 'postgres:18',
  });
  const made: World[] = [];
  const run = `services-${process.pid}`;
  return {
    directory: worlds,
    async make(inbox = {}, faults = []) {
      const ref = await worlds.provision(environment(inbox), {
        owner: `${run}-${made.length}-${performance.now()}`,
        workflowId: run,
        isolation: 'schema',
        leaseMs: 600_000,
        kase: { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] },
        faults,
      });
      const world = await worlds.open(ref);
      made.push(world);
      const effects = async () => (await world.observe()).effects;
      const changes = async () => (await effects()).filter((effect): effect is RowEffect => effect.kind === 'row');
      return {
        id: ref.id,
        credentials: await world.credentials(),
        world,
        fence: () => world.fence({ drainMs: 1_000 }),
        mails: async () => (await effects()).filter((effect): effect is MailEffect => effect.kind === 'mail'),
        raws: async () => (await world.snapshot()).rawMails.map(({ raw }) => Buffer.from(raw, 'base64')),
        late: async () => (await world.observe()).lateAttempts,
        changes: async () => (await changes()).map(({ table, change, operation }) => `${table} ${change} ${operation}`),
        rows: async (table) => {
          const rows = new Map<string, JsonObject>();
          for (const effect of await changes()) {
            if (effect.table !== table) continue;
            const key = JSON.stringify(effect.key);
            if (effect.after === null) rows.delete(key);
            else rows.set(key, effect.after);
          }
          return [...rows.values()];
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const world of made) await world.release({ reuse: false });
      await worlds[Symbol.asyncDispose]();
    },
  };
}

const environments = new Map<string, LoadedEnvironment>();

function environment(inbox: InboxOptions): LoadedEnvironment {
  const generation = createHash('sha256')
    .update(`services ${JSON.stringify(inbox)}`)
    .digest('hex');
  const known = environments.get(generation);
  if (known) return known;
  const loaded: LoadedEnvironment = {
    environment: defineEnvironment({
      name: 'services',
      version: '1',
      schema: [new URL('./inbox-schema.sql', import.meta.url)],
      seed: [],
      services: { inbox, tickets: { tickets: 'tickets', comments: 'comments' } },
      tools: [],
    }),
    source: { file: import.meta.filename, options: {} },
    generation,
    policy: null,
    toolSchemas: [],
  };
  environments.set(generation, loaded);
  return loaded;
}
