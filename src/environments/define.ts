import type { z } from 'zod';
import type { ApprovalRule } from '../domain/approval.ts';
import type { PermissionContext } from '../domain/case.ts';
import type { Binding } from '../domain/cassette.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolEffect } from '../domain/operation.ts';
import type { TextComparison } from '../domain/record.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { type LiveMail, type LiveTickets, liveProblem } from './live.ts';
import { runtimeTools } from './runtime-tools.ts';
import { serverProblem, type ToolServer } from './tool-server.ts';

/**
 * Defines an environment: everything that makes worlds of one kind.
 * The default export of a pack's file is this value, or a function from the suite's `with:` options to it.
 *
 * @throws {EnvironmentDefinitionError} when names collide, a tool's schema cannot be written as JSON Schema, or a table of `tables` is unknown at first use.
 */
export function defineEnvironment(definition: EnvironmentDefinition): Environment {
  const seen = new Set<string>();
  // Packs run with their types stripped, so what only a type says is said here too.
  if (typeof definition.version !== 'string' || definition.version === '')
    throw new EnvironmentDefinitionError(definition.name, 'version is missing; expected a text');
  if (definition.binding !== undefined && !BINDINGS.includes(definition.binding))
    throw new EnvironmentDefinitionError(definition.name, `binding is ${JSON.stringify(definition.binding)}; expected one of ${BINDINGS.join(', ')}`);
  const tools = [...definition.tools, ...runtimeTools(definition)];
  for (const tool of tools) {
    if (!/^[a-zA-Z][a-zA-Z0-9_.-]{0,127}$/.test(tool.name)) {
      throw new EnvironmentDefinitionError(definition.name, `tool name "${tool.name}" may hold letters, digits, "_", "." and "-" only, at most 128`);
    }
    if (!EFFECTS.includes(tool.effect)) {
      throw new EnvironmentDefinitionError(
        definition.name,
        `tool "${tool.name}": effect is ${JSON.stringify(tool.effect)}; expected one of ${EFFECTS.join(', ')}`,
      );
    }
    if (tool.effect === 'read' && (tool.approval || tool.preview))
      throw new EnvironmentDefinitionError(definition.name, `tool "${tool.name}" reads; expected "approval" and "preview" with tools that have an effect only`);
    if (seen.has(tool.name)) throw new EnvironmentDefinitionError(definition.name, `tool "${tool.name}" is defined twice`);
    seen.add(tool.name);
  }
  const live = liveProblem(definition);
  if (live !== null) throw new EnvironmentDefinitionError(definition.name, live);
  const problem = definition.toolServer ? serverProblem(definition.toolServer, definition.services) : null;
  if (problem !== null) throw new EnvironmentDefinitionError(definition.name, problem);
  return Object.freeze({ ...definition, tools, [ENVIRONMENT]: true as const });
}

const BINDINGS: readonly Binding[] = ['fixture', 'sandbox', 'production'];
const EFFECTS: readonly ToolEffect[] = ['read', 'write', 'external'];

/** Types a tool's arguments and result from its schemas. Has no effect at run time. */
export function defineTool<I extends z.ZodType, R extends z.ZodType>(tool: ToolDefinition<I, R>): Tool {
  return tool as unknown as Tool;
}

/** A tool ends so when it knows that it had no effect. `code` must be among the tool's `failures`. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, options: { retryAfterSeconds?: number } = {}) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The pack contradicts itself. Raised while it is loaded, before any world is made. */
export class EnvironmentDefinitionError extends Error {
  override readonly name = 'EnvironmentDefinitionError';
  readonly code = 'environment_definition';
  readonly environment: string;

  constructor(environment: string, problem: string) {
    super(`environment ${environment}: ${problem}`);
    this.environment = environment;
  }
}

export interface EnvironmentDefinition {
  readonly name: string;
  readonly version: string;
  /**
   * What its services are: `fixture`, made by the test bed with the world; `sandbox`, real ones with accounts that are there for tests; `production`. Nothing is recorded from
   * `production`. Default: `fixture`.
   */
  readonly binding?: Binding;
  /** DDL, in order: SQL files with unqualified names, or one `pg_dump --schema-only --no-owner` of your own database. */
  readonly schema: readonly FileSource[];
  /** Rows, in order, after the schema. */
  readonly seed: readonly Seed[];
  /** Facts about tables that comparison needs; a table not named is compared on every column. */
  readonly tables?: { readonly [table: string]: TableOptions };
  readonly services?: { readonly inbox?: InboxOptions; readonly tickets?: TicketsOptions };
  readonly tools: readonly Tool[];
  /** An MCP server that brings tools beside these. Worlds of such an environment have a database each. */
  readonly toolServer?: ToolServer;
  /** Text that the agent is told: a file, or the text. */
  readonly policy?: FileSource | { readonly text: string };
  readonly permissions?: PermissionModel;
  /** How the tools behave in production; what is not named is as `DEFAULT_RUNTIME` has it: no tries of its own, no look-up, no waiting, `ask_user`. */
  readonly runtime?: Partial<ProductionRuntime>;
  /**
   * Files and folders whose content can change a result, beside those named above; part of the generation.
   * Default: the folder of the pack's own file (without `suite`, `node_modules` and hidden files).
   */
  readonly sources?: readonly FileSource[];
}

/** A file by URL (`new URL('./schema.sql', import.meta.url)`) or absolute path. */
export type FileSource = URL | string;

export type Seed =
  | { readonly sql: FileSource }
  /** Header line first. An empty unquoted cell is null unless `nulls: 'never'`. `columns` renames header names to column names. */
  | {
      readonly csv: FileSource;
      readonly table: string;
      readonly columns?: { readonly [header: string]: string };
      readonly header?: readonly string[];
      readonly nulls?: 'empty' | 'never';
    }
  /**
   * An array of row objects; or, with `key`, one object that holds the rows by key: the names of its members fill the column `key`. Columns of type json then
   * hold their part of the file as it is written, order of members and digits included.
   */
  | { readonly json: FileSource; readonly table: string; readonly key?: string };

export interface TableOptions {
  /** Columns whose value never counts in a comparison, such as an update stamp. */
  readonly ignored?: readonly string[];
  /** Decimal places at which a numeric column is compared. */
  readonly scale?: { readonly [column: string]: number };
  /**
   * How texts of a column are compared: `exact` letter by letter, also where they look like date-times; `caseless` the same, letter case aside (a change of
   * letter case alone is then no effect). Default: by instant where both read as ISO date-times, else in Unicode NFC. Null is never equal to a text.
   *
   * The order of rows counts where a column of the table holds each row's place, since every column that is not `ignored` counts.
   */
  readonly text?: { readonly [column: string]: TextComparison };
}

export interface InboxOptions {
  /** Addresses that the server refuses at RCPT with 550: `known` accepts only listed ones. Default: it accepts all. */
  readonly recipients?: { readonly known: readonly string[] } | 'any';
  /** Default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * A real mail server in place of the fixture: each world has a domain and accounts of its own there. `recipients` and `maxBytes` are then the server's own. Needs
   * `binding: sandbox`. Default: none.
   */
  readonly live?: LiveMail;
}

export interface TicketsOptions {
  /** Table that holds the tickets: `id`, `subject`, `body`, `requester`, `status`, `priority`, `assignee`, `created_at`, `updated_at`. */
  readonly tickets: string;
  /** Table that holds comments: `id`, `ticket_id`, `author`, `body`, `public`, `created_at`. */
  readonly comments: string;
  /**
   * A real ticket system in place of the fixture: each world has an account and a queue of its own there, with the rows of these tables in it. The tables then hold the
   * start alone. Needs `binding: sandbox`. Default: none.
   */
  readonly live?: LiveTickets;
}

/** Decides beside the case's list of permitted tools. Returns null when the call is permitted, else the reason that the agent is told. */
export interface PermissionModel {
  readonly roles: { readonly [role: string]: { readonly tools: readonly string[] | '*' } };
  /** Calls that somebody must approve before they are sent, for every role. A case may name more, and never fewer. */
  readonly approval?: readonly ApprovalRule[];
  readonly check?: (call: { readonly tool: string; readonly args: JsonObject; readonly permission: PermissionContext }) => string | null;
}

export interface ToolDefinition<I extends z.ZodType, R extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  /** Arguments. Objects are strict: an unknown argument is invalid. */
  readonly input: I;
  readonly result: R;
  readonly effect: ToolEffect;
  /** Codes of `ToolFailure` with which the tool ends when it knows that it had no effect. */
  readonly failures?: readonly string[];
  /** A read that declares at most this many milliseconds may run as a local activity. Default 200. */
  readonly typicalMs?: number;
  /** The tool takes an `idempotency_key`. */
  readonly idempotent?: boolean;
  /** Handing over ends the agent's work: once a call is committed, later calls are refused (`conversation_ended`). Default false. */
  readonly ends?: boolean;
  /** Every call needs an approval (`required`), or those that the rule fits. Default: none. Not for reads. */
  readonly approval?: 'required' | Pick<ApprovalRule, 'where' | 'expiresMs'>;
  /**
   * Rows that an approver is shown. An approval is bound to them: where they differ when the call is sent, it is void. A tool that writes rows holds their tables still
   * until it commits, so name none into which its own run writes through a service. Default: none, and an approval is bound to the arguments alone.
   */
  readonly preview?: (args: z.output<I>) => readonly PreviewQuery[];
  /** Set by the harness alone, for tools of the environment's tool server: their arguments as the server has them. */
  readonly served?: JsonObject;
  /** Set by the harness alone, for the tools of the production runtime. */
  readonly builtin?: 'lookup' | 'wait' | 'ask' | 'hand_over';
  /** Start-to-close, milliseconds; default 60,000. In a trial a time-out that no fault injected is the harness's trouble, so it is generous. */
  readonly timeoutMs?: number;
  readonly run: (args: z.output<I>, context: ToolContext) => Promise<z.input<R>>;
  /** How to find out, afterwards, whether an operation had its effect where the ledger cannot say. Null: it cannot be known. */
  readonly reconcile?: (args: z.output<I>, context: ToolContext) => Promise<'committed' | 'failed' | null>;
}

/** A tool as the door holds it. Make one with {@link defineTool}. */
export type Tool = ToolDefinition<z.ZodType, z.ZodType>;

/** Rows of one table, by equal columns; at most 200. */
export interface PreviewQuery {
  readonly table: string;
  readonly where: JsonObject;
  /** Columns that are shown and count. Default: all but those that the table's options ignore. */
  readonly columns?: readonly string[];
}

/** What a tool may use. All of it belongs to the one world and the one operation. */
export interface ToolContext {
  readonly operation: { readonly id: string; readonly attempt: number };
  readonly permission: PermissionContext;
  /** World time. */
  readonly now: Date;
  readonly timezone: string;
  /** SQL as the world's role, in the transaction that also holds the ledger row: both commit, or neither. Unqualified names are the world's tables. */
  readonly db: WorldSql;
  /** The world's SMTP account, speaking for this operation. */
  readonly mail: WorldMail;
  /** The world's ticket service, speaking for this operation. */
  readonly tickets: WorldTickets;
  /** Headers by which a request of the tool's own becomes part of the trial's trace; `tickets` sends them by itself. Empty where no trace is made. */
  readonly traceHeaders: { readonly [header: string]: string };
  /** Raised when the operation's time is up, or the trial is cancelled. */
  readonly signal: AbortSignal;
}

export interface WorldSql {
  /** Parameterised (`$1`). Numbers of type numeric and bigint come as strings, times as ISO text. */
  query<Row extends JsonObject = JsonObject>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface WorldMail {
  /** @throws {ToolFailure} `mail_refused` when the server refused before the final dot: no mail. Any other error: unknown. */
  send(mail: OutgoingMail): Promise<{ readonly messageId: string }>;
}

export interface OutgoingMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly replyTo?: string;
}

export interface WorldTickets {
  /** Base URL and bearer token, for a tool that brings its own HTTP client. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** JSON over HTTP. A 4xx answer is a `ToolFailure` (`not_found`, `invalid`, `conflict`); anything else that fails is unknown. */
  request(method: 'GET' | 'POST' | 'PATCH', path: string, body?: JsonObject): Promise<JsonObject>;
}

const ENVIRONMENT = Symbol.for('trialbed.environment');

/** A defined environment. Make one with {@link defineEnvironment}. */
export interface Environment extends EnvironmentDefinition {
  readonly [ENVIRONMENT]: true;
}

/** Whether a module's export is a defined environment (also one of another copy of this package). */
export function isEnvironment(value: unknown): value is Environment {
  return typeof value === 'object' && value !== null && (value as { [ENVIRONMENT]?: unknown })[ENVIRONMENT] === true;
}

export type { ApprovalRule } from '../domain/approval.ts';
export type { LiveEndpoint, LiveMail, LiveTickets } from './live.ts';
export type { ServerTool, ToolServer, WorldValue } from './tool-server.ts';
// A pack's suite often has agents beside it: their types come from the same door.
export type { AgentReply, AgentSession, CallOptions, CallResult, ModuleAgent, UserMessage } from './agent.ts';
