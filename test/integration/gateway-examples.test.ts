import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
});
afterAll(() => testbed[Symbol.asyncDispose]());

it.each([
  ['teller', 'refund-within-policy', ['get_ticket', 'get_order', 'list_refunds', 'issue_refund', 'send_mail']],
  ['closer', 'close-with-comment', ['comment_ticket', 'update_ticket']],
] as const)('examples/agents/%s passes %s through plain HTTP, each call in the ledger like any other', async (agent, kase, tools) => {
  const { trials } = await testbed.run({ suite: 'support-desk', cases: [kase], agents: [resolve('examples/agents', `${agent}.yaml`)], keep: 'never' });
  expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', calls: tools.length, attempt: 1, disturbed: false }]);
  const record = await testbed.root.store.record(trials[0]?.trial ?? '', 1);
  expect(record?.operations.map(({ tool, told }) => `${tool} ${told}`)).toEqual(tools.map((tool) => `${tool} committed`));
  // Every effect is one of an operation.
  expect(record?.effects.every(({ operation }) => operation !== null)).toBe(true);
  expect(record?.messages.map(({ from }) => from)).toEqual(['user', 'agent']);
});
