import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { run } from '../src/client/run.ts';
import { startWorkerProcess } from '../src/client/worker-process.ts';
import type { Root } from '../src/worker/root.ts';
import { writeOneCaseSuite } from '../test/harness/one-case-suite.ts';
import { BARE_QUEUE, startBareWorker } from './bare-worker.ts';
import { CONCURRENCIES, type Effort, type Figures, quantile, rounded, timed } from './figures.ts';

/** Reads and writes that an agent makes for each other. */
const READS = 5;
const WRITES = 3;

/** Where agents also call by MCP: so many clients of the official library at once, each 20 calls. */
const MCP_AGENTS = 50;

interface Times {
  readonly reads: number[];
  readonly writes: number[];
}

/**
 * Agents that all call at once through the gateway, over plain HTTP (50 of them by MCP as well), and beside them as many bare workflows of which each answers as many Updates: each read beside an Update with a local
 * activity, each write beside one with an ordinary activity, by turns and each by a worker process of its own.
 */
export async function callCost(root: Root, { quick }: Effort): Promise<Figures> {
  await using _bare = await startBareWorker(root);
  // All agents converse at once, whatever the default of a worker.
  const activities = 2 * Math.max(...CONCURRENCIES);
  await using worker = await startWorkerProcess({ ...root.config, worker: { ...root.config.worker, activities } });
  const rounds = quick ? 1 : 4;
  await throughGateway(root, worker.broken, { name: 'warm', agents: 10, rounds: 1, connect: byHttp }, { reads: [], writes: [] });
  const figures: { [name: string]: { [concurrency: string]: number } } = {};
  for (const agents of CONCURRENCIES) {
    const [ours, bares]: [Times, Times] = [
      { reads: [], writes: [] },
      { reads: [], writes: [] },
    ];
    for (let turn = 0; turn < 2; turn++) {
      await throughGateway(root, worker.broken, { name: `calls-${agents}-${turn}`, agents, rounds: agents === 1 ? 2 * rounds : rounds, connect: byHttp }, ours);
      await bareUpdates(root, agents, agents === 1 ? 2 * rounds : rounds, bares);
    }
    const all = [...ours.reads, ...ours.writes];
    const measured = {
      tool_call_ms_p50: quantile(all, 0.5),
      tool_call_ms_p95: quantile(all, 0.95),
      read_call_ms_p50: quantile(ours.reads, 0.5),
      write_call_ms_p50: quantile(ours.writes, 0.5),
      bare_update_ms_p50: quantile(bares.writes, 0.5),
      bare_update_ms_p95: quantile(bares.writes, 0.95),
      bare_local_update_ms_p50: quantile(bares.reads, 0.5),
      tool_call_to_bare_update: rounded(quantile(all, 0.5) / quantile(bares.writes, 0.5)),
    };
    for (const [name, value] of Object.entries(measured)) figures[name] = { ...figures[name], [agents]: value };
  }
  const mcp: Times = { reads: [], writes: [] };
  await throughGateway(root, worker.broken, { name: 'calls-mcp', agents: MCP_AGENTS, rounds, connect: byMcp }, mcp);
  const calls = [...mcp.reads, ...mcp.writes];
  figures.mcp_call_ms_p50 = { [MCP_AGENTS]: quantile(calls, 0.5) };
  figures.mcp_call_ms_p95 = { [MCP_AGENTS]: quantile(calls, 0.95) };
  return figures;
}

interface Crowd {
  readonly name: string;
  readonly agents: number;
  readonly rounds: number;
  readonly connect: (door: Door) => Promise<Caller>;
}

/** All agents begin to call once every trial has come to its agent. */
async function throughGateway(root: Root, broken: Promise<never>, { name, agents, rounds, connect }: Crowd, times: Times): Promise<void> {
  const { promise: together, resolve: begin } = Promise.withResolvers<void>();
  let waiting = 0;
  const server = createServer((request, response) => {
    void json(request).then(async (start) => {
      await using call = await connect(start as Door);
      if (++waiting === agents) begin();
      await together;
      for (let round = 0; round < rounds; round++) {
        for (let n = 0; n < READS; n++) await timed(times.reads, () => call.tool('get_order', { order_id: 5007 }));
        for (let n = 0; n < WRITES; n++) {
          await timed(times.writes, () => call.tool('update_customer_contact', { customer_id: 1005, phone: `+49 30 ${1000 + WRITES * round + n}` }));
        }
      }
      response.end('Done.');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const agent = { kind: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const user = { name: 'mara', role: 'agent', attributes: { identity_verified: true } };
    const calls = rounds * (READS + WRITES);
    const suite = await writeOneCaseSuite(root.config.home, name, { environment: 'support-desk', agent, kase: { user, budget: { calls, wall: '10m' } } });
    const handle = await run(root, { ...suite, trials: agents, concurrency: agents, keep: 'never' }, broken);
    for await (const event of handle.events()) {
      if (event.type === 'trial' && (event.ending !== 'completed' || event.calls !== calls)) throw new Error(`a trial ended as ${event.ending}: ${event.why}`);
    }
    await handle.result();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** One agent's way to its tools. */
interface Caller extends AsyncDisposable {
  tool(name: string, args: { readonly [name: string]: unknown }): Promise<void>;
}

interface Door {
  readonly gateway: string;
  readonly mcp: string;
  readonly token: string;
}

async function byHttp({ gateway, token }: Door): Promise<Caller> {
  return {
    async tool(name, args) {
      const response = await fetch(`${gateway}/tools/${name}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(args) });
      const { state, problem } = (await response.json()) as { readonly state: string; readonly problem: unknown };
      if (state !== 'committed') throw new Error(`${name} is ${state} (${JSON.stringify(problem)}); the figures would mean nothing`);
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function byMcp({ mcp, token }: Door): Promise<Caller> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return {
    async tool(name, args) {
      const { isError, content } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(`${name}: ${JSON.stringify(content)}; the figures would mean nothing`);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function bareUpdates(root: Root, workflows: number, rounds: number, times: Times): Promise<void> {
  const startedAt = performance.now();
  const updates = rounds * (READS + WRITES);
  const started = await Promise.all(
    Array.from({ length: workflows }, (_none, n) =>
      root.temporal.workflow.start('answering', { workflowId: `updates-${startedAt}-${n}`, taskQueue: BARE_QUEUE, args: [updates] }),
    ),
  );
  await Promise.all(
    started.map(async (workflow) => {
      for (let round = 0; round < rounds; round++) {
        for (let n = 0; n < READS; n++) await timed(times.reads, () => workflow.executeUpdate('answer', { args: [true] }));
        for (let n = 0; n < WRITES; n++) await timed(times.writes, () => workflow.executeUpdate('answer', { args: [false] }));
      }
      await workflow.result();
    }),
  );
}
