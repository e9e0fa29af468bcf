import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { until } from '../chaos/until.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'gateway-mcp');
  folder = await mkdtemp(join(tmpdir(), 'trialbed-mcp-'));
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const MODES = { legacy: 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const;
interface Lent {
  readonly url: string;
  readonly token: string;
}

async function connect({ url, token }: Lent, mode: keyof typeof MODES): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: MODES[mode] } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}

/** Acts with the official client in the place of a program that waits meanwhile. */
async function actAs(
  name: string,
  act: (lent: Lent) => Promise<void>,
): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord; readonly lent: Lent }> {
  const file = join(folder, name);
  const running = suites.run({
    kind: 'command',
    folder: resolve('test/fixtures/agents/programs'),
    program: 'python3',
    args: ['rogue.py', 'lends_mcp', file],
  });
  const lent = await until('the agent has lent its token', async () => JSON.parse(await readFile(file, 'utf8')) as Lent);
  try {
    await act(lent);
  } finally {
    await writeFile(`${file}.used`, '');
  }
  const trial = await running;
  return { trial, record: await suites.record(trial), lent };
}

it.each(['legacy', '2026-07-28'] as const)('an MCP client of protocol %s lists the tools, and its calls are operations like any other', async (mode) => {
  const { trial, record, lent } = await actAs(mode, async (lent) => {
    await using client = asDisposable(await connect(lent, mode));
    const { tools } = await client.value.listTools();
    expect(tools.map(({ name }) => name)).toContain('add_note');
    expect(tools.find(({ name }) => name === 'add_note')?.inputSchema).toMatchObject({ type: 'object', properties: { body: { type: 'string' } } });

    const call = (name: string, args: { [key: string]: unknown }) => client.value.callTool({ name, arguments: args });
    expect(await call('add_note', { body: 'one' })).toMatchObject({
      isError: false,
      content: [{ type: 'text', text: '{"id":1}' }],
      structuredContent: { operation: 'op-1', state: 'committed', result: { id: 1 }, problem: null },
    });
    expect(await call('add_note', { body: 2 })).toMatchObject({ isError: true, structuredContent: { state: 'rejected', problem: { code: 'invalid_args' } } });
    expect(await call('refuse', { length: 3 })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'op-3 failed and had no effect: refused: nnn' }],
      structuredContent: { operation: 'op-3', state: 'failed', problem: { code: 'refused' } },
    });
    expect(await call('no_such_tool', {})).toMatchObject({ isError: true, structuredContent: { state: 'rejected', problem: { code: 'unknown_tool' } } });
    expect(await call('defect', { message: 'boom' })).toMatchObject({ isError: true, structuredContent: { operation: 'op-5', state: 'unknown' } });
    const keyed = () => call('add_note', { body: 'two', idempotency_key: 'k' });
    expect((await keyed()).structuredContent).toEqual((await keyed()).structuredContent);

    const named = () => client.value.callTool({ name: 'add_note', arguments: { body: 'three' }, _meta: { 'trialbed/call-id': 'n' } });
    expect((await named()).structuredContent).toEqual((await named()).structuredContent);
    await expect(client.value.callTool({ name: 'add_note', arguments: { body: 'x' }, _meta: { 'trialbed/call-id': 5 } })).rejects.toThrow('call id');

    const many = await Promise.all(Array.from({ length: 20 }, (_, n) => call('add_note', { body: `many ${n}` })));
    expect(many.map(({ structuredContent }) => structuredContent)).toMatchObject(Array(20).fill({ state: 'committed' }));
    // A second connection is the same agent.
    await using second = asDisposable(await connect(lent, mode));
    expect(await second.value.callTool({ name: 'slow_read', arguments: {} })).toMatchObject({ isError: false, content: [{ text: 'null' }] });
  });
  expect(trial).toMatchObject({ ending: 'completed', calls: 29 });
  expect(record.effects).toHaveLength(23);
  expect(record.operations.map(({ id }) => id)).toEqual(Array.from({ length: 29 }, (_, n) => `op-${n + 1}`));
  await expect(connect(lent, mode)).rejects.toThrow();
});

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

it('the handshake of every earlier revision is answered in that revision, and leads to the same tools', async () => {
  const { trial } = await actAs('revisions', async ({ url, token }) => {
    for (const revision of REVISIONS) {
      const ask = async (id: number, method: string, params: object) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
            ...(id > 1 && { 'mcp-protocol-version': revision }),
          },
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        });
        const text = await response.text();
        return JSON.parse(text.startsWith('{') ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? 'null')) as { readonly result: unknown };
      };
      const clientInfo = { name: 'old', version: '1' };
      expect(await ask(1, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo })).toMatchObject({ result: { protocolVersion: revision } });
      expect(await ask(2, 'tools/list', {})).toMatchObject({ result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'add_note' })]) } });
      const called = await ask(3, 'tools/call', { name: 'add_note', arguments: { body: revision } });
      expect(called).toMatchObject({ result: { isError: false, content: [{ type: 'text' }], structuredContent: { state: 'committed' } } });
    }
  });
  expect(trial).toMatchObject({ ending: 'completed', calls: REVISIONS.length });
});

it('a client that gives a call up takes nothing back', async () => {
  const { record } = await actAs('gives up', async (lent) => {
    await using client = asDisposable(await connect(lent, '2026-07-28'));
    const abort = new AbortController();
    const call = client.value.callTool({ name: 'wait', arguments: { ms: 1_500 } }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await expect(call).rejects.toThrow();
  });
  expect(record.operations).toMatchObject([{ tool: 'wait', told: 'committed', known: 'committed' }]);
});

it('a token that is none connects nobody', async () => {
  const { trial } = await actAs('wrong', async ({ url }) => {
    await expect(connect({ url, token: 'a.b' }, 'legacy')).rejects.toThrow();
    await expect(connect({ url, token: 'a.b' }, '2026-07-28')).rejects.toThrow();
  });
  expect(trial).toMatchObject({ ending: 'completed', calls: 0 });
});

function asDisposable(client: Client): { readonly value: Client } & AsyncDisposable {
  return { value: client, [Symbol.asyncDispose]: () => client.close() };
}
