import { fileURLToPath } from 'node:url';
import type { RowEffect } from '../../src/domain/effect.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { type ToolContext, ToolFailure, type WorldMail, type WorldTickets } from '../../src/environments/define.ts';
import { loadEnvironment } from '../../src/environments/load.ts';
import type { LoadedEnvironment, World, Worlds } from '../../src/environments/world.ts';
import { createWorlds } from '../../src/environments/worlds/worlds.ts';

/** Makes shops one after another, and calls tools in them without a workflow. */
export interface Mall extends AsyncDisposable {
  readonly environment: LoadedEnvironment;
  open(): Promise<ShopWorld>;
}

/** One world. Disposing it gives it back to the pool. */
export interface ShopWorld extends AsyncDisposable {
  /** What an agent is told: the result, or the text of the refusal. */
  call(tool: string, args: JsonObject): Promise<string>;
  /** Gross changes of rows so far. */
  effects(): Promise<readonly RowEffect[]>;
  /** What a trial of these calls would be graded by, with the agent's one message. */
  record(answer: string): Promise<Omit<TrialRecord, 'referenceEffects'>>;
}

export async function openMall(postgresUrl: string, data: string): Promise<Mall> {
  const worlds = await createWorlds({
    hosts: [{ name: 'test', kind: 'external', adminUrl: postgresUrl }],
    connections: 4,
    failpoint: () => undefined,
    image: 'postgres:18',
  });
  const environment = await loadEnvironment({ file: fileURLToPath(new URL('../../src/environments/retail/pack.ts', import.meta.url)), options: { data } });
  let opened = 0;
  return {
    environment,
    open: () => {
      opened += 1;
      return openWorld(worlds, environment, `retail-${process.pid}-${opened}`);
    },
    [Symbol.asyncDispose]: () => worlds[Symbol.asyncDispose](),
  };
}

async function openWorld(worlds: Worlds, environment: LoadedEnvironment, owner: string): Promise<ShopWorld> {
  const ref = await worlds.provision(environment, {
    owner,
    workflowId: owner,
    isolation: 'schema',
    leaseMs: 600_000,
    kase: { clock: '2024-05-15T15:00:00-04:00', timezone: 'America/New_York', state: [] },
  });
  const world = await worlds.open(ref);
  const operations: Operation[] = [];
  return {
    async call(tool, args) {
      const operation = await operate(world, environment, operations.length + 1, tool, args);
      operations.push(operation);
      return operation.problem?.message ?? String(operation.result);
    },
    effects: async () => (await world.observe()).effects.filter((effect) => effect.kind === 'row'),
    async record(answer) {
      const { effects, lateAttempts, tables } = await world.observe();
      const messages = [{ turn: 1, from: 'agent' as const, text: answer }];
      return { ending: 'completed', operations, effects, messages, lateAttempts, tables, problem: null };
    },
    async [Symbol.asyncDispose]() {
      await world.fence({ drainMs: 1_000 });
      await world.release();
    },
  };
}

async function operate(world: World, environment: LoadedEnvironment, seq: number, name: string, args: JsonObject): Promise<Operation> {
  const tool = environment.environment.tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const checked = tool.input.parse(args);
  const id = `op-${seq}`;
  await world.ledger.propose({ id, tool: name, args, idempotencyKey: null, refusal: null });
  const operation = { id, attempt: 1 };
  const facts = { id, seq, tool: name, effect: tool.effect, args, idempotencyKey: null, position: seq, durationMs: 0, at: NOW, disturbed: false };
  try {
    const result = await world.transact(operation, async (db) => {
      const context: ToolContext = {
        operation,
        permission: { user: 'test', role: 'agent', tools: [], attributes: {} },
        now: new Date(NOW),
        timezone: 'America/New_York',
        db,
        mail: noService as WorldMail,
        tickets: noService as WorldTickets,
        traceHeaders: {},
        signal: new AbortController().signal,
      };
      const value = tool.result.parse(await tool.run(checked, context)) as string;
      return { value, result: value };
    });
    return { ...facts, told: 'committed', known: 'committed', result, problem: null };
  } catch (error) {
    if (!(error instanceof ToolFailure) || !tool.failures?.includes(error.code)) throw error;
    const problem = { code: error.code, message: error.message };
    await world.ledger.settle(id, 1, { state: 'failed', problem, durationMs: 0 });
    return { ...facts, told: 'failed', known: 'failed', result: null, problem };
  }
}

const NOW = '2024-05-15T19:00:00Z';

/** These tools use no service: touching one fails. */
const noService = new Proxy(
  {},
  {
    get: (_, property) => {
      throw new Error(`the shop has no service (${String(property)})`);
    },
  },
) as unknown;
