import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { Store } from '../../src/store/store.ts';
import { type OpenedStore, openStore, OPERATION, recordOf, summaryOf } from './store-fixture.ts';

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

describe('what agents write', () => {
  test('text with NUL, unpaired surrogates and every other character comes back as it was', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const text = 'NUL \0, halves \ud83d and \ude00, whole \u{1f600}, \\u0000 spelled out, e\u0301 not composed, \u2028, \ufeff';
    await store.addMessage(trial, 1, { turn: 1, from: 'agent', text, data: { ['key \0 \ud800']: text } });
    expect(await store.messages(trial, 1)).toEqual([{ turn: 1, from: 'agent', text, data: { ['key \0 \ud800']: text } }]);
    const operation = { ...OPERATION, args: { text, nested: [text] }, result: text };
    await store.putRecord(trial, 1, recordOf({ operations: [operation] }));
    expect((await store.record(trial, 1))?.operations).toEqual([operation]);
    await store.putSnapshot(`s-${trial}`, trial, 1, { text });
    await store.putSnapshot(`s-${trial}`, trial, 1, { text: 'second' });
    expect(await store.snapshot(`s-${trial}`)).toEqual({ trial, attempt: 1, snapshot: { text } });
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, { why: text, ending: 'agent_error' }), '2026-03-02T08:31:00.000Z');
    expect((await store.trial(trial))?.summary?.why).toBe(text);
    expect((await store.attempts(trial))[0]?.problem?.message).toBe(text);
  });

  test('any JSON value comes back as it was', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false, stringUnit: 'binary' }), async (value) => {
        n += 1;
        const json = JSON.parse(JSON.stringify(value)) as Json;
        await store.putSnapshot(`any-${trial}-${n}`, trial, 1, { value: json });
        expect((await store.snapshot(`any-${trial}-${n}`))?.snapshot.value).toEqual(json);
      }),
      { numRuns: 60 },
    );
  });

  test('keys of an object keep their order, and __proto__ is a key like any other', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const text = '{"z":1,"a":2,"__proto__":{"polluted":true},"1":3}';
    await store.putSnapshot(`keys-${trial}`, trial, 1, JSON.parse(text));
    expect(JSON.stringify((await store.snapshot(`keys-${trial}`))?.snapshot)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test('a record of many megabytes, and one nested a thousand deep', async () => {
    const { id, trial } = await batchOf(2);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const big = 'a line of a long file\0\n'.repeat(1_000_000);
    await store.putRecord(trial, 1, recordOf({ operations: [{ ...OPERATION, result: big }] }));
    expect((await store.record(trial, 1))?.operations[0]?.result === big).toBe(true);
    let deep: Json = 1;
    for (let i = 0; i < 1000; i++) deep = i % 2 === 0 ? [deep] : { deep };
    await store.beginAttempt(`${id}-0002`, 1, '2026-03-02T08:30:00.000Z');
    await store.putRecord(`${id}-0002`, 1, recordOf({ operations: [{ ...OPERATION, args: deep }] }));
    expect(JSON.stringify((await store.record(`${id}-0002`, 1))?.operations[0]?.args)).toBe(JSON.stringify(deep));
  });
});
