import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ModelCall } from '../../src/domain/model.ts';
import { type Store, StoreConflictError } from '../../src/store/store.ts';
import { type OpenedStore, openStore, summaryOf } from './store-fixture.ts';

let opened: OpenedStore;
let store: Store;
let batchOf: OpenedStore['batchOf'];

beforeAll(async () => {
  opened = await openStore(inject('services').postgresUrl);
  ({ store, batchOf } = opened);
});

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});

describe('calls of models', () => {
  const call = (id: string, changes: Partial<ModelCall> = {}): ModelCall => ({
    ...{ id, who: 'agent', agent: null, source: 'loop', route: 'tiny', url: 'http://127.0.0.1:1/v1', model: 'tiny', reported: 'v1' },
    ...{
      parameters: { temperature: 0 },
      seed: 7,
      usage: { input: 10, output: 2, cached: null, reasoning: null },
      price: { amount: 0.000001, currency: 'USD' },
    },
    ...{ latencyMs: 12.5, tries: 2, end: 'replied', problem: null, at: '2026-03-02T08:00:00.000Z' },
    ...changes,
  });

  test('are kept once, in order, for an attempt that exists', async () => {
    const { trial } = await batchOf(1);
    await expect(store.addModelCall(trial, 1, call('model-1'))).rejects.toThrow(StoreConflictError);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00.000Z');
    const calls = [call('model-2'), call('model-1', { usage: null, price: null, latencyMs: null, end: 'failed', problem: { code: 'x', message: '\u0000' } })];
    for (const one of calls) await store.addModelCall(trial, 1, one);
    await store.addModelCall(trial, 1, call('model-2', { tries: 9 }));
    expect(await store.modelCalls(trial, 1)).toEqual(calls);
  });

  test('a conversation goes on from what was said, and keeps what may be kept', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00.000Z');
    const entry = (seq: number, text: string) => ({
      ...{ who: 'agent' as const, agent: null, seq, role: 'user' as const, call: null, body: { text: 'kept' } },
      exact: { role: 'user' as const, text },
    });
    await store.addConversation(trial, 1, [entry(2, 'b'), entry(1, 'a\u0000')]);
    await store.addConversation(trial, 1, [entry(2, 'another')]);
    await store.addConversation(trial, 1, [{ who: 'user', agent: null, seq: 1, role: 'system', call: 'model-1', body: { text: 'brief' } }]);
    expect(await store.liveConversation(trial, 1, { who: 'agent', agent: null })).toEqual([
      { role: 'user', text: 'a\u0000' },
      { role: 'user', text: 'b' },
    ]);
    const kept = [
      { who: 'agent', agent: null, seq: 1, role: 'user', call: null, body: { text: 'kept' } },
      { who: 'agent', agent: null, seq: 2, role: 'user', call: null, body: { text: 'kept' } },
      { who: 'user', agent: null, seq: 1, role: 'system', call: 'model-1', body: { text: 'brief' } },
    ];
    expect(await store.conversation(trial, 1)).toEqual(kept);
    await store.finishAttempt(trial, 1, summaryOf(trial, 1), '2026-03-02T08:01:00.000Z');
    expect(await store.liveConversation(trial, 1, { who: 'agent', agent: null })).toEqual([]);
    expect(await store.conversation(trial, 1)).toEqual(kept);
  });
});

describe('the gateway', () => {
  test('finds a token by its name, and its agent, until it or its attempt has ended', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00Z');
    const place = { trial, attempt: 1, agent: 'clerk' };
    const token = { ...place, place: 'http://10.0.0.1:8080', name: randomUUID(), digest: 'd' };
    await store.putGatewayToken({ ...token, name: randomUUID() });
    await store.putGatewayToken(token);
    expect(await store.gatewayTokenOf(place)).toEqual(token);
    expect(await store.gatewayToken(token.name)).toEqual({ ...token, ended: false });
    await store.moveGatewayToken(token.name, 'http://10.0.0.2:8080');
    await store.endGatewayToken(token.name);
    expect(await store.gatewayTokenOf(place)).toBeNull();
    expect(await store.gatewayToken(token.name)).toEqual({ ...token, place: 'http://10.0.0.2:8080', ended: true });
    const other = { ...token, agent: 'other', name: randomUUID(), digest: 'e' };
    await store.putGatewayToken(other);
    await store.beginAttempt(trial, 2, '2026-03-02T08:01:00Z');
    expect(await store.gatewayToken(other.name)).toMatchObject({ ended: true });
    expect(await store.gatewayToken('nobody')).toBeNull();
  });

  test('keeps the operation of a named call, the first one, and a bounded number of late requests', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00Z');
    await store.putGatewayCall(trial, 1, { id: 'mine', digest: 'd', operation: 'op-1' });
    await store.putGatewayCall(trial, 1, { id: 'mine', digest: 'd', operation: 'op-2' });
    expect(await store.gatewayCalls(trial, 1)).toEqual([{ id: 'mine', digest: 'd', operation: 'op-1' }]);
    await store.setOpenTurn(trial, 1, { asked: 1, status: 'http://agent/1' });
    await store.setOpenTurn(trial, 1, { asked: 2, status: 'http://agent/2' });
    expect(await store.openTurn(trial, 1)).toEqual({ asked: 2, status: 'http://agent/2' });
    await store.setOpenTurn(trial, 1, null);
    expect(await store.openTurn(trial, 1)).toBeNull();
    for (let n = 1; n <= 102; n++) await store.addLateRequest(trial, 1, `request ${n}`);
    const late = await store.lateRequests(trial, 1);
    expect(late).toHaveLength(100);
    expect(late[0]).toMatchObject({ detail: 'request 1' });
  });
});
