import { createHash } from 'node:crypto';
import type { JsonObject } from '../../domain/json.ts';
import { type ModelCall, type ModelRoute, priceOf } from '../../domain/model.ts';
import { type ModelBudget, NOTHING_SPENT, overdrawn, spend, unmeasured as unmeasuredIn, usedUp } from '../../domain/model-budget.ts';
import { isObject } from '../../domain/text/bounded.ts';
import { redactJson, type Redaction } from '../../models/redact.ts';
import type { WireMessage } from './wire.ts';

/** One message as it is kept: redacted and bounded. */
export interface KeptMessage {
  readonly who: 'agent';
  readonly agent: string | null;
  readonly seq: number;
  readonly role: WireMessage['role'];
  readonly call: string | null;
  readonly body: JsonObject;
}

export interface ModelAccountOptions {
  /** Which agent of several; null: the trial's only one. */
  readonly agent: string | null;
  /** Ways to models that the agent's description names. */
  readonly routes: readonly ModelRoute[];
  readonly budget: ModelBudget;
  readonly redaction: Redaction;
  readonly now: () => Date;
  /** What an earlier worker has recorded of the attempt: its calls, and how many messages. Default: none. */
  readonly before?: { readonly calls: readonly ModelCall[]; readonly messages: number };
  /** Hears for how many milliseconds a route is waited for. Default: nobody does. */
  readonly waits?: (ms: number) => void;
  /** Stores a call, and what was said for the first time. */
  readonly record: (call: ModelCall, messages: readonly KeptMessage[]) => Promise<void>;
}

/** Of one attempt; what comes after is not kept. */
const MAX_KEPT_MESSAGES = 5_000;
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Calls that spans may tell of, in one attempt. */
const MAX_TOLD = 10_000;

/** What a call came to, beside what it always has. */
export type CallEnd = Pick<
  ModelCall,
  'id' | 'source' | 'route' | 'url' | 'model' | 'reported' | 'parameters' | 'seed' | 'usage' | 'latencyMs' | 'tries' | 'end' | 'problem'
>;

/** What a call has made of the budget. */
export interface Exceeded {
  /** Why the agent's work ends here; null: it goes on. */
  readonly over: string | null;
  /** Why the budget cannot be kept at all; null: it can. */
  readonly unmeasured: string | null;
}

/** The model calls of one attempt's agent: counted against its budget, recorded with what was said. */
export class ModelAccount {
  readonly routes: readonly ModelRoute[];
  private readonly options: ModelAccountOptions;
  private redaction: Redaction;
  private spent = NOTHING_SPENT;
  /** Calls that were admitted and have not ended. */
  private open = 0;
  private ids = 0;
  private passed = false;
  private kept = 0;
  private characters = 0;
  /** Beginnings of conversations that are kept, by hash; with `true`, also the reply that followed. */
  private readonly beginnings = new Map<string, boolean>();
  private readonly toldOf = new Set<string>();

  /** A route is waited for, for so many milliseconds. */
  readonly waits: (ms: number) => void;

  constructor(options: ModelAccountOptions) {
    this.options = options;
    this.routes = options.routes;
    this.waits = options.waits ?? (() => undefined);
    this.redaction = options.redaction;
    const { calls = [], messages = 0 } = options.before ?? {};
    for (const { usage, price } of calls) this.spent = spend(this.spent, usage, price);
    for (const { id, source } of calls) if (source === 'otlp') this.toldOf.add(id);
    this.ids = calls.length;
    this.kept = messages;
    this.passed = calls.some(({ source, agent }) => source === 'gateway' && agent === options.agent);
  }

  /** Takes a secret out of all that is kept from now on. */
  hide(name: string, value: string): void {
    this.redaction = { ...this.redaction, secrets: { ...this.redaction.secrets, [name]: value } };
  }

  /** Calls went through the gateway, so that what spans tell of calls is known already. */
  get measured(): boolean {
    return this.passed;
  }

  /** Admits a call: its id, or why the budget has none left. Those under way count as steps. */
  admit(): { readonly id: string } | { readonly refusal: string } {
    const refusal = usedUp(this.options.budget, { ...this.spent, steps: this.spent.steps + this.open });
    if (refusal !== null) return { refusal };
    this.passed = true;
    this.open++;
    return { id: `gateway-${++this.ids}` };
  }

  /** Ends a call that was admitted. `said`: the whole conversation, the reply last where there was one. @throws what the store threw */
  async finish(call: CallEnd, said: readonly WireMessage[], replied: boolean): Promise<Exceeded> {
    this.open--;
    return this.count(call, this.fresh(said, call.id, replied));
  }

  /** Counts a call that somebody else made and told of. @throws what the store threw */
  async told(call: CallEnd): Promise<Exceeded> {
    // An exporter that heard no answer sends its spans again.
    if (this.toldOf.has(call.id) || this.toldOf.size >= MAX_TOLD) return { over: null, unmeasured: null };
    this.toldOf.add(call.id);
    const { over, unmeasured } = await this.count(call, []);
    return { over: over ?? usedUp(this.options.budget, this.spent), unmeasured };
  }

  private async count(call: CallEnd, messages: readonly KeptMessage[]): Promise<Exceeded> {
    const { agent, now, record, budget } = this.options;
    const route = this.routes.find(({ name }) => name === call.route) ?? this.routes.find(({ model }) => model === call.model);
    const price = priceOf(call.usage, route?.prices ?? null);
    this.spent = spend(this.spent, call.usage, price);
    const parameters = redactJson(call.parameters, this.redaction) as JsonObject;
    await record({ ...call, parameters, who: 'agent', agent, price, at: now().toISOString() }, messages);
    const counts = call.end === 'replied' && call.problem === null;
    const unmeasured =
      counts && unmeasuredIn(budget, call.usage, price) !== null
        ? `calls of ${call.route} tell no tokens, or have no prices in the budget's currency, so a budget of tokens or money cannot be kept`
        : null;
    return { over: overdrawn(budget, this.spent), unmeasured };
  }

  /** Each request repeats the conversation so far: what was kept of it before is not kept again. */
  private fresh(said: readonly WireMessage[], call: string, replied: boolean): KeptMessage[] {
    const fresh: KeptMessage[] = [];
    let beginning = '';
    for (const [index, message] of said.entries()) {
      const before = beginning;
      beginning = createHash('sha256').update(before).update(JSON.stringify(message)).digest('base64url');
      const known = this.beginnings.has(beginning);
      // A reply comes back in the agent's own words for it.
      const isReply = message.role === 'assistant' && this.beginnings.get(before) === true;
      if (!known) this.beginnings.set(beginning, false);
      if (known || isReply) continue;
      const kept = this.keep(message, call);
      if (kept) fresh.push(kept);
      if (replied && index === said.length - 1) this.beginnings.set(before, true);
    }
    return fresh;
  }

  private keep({ role, body }: WireMessage, call: string): KeptMessage | null {
    if (this.kept >= MAX_KEPT_MESSAGES || this.characters >= MAX_KEPT_CHARACTERS) return null;
    const clean = redactJson(body, this.redaction);
    this.characters += JSON.stringify(clean).length;
    return { who: 'agent', agent: this.options.agent, seq: ++this.kept, role, call, body: isObject(clean) ? clean : { content: clean } };
  }
}
