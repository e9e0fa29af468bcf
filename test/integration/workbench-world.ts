import { fileURLToPath } from 'node:url';
import type { RowEffect } from '../../src/domain/effect.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { Tool, ToolContext, WorldMail, WorldTickets } from '../../src/environments/define.ts';
import { loadEnvironment } from '../../src/environments/load.ts';
import type { LoadedEnvironment, World, Worlds } from '../../src/environments/world.ts';
import { createWorlds } from '../../src/environments/worlds/worlds.ts';

/** Makes office worlds one after another, and calls tools in them without a workflow. */
export interface Bench extends AsyncDisposable {
  readonly tools: readonly Tool[];
  open(): Promise<OfficeWorld>;
}

/** One world. Disposing it gives it back to the pool. */
export interface OfficeWorld extends AsyncDisposable {
  /** What the tool replied. @throws what the tool throws; the transaction is then rolled back. */
  call(tool: string, args: JsonObject): Promise<Json>;
  /** Gross changes of rows so far. */
  effects(): Promise<readonly RowEffect[]>;
}

export async function openBench(postgresUrl: string, options: JsonObject): Promise<Bench> {
  const worlds = await createWorlds({
    hosts: [{ name: 'test', kind: 'external', adminUrl: postgresUrl }],
    connections: 4,
    failpoint: () => undefined,
    image: 'postgres:18',
  });
  const environment = await loadEnvironment({ file: fileURLToPath(new URL('../../src/environments/workbench/pack.ts', import.meta.url)), options });
  let opened = 0;
  return {
    tools: environment.environment.tools,
    open: () => {
      opened += 1;
      return openWorld(worlds, environment, `workbench-${process.pid}-${opened}`);
    },
    [Symbol.asyncDispose]: () => worlds[Symbol.asyncDispose](),
  };
}

async function openWorld(worlds: Worlds, environment: LoadedEnvironment, owner: string): Promise<OfficeWorld> {
  const ref = await worlds.provision(environment, {
    owner,
    workflowId: owner,
    isolation: 'schema',
    leaseMs: 600_000,
    kase: { clock: '2023-11-30T00:00:00+00:00', timezone: 'UTC', state: [] },
  });
  const world = await worlds.open(ref);
  let calls = 0;
  return {
    call: (tool, args) => {
      calls += 1;
      return callTool(world, environment, `op${calls}`, tool, args);
    },
    effects: async () => (await world.observe()).effects.filter((effect) => effect.kind === 'row'),
    async [Symbol.asyncDispose]() {
      await world.fence({ drainMs: 1_000 });
      await world.release();
    },
  };
}

async function callTool(world: World, environment: LoadedEnvironment, id: string, name: string, args: JsonObject): Promise<Json> {
  const tool = environment.environment.tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const checked = tool.input.parse(args);
  await world.ledger.propose({ id, tool: name, args, idempotencyKey: null, refusal: null });
  const operation = { id, attempt: 1 };
  return world.transact(operation, async (db) => {
    const context: ToolContext = {
      operation,
      permission: { user: 'sam', role: 'assistant', tools: [], attributes: {} },
      now: new Date('2023-11-30T00:00:00Z'),
      timezone: 'UTC',
      db,
      mail: noService as WorldMail,
      tickets: noService as WorldTickets,
      traceHeaders: {},
      signal: new AbortController().signal,
    };
    const value = tool.result.parse(await tool.run(checked, context)) as Json;
    return { value, result: value };
  });
}

/** These tools use no service: touching one fails. */
const noService = new Proxy(
  {},
  {
    get: (_, property) => {
      throw new Error(`the office world has no service (${String(property)})`);
    },
  },
) as unknown;
