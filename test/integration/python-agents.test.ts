import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { PYTHON_PATH, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const python = await requireOrSkip('python');

describe.skipIf(!python.met)(skipTitle('agents in Python with packages', python), () => {
  let testbed: Testbed;
  const path = process.env.PATH;
  beforeAll(async () => {
    process.env.PATH = PYTHON_PATH;
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    process.env.PATH = path;
    await testbed[Symbol.asyncDispose]();
  });

  it('examples/agents/envoy, with the official MCP client, and porter, with requests, pass: each call is in the ledger like any other', async () => {
    const agents = ['envoy', 'porter'].map((name) => resolve('examples/agents', `${name}.yaml`));
    const { trials } = await testbed.run({ suite: 'support-desk', cases: ['close-with-comment'], agents, keep: 'never' });
    expect(trials.map(({ agent, why }) => [agent, why])).toEqual(
      expect.arrayContaining([
        ['envoy', null],
        ['porter', null],
      ]),
    );
    expect(trials).toMatchObject(Array(2).fill({ ending: 'completed', pass: 'pass', calls: 2, attempt: 1, disturbed: false }));
    for (const { trial } of trials) {
      const record = await testbed.root.store.record(trial, 1);
      expect(record?.operations.map(({ tool, told }) => `${tool} ${told}`)).toEqual(['comment_ticket committed', 'update_ticket committed']);
      expect(record?.effects.every(({ operation }) => operation !== null)).toBe(true);
    }
  });
});
