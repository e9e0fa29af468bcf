import type { Json, JsonObject } from '../../../../../domain/json.ts';
import type { AgentSession, CallResult } from '../../../../agent.ts';
import { type Deed, type Hands, NoAnswer } from './hands.ts';

/** Refusals that pass: the same call may be made again after a while. Any other refusal has its reason in the matter. */
const PASSING = ['rate_limited', 'unavailable', 'mail_unavailable', 'malformed_reply', 'payload_too_large', 'timeout'];

const TRIES = 4;
const PATIENCE_SECONDS = 60;

/** Never twice without a look: where an outcome is unknown it asks what became of the operation, and it waits as long as it is told to. */
export class CarefulHands implements Hands {
  readonly session: AgentSession;
  private keys = 0;

  constructor(session: AgentSession) {
    this.session = session;
  }

  async read(tool: string, args: JsonObject): Promise<JsonObject> {
    const call = await this.insist(tool, args, (lost) => Promise.resolve({ ...lost, state: 'failed' }));
    if (call.state === 'committed') return object(call.result);
    throw new NoAnswer(`${tool} gave no answer (${reasonOf(call)})`);
  }

  async write(tool: string, args: JsonObject): Promise<Deed> {
    const call = await this.insist(tool, args, (lost) => this.lookUp(lost));
    if (call.state === 'committed') return { state: 'done' };
    return { state: call.state === 'unknown' ? 'unknown' : 'not_done', why: reasonOf(call) };
  }

  giveUp(_request: string, { message }: NoAnswer): string {
    return `I changed nothing: ${message}.`;
  }

  /** Calls again where the last call is known to have had no effect and its reason passes. `settle` finds out about an unknown outcome. */
  private async insist(tool: string, args: JsonObject, settle: (lost: CallResult) => Promise<CallResult>): Promise<CallResult> {
    // Where a tool takes a key, a request that arrives twice is carried out once.
    const key = this.takesKey(tool) ? { idempotencyKey: `${tool}-${++this.keys}` } : {};
    let asked = args;
    for (let tries = 1; ; tries++) {
      const told = await this.session.call(tool, asked, key);
      const call = told.state === 'unknown' ? await settle(told) : told;
      if (tries === TRIES) return call;
      const renamed = call.state === 'rejected' ? inNewNames(asked, call) : null;
      if (renamed !== null) asked = renamed;
      else if (call.state === 'failed' && PASSING.includes(call.problem?.code ?? '')) await this.pause(call);
      else return call;
    }
  }

  private takesKey(name: string): boolean {
    const tool = this.session.tools.find((candidate) => candidate.name === name);
    return Object.hasOwn(object(tool?.inputSchema['properties'] ?? null), 'idempotency_key');
  }

  /** What became of an operation, from the desk's own journal. It stays unknown where the journal does not say. */
  private async lookUp(lost: CallResult): Promise<CallResult> {
    for (let tries = 1; tries < TRIES; tries++) {
      const look = await this.session.call('get_operation', { operation: lost.operation });
      const found = object(look.result);
      if (found['state'] === 'committed') return { ...lost, state: 'committed', result: found['result'] ?? null };
      if (found['state'] === 'failed') return { ...lost, state: 'failed', problem: (found['problem'] as CallResult['problem']) ?? lost.problem };
      await this.pause(look);
    }
    return lost;
  }

  private async pause({ problem }: CallResult): Promise<void> {
    await this.session.call('wait', { seconds: Math.max(problem?.retryAfterSeconds ?? PATIENCE_SECONDS, 1) });
  }
}

/** The arguments as a changed contract wants them; null where the refusal names no new names. */
function inNewNames(args: JsonObject, { problem }: CallResult): JsonObject | null {
  const names = new Map([...(problem?.message ?? '').matchAll(/(\w+) is now called (\w+)/g)].map(([, before = '', now = '']) => [before, now]));
  if (names.size === 0) return null;
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]));
}

function reasonOf({ state, problem }: CallResult): string {
  return problem === null ? state : problem.message.replace(/\.$/, '');
}

function object(value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
