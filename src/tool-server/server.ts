import { setTimeout as sleep } from 'node:timers/promises';
import { type CallToolResult, Client, type JsonSchemaValidator, type jsonSchemaValidator, ProtocolError } from '@modelcontextprotocol/client';
import type { JsonObject } from '../domain/json.ts';
import { printable } from '../domain/text/bounded.ts';
import { type PinnedTool, toolsIn } from '../environments/pinned-tools.ts';
import { ToolServerError, ToolServerLostError } from './errors.ts';
import { ProcessTransport, type ServerProgram } from './transport.ts';

/** Longest text of what went wrong, in UTF-16 units: what a server prints has no bounds. */
const MAX_WHY_LENGTH = 2_000;
/** Pages of `tools/list` that are read. */
const MAX_PAGES = 100;

export interface ServerOptions {
  readonly program: ServerProgram;
  /** Time until it has told its tools, milliseconds. */
  readonly startMs: number;
  /** Texts that are taken out of whatever is told of it. */
  readonly secrets: readonly string[];
}

/** One running tool server. */
export class RunningServer {
  /** What it says of its tools. */
  readonly tools: readonly PinnedTool[];
  /** It serves nothing any more. */
  dead = false;
  private readonly client: Client;
  private readonly transport: ProcessTransport;
  private readonly tell: (why: string) => string;

  private constructor(client: Client, transport: ProcessTransport, tools: readonly PinnedTool[], tell: (why: string) => string) {
    this.client = client;
    this.transport = transport;
    this.tools = tools;
    this.tell = tell;
    void transport.lost.then(() => {
      this.dead = true;
    });
  }

  /** Starts a program and asks it for its tools. Nothing of it is left when that fails. @throws {ToolServerError} */
  static async start({ program, startMs, secrets }: ServerOptions): Promise<RunningServer> {
    const tell = (why: string) => printable(withoutSecrets(why, secrets), MAX_WHY_LENGTH);
    const transport = new ProcessTransport(program);
    const client = new Client({ name: 'trialbed', version: '1' }, { jsonSchemaValidator: TAKES_ALL });
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new ToolServerError([`has not told its tools within ${startMs / 1000} s`])), startMs);
    const lost = transport.lost.then((why) => Promise.reject(new ToolServerError([`cannot be used: ${tell(why)}`])));
    lost.catch(() => {});
    late.promise.catch(() => {});
    try {
      const tools = await Promise.race([toolsOf(client, transport), lost, late.promise]);
      return new RunningServer(client, transport, tools, tell);
    } catch (error) {
      const why = error instanceof ToolServerError ? null : await reasonOf(transport, error);
      await transport.close();
      throw why === null ? error : new ToolServerError([`cannot be used: ${tell(why)}`]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Has it carry out a call. @throws {ToolServerLostError} when it ends, breaks its protocol or has not answered in time; it is then ended. What it says of an error
   * is an answer.
   */
  async call(
    tool: string,
    args: JsonObject,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly meta: JsonObject },
  ): Promise<CallToolResult> {
    const { timeoutMs, signal, meta } = options;
    const stop = Promise.withResolvers<never>();
    stop.promise.catch(() => {});
    const lose = (why: string) => stop.reject(new ToolServerLostError(tool, this.tell(why)));
    const timer = setTimeout(() => lose(`it has not answered within ${timeoutMs / 1000} s`), timeoutMs);
    const abort = () => stop.reject(signal.reason instanceof Error ? signal.reason : new Error('the call was cancelled'));
    signal.addEventListener('abort', abort, { once: true });
    void this.transport.lost.then(lose);
    if (signal.aborted) abort();
    try {
      // Without the client's own time-out, which would leave the server as it is.
      const call = this.client.callTool({ name: tool, arguments: args, _meta: meta }, { timeout: NEVER_MS });
      return await Promise.race([call.catch((error: unknown) => this.answerOf(tool, error)), stop.promise]);
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends it, and whatever it has started in its group. */
  async end(): Promise<void> {
    this.dead = true;
    await this.transport.close();
  }

  /** An error of JSON-RPC is the server's answer. */
  private async answerOf(tool: string, error: unknown): Promise<CallToolResult> {
    if (error instanceof ProtocolError) return { isError: true, content: [{ type: 'text', text: error.message }] };
    throw new ToolServerLostError(tool, this.tell(await reasonOf(this.transport, error)));
  }
}

const NEVER_MS = 2 ** 31 - 1;

/** Results are for the agent as they are: a server that breaks its own schema does so in production too. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

async function toolsOf(client: Client, transport: ProcessTransport): Promise<readonly PinnedTool[]> {
  await client.connect(transport, { timeout: NEVER_MS });
  const found: PinnedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: NEVER_MS });
    const tools = toolsIn(listed);
    if (typeof tools === 'string') throw new Error(`its answer to tools/list is none: ${tools}`);
    found.push(...tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) return found;
  }
  throw new Error(`its answer to tools/list has more than ${MAX_PAGES} pages`);
}

/** Why a server does not answer: its end, where there is one, of which the client only says that the connection is gone. */
async function reasonOf({ lost }: ProcessTransport, error: unknown): Promise<string> {
  return Promise.race([lost, sleep(PARTING_MS, error instanceof Error ? error.message : String(error))]);
}

/** How long the end of a program may come after that of its connection. */
const PARTING_MS = 1_000;

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return [...secrets].sort((a, b) => b.length - a.length).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
