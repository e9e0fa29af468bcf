/**
 * 50 agents of their own at once, each with an MCP client of its own, each 20 calls through the gateway: p50 and p95 of a call in milliseconds, and beside it in the
 * same run as many bare workflow Updates, each with one empty activity of the same kind. Only the ratio says something about this project. `--json` prints one object.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Worker } from '@temporalio/worker';
import { run } from '../src/client/run.ts';
import type { Root } from '../src/worker/root.ts';
import { connectWorker } from '../src/worker/temporal.ts';
import { startTrialWorker } from '../src/worker/trial-worker.ts';
import { writeOneCaseSuite } from '../test/harness/one-case-suite.ts';
import { onOwnServices } from './own-services.ts';

const AGENTS = 50;
/** Of each kind, by each agent. */
const CALLS = 10;

interface Row {
  readonly what: string;
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
}

await onOwnServices(async (root) => {
  const reads = createHistogram();
  const writes = createHistogram();
  {
    await using _worker = await startTrialWorker(root);
    // Warms the pool, the bundle and the server.
    await throughGateway(root, 'warm', 10, createHistogram(), createHistogram());
    await throughGateway(root, 'measured', AGENTS, reads, writes);
  }
  const bare = await bareUpdates(root);
  const rows = [
    rowOf('read through MCP', reads),
    rowOf('bare Update, local activity', bare.local),
    rowOf('write through MCP', writes),
    rowOf('bare Update, activity', bare.ordinary),
  ];
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ agents: AGENTS, rows })}\n`);
  else process.stdout.write(`${table(rows)}\n`);
});

/** All agents begin to call once every trial has come to its agent. */
async function throughGateway(root: Root, name: string, agents: number, reads: RecordableHistogram, writes: RecordableHistogram): Promise<void> {
  const { promise: together, resolve: begin } = Promise.withResolvers<void>();
  let waiting = 0;
  const server = createServer((request, response) => {
    void json(request).then(async (start) => {
      const { mcp, token } = start as { readonly mcp: string; readonly token: string };
      const client = new Client({ name: 'bench', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
      if (++waiting === agents) begin();
      await together;
      for (let n = 0; n < CALLS; n++) {
        await timed(reads, () => callOf(client, 'get_order', { order_id: 5007 }));
        await timed(writes, () => callOf(client, 'update_customer_contact', { customer_id: 1005, phone: `+49 30 ${1000 + n}` }));
      }
      await client.close();
      response.end('Done.');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const agent = { kind: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const user = { name: 'mara', role: 'agent', attributes: { identity_verified: true } };
    const budget = { calls: 2 * CALLS, wall: '10m' };
    const suite = await writeOneCaseSuite(root.config.home, name, { environment: 'support-desk', agent, kase: { user, budget } });
    const handle = await run(root, { ...suite, trials: agents, concurrency: agents, keep: 'never' }, new Promise(() => {}));
    for await (const event of handle.events()) {
      if (event.type === 'trial' && (event.ending !== 'completed' || event.calls !== 2 * CALLS))
        throw new Error(`a trial ended as ${event.ending}: ${event.why}`);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function callOf(client: Client, tool: string, args: { [name: string]: unknown }): Promise<void> {
  const { isError, content } = await client.callTool({ name: tool, arguments: args });
  if (isError) throw new Error(`${tool}: ${JSON.stringify(content)}; the figures would mean nothing`);
}

async function bareUpdates(root: Root): Promise<{ readonly ordinary: RecordableHistogram; readonly local: RecordableHistogram }> {
  const connection = await connectWorker(root.config.temporal);
  const taskQueue = 'trialbed-bench-updates';
  const worker = await Worker.create({
    connection,
    namespace: root.config.temporal.namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
    activities: { empty: async () => {} },
    maxCachedWorkflows: root.config.worker.cachedWorkflows,
  });
  const local = createHistogram();
  const ordinary = createHistogram();
  await worker.runUntil(async () => {
    const startedAt = performance.now();
    const workflows = await Promise.all(
      Array.from({ length: AGENTS }, (_, n) =>
        root.temporal.workflow.start('answering', { workflowId: `updates-${startedAt}-${n}`, taskQueue, args: [2 * CALLS] }),
      ),
    );
    await Promise.all(
      workflows.map(async (workflow) => {
        for (let n = 0; n < CALLS; n++) {
          await timed(local, () => workflow.executeUpdate('answer', { args: [true] }));
          await timed(ordinary, () => workflow.executeUpdate('answer', { args: [false] }));
        }
        await workflow.result();
      }),
    );
  });
  await connection.close();
  return { local, ordinary };
}

async function timed(times: RecordableHistogram, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  times.record(Math.max(1, Math.round((performance.now() - startedAt) * 1_000)));
}

/** Recorded in microseconds, told in milliseconds. */
function rowOf(what: string, times: RecordableHistogram): Row {
  const ms = (q: number) => Math.round(times.percentile(q) / 100) / 10;
  return { what, n: times.count, p50: ms(50), p95: ms(95) };
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map((row) => row.what.length));
  const line = (what: string, cells: readonly (string | number)[]) => [what.padEnd(width), ...cells.map((cell) => String(cell).padStart(9))].join('');
  return [line('milliseconds', ['n', 'p50', 'p95']), ...rows.map((row) => line(row.what, [row.n, row.p50, row.p95]))].join('\n');
}
