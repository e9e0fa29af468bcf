import type { ApprovalNeed, PreviewRows } from '../domain/approval.ts';
import type { Case } from '../domain/case.ts';
import type { ReplayedRoute } from '../domain/cassette.ts';
import type { Effect, LateAttempt, MailEffect } from '../domain/effect.ts';
import type { DrawnRule, Fault, FaultKind, InjectedFault } from '../domain/fault.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';
import type { RecordedFaults, TableFacts } from '../domain/record.ts';
import type { LockWait } from '../postgres/lock-waits.ts';
import type { PinnedTool } from './pinned-tools.ts';
import type { Environment, InboxOptions, PreviewQuery, TicketsOptions, WorldMail, WorldSql, WorldTickets } from './define.ts';

/** `schema`: pooled, a schema and a role in a shared database. `database`: a template clone. `container`: a Postgres of its own. */
export type Isolation = 'schema' | 'database' | 'container';

/** An environment with the hash of everything that can change a result. */
export interface LoadedEnvironment {
  readonly environment: Environment;
  /** Short name and file, as a suite names them; how a worker finds it again. */
  readonly source: EnvironmentSource;
  /** sha256, hexadecimal. */
  readonly generation: string;
  readonly policy: string | null;
  readonly toolSchemas: readonly ToolSchema[];
  /** What its tool server has been pinned to say; absent or empty without one. */
  readonly pinned?: readonly PinnedTool[];
}

/** How to load an environment: the absolute path of the pack's file and the suite's options. */
export interface EnvironmentSource {
  readonly file: string;
  readonly options: JsonObject;
}

/** A tool as an agent is told of it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly effect: 'read' | 'write' | 'external';
}

/** Names a world; small enough to travel through workflow history. Holds no secret. */
export interface WorldRef {
  /** Lower-case letters and digits; the schema is `w_<id>`. */
  readonly id: string;
  /** Which Postgres host holds it. */
  readonly host: string;
  readonly isolation: Isolation;
  readonly epoch: number;
  /** It has accounts at real services. Absent: all of its services are fixtures. */
  readonly live?: true;
}

export interface LeaseRequest {
  /** Trial attempt that owns the world: asking again with the same owner gives the same world. */
  readonly owner: string;
  /** For the sweeper: the workflow that must be alive while the lease stands. Null: a process holds the world, and only time ends the lease. */
  readonly workflowId: string | null;
  readonly isolation: Isolation;
  /** Milliseconds of real time, from now. */
  readonly leaseMs: number;
  readonly kase: Pick<Case, 'clock' | 'timezone' | 'state' | 'cassette'> & Partial<Pick<Case, 'permission'>>;
  /** Nobody acts in it: it gets no accounts at real services. Default: it does. */
  readonly bare?: true;
  /** Rules of the trial's fault schedule, drawn; absent or empty: none. The world keeps them for its services. */
  readonly faults?: readonly DrawnRule[];
}

/** Which of these workflows are closed. One that Temporal does not know counts as closed, unless told otherwise. */
export type ClosedWorkflows = (workflowIds: readonly string[], options?: { readonly unknownIsClosed: boolean }) => Promise<ReadonlySet<string>>;

export interface OpenOptions {
  /**
   * Where this process has seen the lease stand it is not asked for again: for whoever begins with a question to the world itself, which knows its lease by the epoch.
   * Default false.
   */
  readonly seen?: boolean;
}

/** Makes, finds, fences and ends worlds. One per worker; holds the connection pools. */
export interface Worlds extends AsyncDisposable {
  /** Idempotent by owner. The state is applied, the clock set, the fingerprint checked. */
  provision(environment: LoadedEnvironment, request: LeaseRequest): Promise<WorldRef>;
  /** @throws {WorldGoneError} when it was released, swept, or its host lost it; {WorldServerAwayError} when its server does not answer. */
  open(ref: WorldRef, options?: OpenOptions): Promise<World>;
  /** The world that an owner has now; null: none, on the servers that answer. */
  held(owner: string): Promise<WorldRef | null>;
  /** Drops what is dead and ours, from the database alone. `closed` asks Temporal whether a workflow is closed. */
  sweep(options: { readonly closed?: ClosedWorkflows; readonly dryRun?: boolean }): Promise<SweepReport>;
  /** Makes a world again from a snapshot, under a new owner. */
  restore(environment: LoadedEnvironment, snapshot: WorldSnapshot, request: LeaseRequest): Promise<WorldRef>;
  /**
   * Makes a world again from a snapshot for somebody to read: in a database of its own, closed to every write, with a role that can only read. Asked again with the same owner,
   * it is the same world and its lease begins anew. The lease ends it; `open(ref)` and `release()` end it before.
   */
  inspect(environment: LoadedEnvironment, snapshot: WorldSnapshot, request: { readonly owner: string; readonly leaseMs: number }): Promise<Inspection>;
  /** Worlds that were restored so and stand, of owners whose name begins so. */
  inspections(ownerPrefix: string): Promise<readonly Omit<Inspection, 'sqlUrl'>[]>;
  /** How many worlds are leased to owners whose name begins so; of one isolation, or of all. Those on a server that has been away for long are not counted. */
  leased(ownerPrefix: string, isolation?: Isolation | null): Promise<number>;
  /** Worlds that were leased to such owners and of which something was other than their journal says when they were to be used again: dropped instead. */
  unlike(ownerPrefix: string): Promise<number>;
  /** Worlds on each server that answers, by state. */
  states(): Promise<readonly { readonly host: string; readonly state: string; readonly count: number }[]>;
  /** Who waits for a lock on a world's tables, whichever process it is of. Nobody where the world is gone. @throws {WorldServerAwayError} */
  lockWaits(world: Pick<WorldRef, 'id' | 'host'>): Promise<readonly LockWait[]>;
  /** Connections of this process now, by server and purpose. */
  connections(): readonly { readonly name: string; readonly inUse: number; readonly idle: number; readonly awaited: number }[];
  /** For the services: who speaks? Null when the world is unknown, ended, or the secret is wrong (compared in constant time). */
  authenticate(worldId: string, secret: string): Promise<ServiceSession | null>;
}

/** A world that stands to be read. */
export interface Inspection {
  readonly ref: WorldRef;
  readonly owner: string;
  /** End of the lease, and of the password. */
  readonly until: string;
  /** Connection of the role that can only read; holds its password. */
  readonly sqlUrl: string;
}

/** A service's access to the world whose credentials it was shown. */
export interface ServiceSession {
  readonly worldId: string;
  /** Whose requests these are, for a line of a log: the world, and the trial that has it. */
  readonly concerns: { readonly world: string; readonly trial?: string; readonly batch?: string; readonly attempt?: number };
  /** Shown the tool secret: may name the operation that it speaks for. */
  readonly trusted: boolean;
  readonly clock: () => Promise<{ readonly now: Date; readonly timezone: string }>;
  readonly environment: { readonly inbox: InboxOptions | null; readonly tickets: TicketsOptions | null };
  /** What the world's fault schedule does to a request: counts it, decides, records. Null: nothing, without a query where there is no schedule. */
  fault(request: ServiceRequest): Promise<RequestFaults | null>;
  /** Notes a fault whose kind is among the request's `confirms`, once it has come to pass. */
  confirm(request: ServiceRequest, fault: NonNullable<RequestFaults['fault']>): Promise<void>;
  /** Rows change by somebody else's hand, once for each key. @throws {WorldStateError} */
  change(change: RequestFaults['after'][number]): Promise<void>;
  /** As {@link WorldFaults.readAsOf}. */
  readAsOf<T>(seq: number, work: (sql: WorldSql) => Promise<T>): Promise<T>;
  /**
   * Stores a delivery attempt in a transaction that holds the fence; with `copies`, so many more of it in the same one, as the doing of that fault rule.
   * @throws {FencedError} after the fence; the attempt is then listed as late.
   */
  storeMail(
    mail: Omit<MailEffect, 'kind' | 'seq' | 'at'> & { readonly raw: Buffer; readonly attempt: number },
    copies?: { readonly rule: number; readonly count: number },
  ): Promise<{ readonly seq: number }>;
  /** One transaction as the world's role, attributed to the operation (null: unattributed). @throws {FencedError} for a write after the fence. */
  transact<T>(operation: { readonly id: string; readonly attempt: number } | null, work: (sql: WorldSql) => Promise<T>): Promise<T>;
  late(source: 'smtp' | 'tickets', operation: string | null, detail: string): Promise<void>;
}

/** A request of a client to a service, as fault rules see it. */
export interface ServiceRequest {
  readonly service: 'inbox' | 'tickets';
  readonly operation: { readonly id: string; readonly attempt: number } | null;
  /** For example `POST /tickets`; stands in the record. */
  readonly what: string;
  /** It changes nothing: it may be answered stale. */
  readonly reads: boolean;
  /** `connect`: only what ends a connection before anything is asked; `rest`: everything else. */
  readonly phase: 'connect' | 'rest' | 'whole';
  /** It was counted before, under this number. */
  readonly number?: number;
  /** Kinds of which it shows only later whether they come to pass; the service then says so. */
  readonly confirms: ReadonlySet<FaultKind>;
}

/** What a fault schedule does to one request of a service. */
export interface RequestFaults {
  /** How-manieth request of the service, from 1. */
  readonly number: number;
  /** What the service must do. `until`: when a limit ends, by the world's clock. */
  readonly fault: { readonly rule: number; readonly position: number; readonly fault: Fault; readonly until: Date | null } | null;
  /** Changes by somebody else's hand that follow the request. */
  readonly after: readonly { readonly rule: number; readonly key: string; readonly changes: Case['state'] }[];
  /** The request is answered as of this journal entry; null: as it is. */
  readonly staleAfter: number | null;
  /** World time, after what the request took. */
  readonly now: Date;
}

export interface SweepReport {
  readonly live: number;
  readonly pooled: number;
  /** Dropped now, by owner. */
  readonly swept: readonly {
    readonly world: string;
    readonly owner: string;
    readonly reason: 'lease_lapsed' | 'workflow_closed' | 'container_lost' | 'orphan';
  }[];
  /** Ours by name and yet in no registry; dropped as `orphan` as well. */
  readonly leaked: number;
  /** Servers that did not answer: their worlds were not looked at. Absent: all did. */
  readonly away?: readonly { readonly server: string; readonly why: string }[];
  /** Leases that began, were given back and were swept (with these) since the hosts were prepared. */
  readonly ever: { readonly made: number; readonly released: number; readonly swept: number };
}

/** What time it is in a world. */
export interface WorldClock {
  readonly now: Date;
  readonly timezone: string;
}

export interface World {
  readonly ref: WorldRef;
  readonly ledger: Ledger;
  /**
   * Of what stands for a world where a trial is played on a cassette: answers a call of an operation in its ledger, and settles it there. Repeated, it is the same answer.
   * Absent: tools act. @throws {FencedError} after the fence
   */
  readonly replay?: (call: ReplayCall) => Promise<ReplayedAnswer>;
  /** Clients of the real services that this world has in place of fixtures. Absent: its services are all fixtures. */
  readonly live?: LiveClients;
  readonly faults: WorldFaults;
  /** Columns by table. */
  readonly columns: { readonly [table: string]: readonly string[] };
  /**
   * Runs `work` in one transaction of the world as its tool role: the ledger row of the operation is written with its effects.
   * With `bound`, others are kept from writing to the tables that its queries name until it commits, and `check` is shown the rows before the work.
   * @throws {FencedError} when the world is fenced, or this attempt of the operation is.
   */
  transact<T>(
    operation: { readonly id: string; readonly attempt: number },
    work: (sql: WorldSql) => Promise<{ readonly value: T; readonly result: Json }>,
    bound?: { readonly queries: readonly PreviewQuery[]; readonly check: (rows: readonly PreviewRows[]) => void },
  ): Promise<T>;
  /** The rows that an approver is shown, as they stand now. @throws {PreviewError} for a query that the world does not fit. */
  preview(queries: readonly PreviewQuery[]): Promise<readonly PreviewRows[]>;
  /**
   * From now on what the environment's tool server does is this operation's. False while it serves another. Only the ledger of a world whose environment has a
   * tool server takes it. @throws {FencedError} when the world is fenced, or this attempt of the operation is.
   */
  serve(operation: { readonly id: string; readonly attempt: number }): Promise<boolean>;
  /** The tool server has answered: what it does now is nobody's. */
  served(operation: { readonly id: string; readonly attempt: number }): Promise<void>;
  /**
   * The tool server was ended while it served this attempt: what its sessions had under way is gone. False where it serves another by now, whose sessions are left
   * alone: a worker that was taken for lost may find out late.
   */
  loseServing(operation: { readonly id: string; readonly attempt: number }): Promise<boolean>;
  clock(): Promise<WorldClock>;
  /** Credentials with which the harness's own tools speak to the services for an operation, and those that an agent of its own may have. */
  credentials(): Promise<WorldCredentials>;
  /** Closes the door: epoch up, sessions and credentials of the world's own role ended. Idempotent. Writers that hold on longer than `drainMs` are ended. */
  fence(options: { readonly drainMs: number }): Promise<{ readonly epoch: number }>;
  /** Gross effects in journal order, mails included, and what came too late. */
  observe(): Promise<{
    readonly effects: readonly Effect[];
    readonly lateAttempts: readonly LateAttempt[];
    readonly tables: { readonly [table: string]: TableFacts };
    /** Real services, as they named themselves. */
    readonly live?: { readonly [contract: string]: string };
    /** Of a trial that is played on a cassette. */
    readonly replayed?: { readonly route: ReplayedRoute; readonly faults: Pick<RecordedFaults, 'schedule' | 'rules' | 'injected'> | null };
  }>;
  /**
   * After the fence: what of the whole world differs from its seed, catalogue included, and stands in no journal; as `catalogue` or `table orders`. Empty: nothing.
   * Null: it cannot be known.
   */
  unexplained(): Promise<readonly string[] | null>;
  snapshot(): Promise<WorldSnapshot>;
  /** Rows of a table as they stand, in order of its key, at most 10,000; none of a table that is not there. */
  rows(table: string): Promise<readonly JsonObject[]>;
  /** Pooled worlds are reset and returned, others dropped. Idempotent. `reuse: false` always drops. */
  release(options?: { readonly reuse?: boolean }): Promise<'pooled' | 'dropped'>;
}

/**
 * What a fault schedule does to a world. In a world that was leased without rules the questions are answered without a query, `advance` works, and anything
 * else throws `NoScheduleError`. Everything is idempotent by `rule`, `operation` and `dispatch`: a dispatch that is repeated after its worker was lost
 * injects nothing twice.
 */
export interface WorldFaults {
  /** Notes a fault that was injected. */
  record(fault: Omit<InjectedFault, 'at'>): Promise<void>;
  /** In order. */
  injected(): Promise<readonly InjectedFault[]>;
  /** Whether a service has injected a fault into this operation. */
  hit(operation: string): Promise<boolean>;
  /** Rules whose fault the services inject into this operation's requests. */
  arm(operation: string, rules: readonly { readonly rule: number; readonly position: number }[]): Promise<void>;
  /** Rows change by somebody else's hand: no effects of the agent, and undone with the world. @throws {WorldStateError} as for a case's state. */
  change(cause: { readonly rule: number; readonly operation: string | null }, changes: Case['state']): Promise<void>;
  /** From now on reads answer as of now, or as of the trial's start. A second trigger of the same rule changes nothing. */
  freeze(
    rule: number,
    options: {
      readonly service: 'database' | 'tickets' | 'all';
      readonly asOf: 'trigger' | 'start';
      readonly reads: number | null;
      readonly forSeconds: number | null;
    },
  ): Promise<void>;
  /** What reads of a service answer as of now; null: as it is. Counts the read against the freeze. */
  frozen(service: 'database' | 'tickets', operation: string | null): Promise<{ readonly rule: number; readonly seq: number } | null>;
  /**
   * Runs a read for which everything after journal entry `seq` is taken back: each query in a transaction of its own, which can write nothing and of which
   * nothing stays. @throws {StaleReadError} when writers held on to the rows for too long.
   */
  readAsOf<T>(seq: number, work: (sql: WorldSql) => Promise<T>): Promise<T>;
  /** Until when, by the world's clock, a tool or service is limited; null: it is not. */
  limitedUntil(on: string): Promise<Date | null>;
  /** Sets a limit. */
  limit(on: string, until: Date): Promise<void>;
  /** Rows change by somebody else's hand while the request of an operation waits for its approver, as the case says; once. @throws {WorldStateError} */
  changeWhileWaiting(operation: string, changes: Case['state']): Promise<void>;
  /** Moves the world's clock forward by so many seconds, or to a time (never back). Once for each key. Returns the time then. */
  advance(key: string, by: { readonly seconds: number } | { readonly to: Date }): Promise<Date>;
}

export interface WorldCredentials {
  /** User name is the world's id; the harness's tools append `+<operation>.<attempt>`, which only `toolSecret` permits. */
  readonly user: string;
  readonly toolSecret: string;
  readonly agentSecret: string;
  /** Connection of the world's own role to its database; null with isolation `schema`, where that role may not log in. */
  readonly sqlUrl: string | null;
  /** What the environment's tool server gets: its user name at the services is `user` too. Null where the environment has none. */
  readonly server: { readonly secret: string; readonly sqlUrl: string } | null;
}

/** Clients of a world's real services, by the contract that they fulfil. Each speaks as the world's own account. */
export interface LiveClients {
  readonly tickets?: (call: LiveCall) => WorldTickets;
  readonly mail?: (call: LiveCall) => WorldMail;
}

/** An attempt of an operation that speaks to a real service. */
export interface LiveCall {
  readonly operation: { readonly id: string; readonly attempt: number };
  /** World time. */
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** A call that a cassette is to answer, with digests of what it was made under. */
export interface ReplayCall {
  readonly operation: string;
  readonly attempt: number;
  readonly scope: string;
  readonly schema: string;
}

/** What a cassette answers. `missing`: it holds no such call, and nothing was done. */
export type ReplayedAnswer =
  | { readonly state: 'committed' }
  | { readonly state: 'failed' | 'unknown'; readonly problem: OperationProblem }
  | { readonly state: 'missing'; readonly why: string };

/** What a call looks like when it reaches the door, already checked at the edge. */
export interface Proposal {
  readonly id: string;
  readonly tool: string;
  /** Who of a team calls; absent where the agent is no team. */
  readonly actor?: string;
  readonly args: Json;
  readonly idempotencyKey: string | null;
  /** Why it must not be sent before somebody has approved it; absent: it may be. The system of record refuses whatever speaks for it until then. */
  readonly approval?: ApprovalNeed;
  /** Its tool reads: where a dispatch of it is lost, no sequence has to be set back. */
  readonly reads?: true;
  /** Null: valid and permitted. */
  readonly refusal: { readonly state: 'rejected' | 'denied'; readonly problem: OperationProblem } | null;
  /** Its agent has another call under way: between these two the world is at no point from which one could go on. Absent: it has none. */
  readonly beside?: true;
}

/** Names all dispatches of an operation, also those that may still come: higher than any. */
export const EVERY_DISPATCH = 1_000_000;

/** Rows of operations in the world's own database, which the world's role cannot write. Upserts by operation id. */
export interface Ledger {
  /** Gives the operation of that id that was made in another world of which this one is a continuation; null: there is none, and it is a call of this world. */
  propose(proposal: Proposal): Promise<RecordedCall | null>;
  read(operationId: string): Promise<LedgerRow | null>;
  /** The same, with the world's time. @throws {WorldGoneError} where the lease is over. */
  readNow(operationId: string): Promise<{ readonly row: LedgerRow; readonly clock: WorldClock } | null>;
  /** For an attempt that ended without a transaction of the world (a service refused, a tool threw). Never overwrites `committed`. */
  settle(
    operationId: string,
    attempt: number,
    end: { readonly state: 'committed' | 'failed' | 'unknown'; readonly result?: Json; readonly problem?: OperationProblem; readonly durationMs: number },
  ): Promise<void>;
  /** Its call waits for an approver. */
  awaitApproval(operationId: string): Promise<void>;
  /** From now on the operation may be sent. */
  grant(operationId: string, digest: string): Promise<void>;
  /** It was not approved, or its approval is for something else. Never overwrites `committed`. */
  deny(operationId: string, problem: OperationProblem): Promise<void>;
  /** Keeps why an attempt failed, for operators: agents are told the problem alone. A later attempt's words replace an earlier one's. */
  explain(operationId: string, attempt: number, detail: string): Promise<void>;
  /** Notes how many tries of its own the production client has made. */
  tried(operationId: string, tries: number): Promise<void>;
  /**
   * Fences attempts of an operation up to `attempt` (waiting, bounded, for one that is committing), then tells what stands.
   * `effects`: rows or mails that carry this operation. `open`: of a real service, which cannot say whether it did what it was asked, or may still do it.
   */
  recover(operationId: string, attempt: number): Promise<{ readonly row: LedgerRow | null; readonly effects: number; readonly open?: true }>;
  all(): Promise<readonly LedgerRow[]>;
  late(attempt: Omit<LateAttempt, 'at'>): Promise<void>;
}

/** A call as another world's ledger had it. */
export type RecordedCall = Pick<Proposal, 'tool' | 'args' | 'idempotencyKey'> & { readonly actor: string | null };

export interface LedgerRow extends Proposal {
  readonly state: 'proposed' | 'running' | 'committed' | 'failed' | 'unknown' | 'rejected' | 'denied' | 'awaiting_approval';
  readonly attempt: number;
  /** Digest of what was approved; null: nothing was, or nothing had to be. */
  readonly granted: string | null;
  readonly result: Json | null;
  readonly problem: OperationProblem | null;
  /** See {@link Ledger.explain}. */
  readonly detail: string | null;
  readonly durationMs: number | null;
  /** Tries that the production client made of this one call. */
  readonly tries: number;
  readonly at: string;
}

/** Enough to make the world again: generation, journal (or a dump, for direct access), ledger and inbox. */
export interface WorldSnapshot {
  readonly version: 1;
  readonly generation: string;
  readonly isolation: Isolation;
  readonly clock: string;
  readonly timezone: string;
  readonly state: Case['state'];
  readonly effects: readonly Effect[];
  readonly operations: readonly LedgerRow[];
  /** Raw messages, base64, in order of `effects` of kind mail. */
  readonly rawMails: readonly { readonly seq: number; readonly raw: string }[];
  readonly sequences: { readonly [name: string]: string };
}

/** The world no longer exists. The attempt ends `infra_error` and a new one starts in a new world. */
export class WorldGoneError extends Error {
  override readonly name = 'WorldGoneError';
  readonly code = 'world_gone';
  readonly world: string;

  constructor(world: string) {
    super(`world ${world} no longer exists; its trial's attempt ends as infra_error and a new attempt starts in a new world`);
    this.world = world;
  }
}

/** The Postgres server that holds a world does not answer. */
export class WorldServerAwayError extends Error {
  override readonly name = 'WorldServerAwayError';
  readonly code = 'world_server_away';
  readonly server: string;
  /** What the connection said. */
  readonly why: string;
  /** It has been away for so long that its worlds are given up: another server answers, and the attempt begins anew there. */
  readonly lasting: boolean;

  constructor(server: string, away: { readonly why: string; readonly forMs: number; readonly lasting: boolean; readonly cause: unknown }) {
    const since = away.forMs < 1_000 ? '' : ` for ${Math.floor(away.forMs / 1_000)} s`;
    const next = away.lasting ? 'attempts that have their world there end, and begin anew on another server' : 'it is waited for';
    super(`the Postgres server ${server}, which holds worlds, has not answered${since} (${away.why}); ${next}`, { cause: away.cause });
    this.server = server;
    this.why = away.why;
    this.lasting = away.lasting;
  }
}

/** The world, or this attempt of the operation, is fenced: the write was refused by the system of record. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = 'fenced';

  constructor(what: string) {
    super(`${what} is fenced: the write was refused and is recorded as a late attempt`);
  }
}
