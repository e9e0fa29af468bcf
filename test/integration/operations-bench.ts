import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityOptions } from '@temporalio/workflow';
import { customAlphabet } from 'nanoid';
import { operationActivities, type Behaviour } from '../fixtures/operations/activities.ts';
import { Book } from '../fixtures/operations/book.ts';
import type { operation, Order, Report } from '../fixtures/operations/workflows.ts';
import type { TestServices } from '../harness/services.ts';

const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz', 10);
const quiet = (): void => undefined;
/** What the worker tells of failures is what these tests provoke. */
export const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
const FIXTURES = fileURLToPath(new URL('../fixtures/operations/', import.meta.url));

/** One operation under way. */
export interface Running {
  readonly id: string;
  readonly handle: WorkflowHandle<typeof operation>;
  readonly result: Promise<Report>;
}

/** A worker for workflows that run one operation each, and the system of record that their tool writes to. */
export class OperationsBench implements AsyncDisposable {
  readonly book: Book;
  private readonly stack = new AsyncDisposableStack();
  private readonly services: TestServices;
  private readonly name = `ops_${newName()}`;
  private client!: Client;
  private native!: NativeConnection;

  private constructor(services: TestServices) {
    this.services = services;
    this.book = this.stack.use(new Book(services.postgresUrl, this.name));
  }

  static async start(services: TestServices): Promise<OperationsBench> {
    const bench = new OperationsBench(services);
    Runtime.install({ logger });
    await bench.book.create();
    const connection = await Connection.connect({ address: services.temporalAddress });
    bench.stack.defer(() => connection.close());
    bench.client = new Client({ connection });
    bench.native = await NativeConnection.connect({ address: services.temporalAddress });
    bench.stack.defer(() => bench.native.close());
    const workflowBundle = await bundleWorkflowCode({ workflowsPath: `${FIXTURES}workflows.ts`, logger });
    bench.stack.use(await bench.run({ workflowBundle }));
    return bench;
  }

  /** Starts a workflow with one operation whose tool does this, attempt by attempt. */
  async begin(does: readonly Behaviour[], order: Omit<Order, 'act' | 'activity'> & { readonly activity?: ActivityOptions } = {}): Promise<Running> {
    const id = `op-${newName()}`;
    const activity: ActivityOptions = { startToCloseTimeout: '20 seconds', retry: { maximumAttempts: 1 }, ...order.activity };
    const act = { operation: id, does };
    const handle = await this.client.workflow.start<typeof operation>('operation', {
      workflowId: id,
      taskQueue: this.name,
      args: [{ ...order, act, activity }],
    });
    return { id, handle, result: handle.result() };
  }

  /** The same, to its end, with what the book has of it. */
  async carryOut(...order: Parameters<OperationsBench['begin']>): Promise<Report & Awaited<ReturnType<Book['of']>>> {
    const { id, result } = await this.begin(...order);
    return { ...(await result), ...(await this.book.of(id)) };
  }

  /** Waits until the tool was started so often. */
  async started(operation: string, times = 1): Promise<void> {
    await until(async () => (await this.book.of(operation)).starts >= times);
  }

  /** Waits until the tool has begun and has had so many effects. */
  async wrote(operation: string, effects: number): Promise<void> {
    await this.started(operation);
    await until(async () => (await this.book.of(operation)).effects.length >= effects);
  }

  /** A task queue that no worker serves yet. */
  queue(): string {
    return `${this.name}_${newName()}`;
  }

  /** A worker of activities in this process. Disposing of it is a graceful shutdown that cancels at once what is in flight. */
  activityWorker(taskQueue: string): Promise<AsyncDisposable> {
    return this.run({ taskQueue, shutdownGraceTime: 0 });
  }

  /** A worker of activities in a process of its own; killed with the bench at the latest. */
  async activityProcess(taskQueue: string): Promise<ChildProcess> {
    const settings = { ...this.services, schema: this.name, taskQueue };
    const child = spawn(process.execPath, [`${FIXTURES}worker-child.ts`, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.stack.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await Promise.race([
      once(child.stdout ?? child, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('the worker process ended before it was ready'))),
    ]);
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }

  private async run(options: { taskQueue?: string; shutdownGraceTime?: number; workflowBundle?: { code: string } }): Promise<AsyncDisposable> {
    const worker = await Worker.create({
      connection: this.native,
      taskQueue: this.name,
      activities: operationActivities(this.book),
      ...options,
    });
    const running = worker.run();
    return {
      async [Symbol.asyncDispose]() {
        worker.shutdown();
        await running;
      },
    };
  }
}

export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 40_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it did not come so far');
    await new Promise((done) => setTimeout(done, 50));
  }
}
