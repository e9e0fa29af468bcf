import type { Trialbed } from '../../src/client/api.ts';
import type { Host } from '../../src/cli/host.ts';
import { runFormat } from '../../src/recorded/formats.ts';

const NOTHING_READ = { format: runFormat('workbench-runs'), data: '/', runs: [] };

/** A host that keeps what is printed, and lets a test raise signals. It is given a client, since a unit test has no services. */
export class TestHost implements Host {
  readonly #out: string[] = [];
  readonly #err: string[] = [];
  readonly #listeners = new Set<(signal: 'SIGINT' | 'SIGTERM') => void>();
  readonly killed: number[] = [];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv = {};
  /** Nothing is refused beforehand. */
  readonly checks: Host['checks'] = {
    run: async () => ({ confirmAbove: {} }),
    validation: async () => {},
    recording: async () => {},
    recordedRuns: async () => NOTHING_READ,
  };
  readonly out: Host['out'];
  readonly err: Host['err'];
  readonly ask?: NonNullable<Host['ask']>;
  readonly keys?: NonNullable<Host['keys']>;
  readonly #client: Partial<Trialbed> | Error;

  constructor(
    options: {
      readonly client?: Partial<Trialbed> | Error;
      readonly terminal?: { readonly columns: number; readonly rows?: number; readonly colours?: boolean };
      readonly cwd?: string;
      readonly ask?: NonNullable<Host['ask']>;
      readonly keys?: NonNullable<Host['keys']>;
    } = {},
  ) {
    this.#client = options.client ?? new Error('this command must not connect');
    if (options.ask) this.ask = options.ask;
    if (options.keys) this.keys = options.keys;
    this.cwd = options.cwd ?? '/nowhere';
    const terminal = options.terminal;
    const facts = terminal
      ? { isTTY: true, columns: terminal.columns, rows: terminal.rows ?? 30, hasColors: () => terminal.colours === true }
      : { isTTY: false };
    this.out = { write: (text) => this.#out.push(text), ...facts };
    this.err = { write: (text) => this.#err.push(text), isTTY: false };
  }

  get stdout(): string {
    return this.#out.join('');
  }

  get stderr(): string {
    return this.#err.join('');
  }

  async connect(): Promise<Trialbed> {
    if (this.#client instanceof Error) throw this.#client;
    const missing = (): never => {
      throw new Error('this command must not call that');
    };
    return {
      run: missing,
      follow: missing,
      estimate: missing,
      pause: missing,
      resume: missing,
      setConcurrency: missing,
      cancel: missing,
      watch: missing,
      requeue: missing,
      fork: missing,
      reset: missing,
      running: missing,
      outcomes: missing,
      results: missing,
      batches: missing,
      trials: missing,
      show: missing,
      facts: missing,
      series: missing,
      documents: missing,
      trace: missing,
      compare: missing,
      why: missing,
      replay: missing,
      regrade: missing,
      regradeRuns: missing,
      judge: missing,
      estimateJudging: missing,
      judging: async () => [],
      contracts: async () => [],
      validate: missing,
      pin: missing,
      record: missing,
      contract: missing,
      approvals: missing,
      decide: missing,
      sweep: missing,
      purge: missing,
      purgeSubject: missing,
      keys: { list: missing, rotate: missing },
      schedules: { nightly: missing, list: missing, show: missing, pause: missing, resume: missing, trigger: missing, remove: missing },
      labels: { open: missing, import: missing, agreement: missing, agreementsOf: async () => [], exportDisagreements: missing },
      snapshots: {
        list: missing,
        show: missing,
        restore: missing,
        open: missing,
        end: missing,
        compare: missing,
        compareWithExpected: missing,
        export: missing,
        delete: missing,
      },
      audit: missing,
      console: missing,
      consoleTokens: missing,
      addConsoleToken: missing,
      revokeConsoleToken: missing,
      worldsOf: missing,
      async [Symbol.asyncDispose]() {},
      ...this.#client,
    };
  }

  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  signal(signal: 'SIGINT' | 'SIGTERM'): void {
    for (const listener of this.#listeners) listener(signal);
  }

  kill(code: number): void {
    this.killed.push(code);
  }
}
