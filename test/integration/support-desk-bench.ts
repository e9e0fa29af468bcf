import { toolServersAt } from '../../src/client/tool-servers.ts';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { buildRecord } from '../../src/activities/build-record.ts';
import { checkCall } from '../../src/activities/check-call.ts';
import { type OperationNote, SCRIPT_START } from '../../src/activities/contract.ts';
import { operate, WITHOUT_FAULTS } from '../../src/activities/operate.ts';
import { playStep } from '../../src/activities/play-script.ts';
import type { ActivityServices } from '../../src/activities/services.ts';
import type { Case, Solution } from '../../src/domain/case.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Message, TrialRecord } from '../../src/domain/record.ts';
import type { AgentSession, CallResult, ModuleAgent } from '../../src/environments/agent.ts';
import { ToolFailure } from '../../src/environments/define.ts';
import { startInbox } from '../../src/environments/inbox/inbox.ts';
import { loadEnvironment } from '../../src/environments/load.ts';
import { startTickets } from '../../src/environments/tickets/service.ts';
import type { LoadedEnvironment, World } from '../../src/environments/world.ts';
import { createWorlds } from '../../src/environments/worlds/worlds.ts';
import type { Store } from '../../src/store/store.ts';

/** Desks one after another, each a real world with its inbox and its ticket service, and no workflow. */
export interface Bench extends AsyncDisposable {
  readonly environment: LoadedEnvironment;
  /** Plays a case's conversation by a script and returns what a grader reads. */
  play(kase: Case, solution: Solution): Promise<TrialRecord>;
  /** The same by a module agent, here in this process. */
  converse(kase: Case, agent: ModuleAgent, parameters: JsonObject): Promise<TrialRecord>;
  /** A fresh desk for calls one by one. */
  open(kase?: Partial<Pick<Case, 'clock' | 'timezone' | 'state' | 'permission'>>): Promise<Desk>;
}

export interface Desk extends AsyncDisposable {
  readonly world: World;
  call(tool: string, args: JsonObject): Promise<CallResult>;
  record(messages?: readonly Message[]): Promise<TrialRecord>;
}

export async function openBench(postgresUrl: string): Promise<Bench> {
  const log = pino({ level: 'silent' });
  const worlds = await createWorlds({
    hosts: [{ name: 'test', kind: 'external', adminUrl: postgresUrl }],
    connections: 20,
    failpoint: () => undefined,
    image: 'postgres:18',
  });
  const inbox = await startInbox({ directory: worlds, listen: '127.0.0.1', log });
  const tickets = await startTickets({ directory: worlds, listen: '127.0.0.1', log });
  const environment = await loadEnvironment({ file: fileURLToPath(new URL('../../src/environments/support-desk/pack.ts', import.meta.url)), options: {} });
  const services: ActivityServices = {
    store: noStore,
    worlds,
    addresses: { smtp: inbox, tickets: tickets.url },
    toolServers: toolServersAt({ smtp: inbox, tickets: tickets.url }),
    content: { environment: async () => environment, agent: (_hash, spec) => spec },
    log,
    failpoint: () => undefined,
    now: () => new Date(),
  };
  let opened = 0;
  const open: Bench['open'] = async (kase = {}) => {
    opened += 1;
    const owner = `desk-${process.pid}-${opened}-${performance.now()}`;
    const { clock = '2026-03-02T09:30:00+01:00', timezone = 'Europe/Berlin', state = [], permission = AGENT } = kase;
    const ref = await worlds.provision(environment, { owner, workflowId: owner, isolation: 'schema', leaseMs: 600_000, kase: { clock, timezone, state } });
    return new OpenDesk(services, environment, await worlds.open(ref), permission);
  };
  return {
    environment,
    open,
    async play(kase, solution) {
      await using desk = await open(kase);
      return await playScript(desk as OpenDesk, environment, kase, solution);
    },
    async converse(kase, agent, parameters) {
      await using desk = await open(kase);
      return await runAgent(desk, environment, kase, agent, parameters);
    },
    async [Symbol.asyncDispose]() {
      await inbox[Symbol.asyncDispose]();
      await tickets[Symbol.asyncDispose]();
      await worlds[Symbol.asyncDispose]();
    },
  };
}

const AGENT: Case['permission'] = { user: 'mara', role: 'agent', tools: [], attributes: {} };

class OpenDesk implements Desk {
  readonly world: World;
  private readonly services: ActivityServices;
  private readonly environment: LoadedEnvironment;
  private readonly permission: Case['permission'];
  private readonly notes: OperationNote[] = [];

  constructor(services: ActivityServices, environment: LoadedEnvironment, world: World, permission: Case['permission']) {
    this.services = services;
    this.environment = environment;
    this.world = world;
    this.permission = permission;
  }

  async call(tool: string, args: JsonObject): Promise<CallResult> {
    const proposal = checkCall(this.environment.environment, this.permission, { id: `op-${this.notes.length + 1}`, tool, args, idempotencyKey: null });
    await this.world.ledger.propose(proposal);
    return this.dispatch(proposal);
  }

  /** Runs what was proposed, and notes what an agent would be told. */
  async dispatch({ id, tool, refusal }: Pick<ReturnType<typeof checkCall>, 'id' | 'tool' | 'refusal'>): Promise<CallResult> {
    const note = (told: OperationNote['told'], problem: OperationNote['problem']): void => {
      this.notes.push({
        id,
        seq: this.notes.length + 1,
        tool,
        position: refusal ? null : this.notes.length + 1,
        told,
        problem,
        replayOf: null,
        disturbed: false,
      });
    };
    if (refusal) {
      note(refusal.state, refusal.problem);
      return { operation: id, state: refusal.state, result: null, problem: refusal.problem };
    }
    const { services, environment, world, permission } = this;
    try {
      await operate(services, { world, environment, permission, operation: id, tool, dispatch: 1, signal: new AbortController().signal, ...WITHOUT_FAULTS });
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      const declared = environment.environment.tools.find((candidate) => candidate.name === tool)?.failures ?? [];
      if (!declared.includes(error.code)) throw new Error(`${tool} ended as ${error.code}, which it does not declare`, { cause: error });
      const problem = { code: error.code, message: error.message };
      note('failed', problem);
      return { operation: id, state: 'failed', result: null, problem };
    }
    note('committed', null);
    return { operation: id, state: 'committed', result: (await world.ledger.read(id))?.result ?? null, problem: null };
  }

  async record(messages: readonly Message[] = []): Promise<TrialRecord> {
    const { world, environment, notes } = this;
    const request = { trial: 'trial', attempt: 1, world: world.ref, ending: 'completed' as const, problem: null, operations: notes };
    return buildRecord(world, environment.environment, { request, messages, referenceEffects: null });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.fence({ drainMs: 1_000 });
    await this.world.release();
  }
}

async function playScript(desk: OpenDesk, environment: LoadedEnvironment, kase: Case, solution: Solution): Promise<TrialRecord> {
  const messages: Message[] = [];
  const say = async (message: Message): Promise<void> => void messages.push(message);
  let cursor = SCRIPT_START;
  for (;;) {
    const move = await playStep({ world: desk.world, environment, kase, rules: [], solution, say }, cursor);
    if (move.kind === 'end') {
      if (move.problem) throw new Error(`${kase.id}: ${move.problem.message}`);
      return desk.record(messages);
    }
    if (move.kind === 'call') await desk.dispatch({ ...move.call, refusal: move.call.refusal });
    cursor = move.cursor;
  }
}

async function runAgent(desk: Desk, environment: LoadedEnvironment, kase: Case, agent: ModuleAgent, parameters: JsonObject): Promise<TrialRecord> {
  const messages: Message[] = [];
  let turn = 0;
  const session: AgentSession = {
    instructions: `You act for ${kase.permission.user}, whose role is "${kase.permission.role}".\nThe date and time is ${kase.clock} (${kase.timezone}).`,
    tools: environment.toolSchemas,
    parameters,
    services: {},
    call: (tool, args) => desk.call(tool, args),
    async receive() {
      const text = kase.turns[turn];
      if (text === undefined) return null;
      turn += 1;
      messages.push({ turn, from: 'user', text });
      return { turn, text };
    },
    async reply(text, data) {
      messages.push({ turn, from: 'agent', text, data: data ?? null });
    },
  };
  await agent(session);
  return desk.record(messages);
}

/** Calls need no store: touching it fails. */
const noStore = new Proxy(
  {},
  {
    get: (_, property) => {
      throw new Error(`the bench has no store (${String(property)})`);
    },
  },
) as Store;
