import { randomBytes } from 'node:crypto';
import type { Actor } from '../store/audit.ts';
import type { ConsoleRole } from '../store/console-keys.ts';
import { Access } from '../gateway/console/access.ts';
import { consoleApp } from '../gateway/console/app.tsx';
import type { ConsoleActs, ConsoleBackend } from '../gateway/console/backend.ts';
import type { ConsolePages } from '../gateway/app.ts';
import { isLoopback } from '../domain/loopback.ts';
import { ownerOf } from '../domain/trial.ts';
import { listen } from '../environments/listen.ts';
import type { BatchRow } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import type { ConsoleOptions, ServedConsole, Trialbed } from './api.ts';
import { publicUrl } from './console-address.ts';
import { ConsoleAddressError } from './console-errors.ts';
import { forget, remember, runningConsole } from './console-place.ts';
import { labelsOver } from './labels/labels.ts';
import { raterNameOf } from './labels/rater-name.ts';
import { ticketTablesOf } from './ticket-tables.ts';

/** How long a page waits for a look at something that may not answer. */
const LOOK_MS = 3_000;

/** What a console is made over. */
export interface ConsoleParts {
  readonly root: Root;
  readonly bed: ConsoleBackend['bed'] & Pick<Trialbed, 'why'>;
  readonly acts: (actor: Actor) => ConsoleActs;
  readonly asItIs: (batch: BatchRow) => Promise<BatchRow>;
  /** Of Temporal's own web interface; null: it is not known where that is. */
  readonly temporalUi: string | null;
  /** Whom a link signs in, and as what. */
  readonly holder: string;
}

/** The console of this home where one is served on this machine, else a new one: of this process, or on the server that is given. @throws {ConsoleAddressError} */
export async function openConsole(parts: ConsoleParts, options: ConsoleOptions): Promise<ServedConsole> {
  const { root, holder } = parts;
  const access = new Access(root.store);
  const link = (url: string) => async (roles: readonly ConsoleRole[]) => `${url}/console/sign-in?link=${encodeURIComponent(await access.link(holder, roles))}`;
  const running = options.on === undefined ? await runningConsole(root.config.home) : null;
  if (running !== null) return { url: `${running}/console/`, ours: false, link: link(running), [Symbol.asyncDispose]: async () => {} };
  const served = await serve(parts, options);
  return { url: `${served.url}/console/`, ours: true, link: link(served.url), [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

async function serve(parts: ConsoleParts, options: ConsoleOptions): Promise<AsyncDisposable & { readonly url: string }> {
  const { root } = parts;
  const { home } = root.config;
  const address = options.listen ?? '127.0.0.1';
  const given = publicUrl(options.url);
  if (given === null && !isLoopback(address))
    throw new ConsoleAddressError(
      `the console is to listen on ${address}, which others can reach, and it has no TLS of its own; put a proxy with HTTPS before it and give its address as --url https://...`,
    );
  const instance = randomBytes(12).toString('base64url');
  // Made when the address is known, which nobody has before.
  const app: ConsolePages = { fetch: () => new Response(null, { status: 503 }) };
  const pages: ConsolePages = { fetch: (request, bindings) => app.fetch(request, bindings) };
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await (options.on?.(pages) ?? listen(pages, { listen: address, port: options.port })));
  const { port } = new URL(server.url);
  const hosts = given === null ? ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`) : [given.host];
  app.fetch = consoleApp({
    backend: backendOf(parts, options),
    place: { hosts: new Set(hosts), secure: given?.protocol === 'https:' },
    cookie: `trialbed_${port}`,
    instance,
    log: root.log.child({ service: 'console' }),
  }).fetch;
  const url = given === null ? server.url : given.origin;
  await remember(home, { url: server.url, told: url, instance });
  stack.defer(() => forget(home, instance));
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function backendOf(parts: ConsoleParts, options: ConsoleOptions): ConsoleBackend {
  const { root, bed, acts, asItIs } = parts;
  const { store, config } = root;
  const labels = labelsOver(store, () => new Date());
  const ui = options.temporalUi ?? parts.temporalUi;
  return {
    bed,
    store,
    acts,
    asItIs,
    labels: {
      raterOf: raterNameOf,
      tasks: (rater, limit) => store.judging.labelTasks(rater, limit),
      open: (request) => labels.open(request).catch(nothing),
    },
    async world({ trial, attempt }) {
      return soon(async () => {
        const world = (await store.attempts(trial)).find((one) => one.attempt === attempt && one.endedAt === null)?.world;
        const ref = world && (await root.worlds.held(ownerOf({ trial, attempt })));
        if (!ref) return null;
        const opened = await root.worlds.open(ref);
        const [operations, { effects }] = await Promise.all([opened.ledger.all(), opened.observe()]);
        return { operations, effects };
      });
    },
    async ticketTables(id) {
      return soon(() => ticketTablesOf(root, id));
    },
    async why(trial) {
      return soon(async () => {
        const { sentence, cause, evidence, next } = await bed.why(trial);
        return { sentence, cause, evidence: evidence.map(({ text }) => text), next };
      });
    },
    temporalLink: (workflow) =>
      ui === null ? null : `${ui}/namespaces/${encodeURIComponent(config.temporal.namespace)}/workflows/${encodeURIComponent(workflow)}`,
  };
}

/** The batch or the rubric is not there, or the rubric's file is wrong or has changed under its version. */
const NOTHING_TO_LABEL: ReadonlySet<string> = new Set(['not_found', 'suite_file', 'store_conflict']);

/** Null where nothing can be labelled; anything else is a failure. */
function nothing(error: unknown): null {
  if (error instanceof Error && 'code' in error && NOTHING_TO_LABEL.has(String(error.code))) return null;
  throw error;
}

/** Null where it fails or takes too long: a page is of use without it. */
async function soon<T>(look: () => Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LOOK_MS);
  });
  try {
    return await Promise.race([look().catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}
