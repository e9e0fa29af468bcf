import type { Effect } from '../domain/effect.ts';
import type { JsonObject } from '../domain/json.ts';
import type { TableFacts } from '../domain/record.ts';
import type { LiveCall } from '../environments/world.ts';

/** What one world has at one real service: an account and what belongs to it alone. */
export interface Space {
  /** Of the account and of all that is made for the world; begins with {@link TAG}. */
  readonly name: string;
  /** Password of the account. Worked out from the service's secret and the name, and kept nowhere. */
  readonly password: string;
  /** When the world's lease ends: what is left after it may be cleaned up by anybody of ours. */
  readonly until: Date;
  /** What the case's clock is before real time, in milliseconds. A real service has real time. */
  readonly shiftMs: number;
  /** The user that the agent acts for. */
  readonly actsFor: string;
  /** What `provision` gave. */
  readonly kept: JsonObject;
  /** Rows of the world's database, which hold the start. */
  readonly rows: (table: string) => Promise<readonly JsonObject[]>;
}

/** Everything of ours at a real service has a name that begins so; nothing else is ever cleaned up. */
export const TAG = 'trialbed-';

/** A request with an effect that was sent for an operation. What it said is kept as digests. */
export interface LiveRequest {
  /** In order of sending. */
  readonly number: number;
  readonly operation: string;
  readonly attempt: number;
  /** As the service's client noted it before it was sent. */
  readonly sent: JsonObject;
  /** What was answered; null: nothing that could be read. */
  readonly answered: JsonObject | null;
}

/** Keeps what is sent for an operation, before it is sent, so that effects can be told apart later. */
export interface RequestLog {
  sent(request: JsonObject): Promise<number>;
  answered(number: number, answer: JsonObject): Promise<void>;
}

/** What a real service shows of a space. */
export interface Observed {
  /** In order, with `seq` from 1. */
  readonly effects: readonly Effect[];
  /** Operations of which it cannot say whether it did what they asked. */
  readonly open: ReadonlySet<string>;
  /** Tables of the effects that the world's database does not have. */
  readonly tables: { readonly [table: string]: TableFacts };
  /** The product and its version as it named itself, such as `Request Tracker 5.0.3`. */
  readonly version: string;
}

/** One real service, as worlds are made on it. */
export interface LiveService<Client> {
  /** Makes the account and its part of the service. Never called twice for one name. What it gives is kept with the world, and holds no secret. */
  provision(space: Omit<Space, 'kept'>): Promise<JsonObject>;
  client(space: Space, call: LiveCall, log: RequestLog): Client;
  /** Ends the account. What is under way there cannot be stopped; it is given `drainMs`. Idempotent. */
  fence(space: Space, options: { readonly drainMs: number }): Promise<void>;
  /** What really changed, whoever changed it. */
  observe(space: Space, requests: readonly LiveRequest[]): Promise<Observed>;
  /** Removes what was made under this name. Idempotent; also where provisioning ended halfway. */
  release(name: string): Promise<void>;
}
