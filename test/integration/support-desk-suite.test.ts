import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { grade } from '../../src/domain/grading/grade.ts';
import type { ModuleAgent } from '../../src/environments/agent.ts';
import careful from '../../src/environments/support-desk/suite/agents/careful.ts';
import hasty from '../../src/environments/support-desk/suite/agents/hasty.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { type Bench, openBench } from './support-desk-bench.ts';

const suite = await loadSuite(fileURLToPath(new URL('../../src/environments/support-desk/suite/suite.yaml', import.meta.url)));

let bench: Bench;
beforeAll(async () => {
  bench = await openBench(inject('services').postgresUrl);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe('each case', () => {
  const cases = suite.cases.map(({ kase, hash }) => [kase.id, kase, hash] as const);
  test.each(cases)('%s: its reference solution passes and doing nothing does not', async (_, kase, hash) => {
    const verdict = grade(kase, hash, await bench.play(kase, kase.reference));
    expect(findings(verdict)).toEqual([]);
    expect(verdict.pass).toBe('pass');

    const idle = grade(kase, hash, await bench.play(kase, { steps: [], answer: 'I am afraid that I cannot help with this.' }));
    expect(idle.pass).toBe(kase.expectsNothing ? 'pass' : 'fail');
  });
});

describe('the agents of the suite', () => {
  test('the hasty one gets through every case and fails most', async () => {
    const passed = await passedBy(hasty, { tries: 2 });
    expect(passed).toContain('cancel-before-shipping');
    expect(passed).toContain('close-with-comment');
    expect(passed.length).toBeLessThan(suite.cases.length / 3);
  });

  test('the careful one passes the cases of the kinds that it knows', async () => {
    const passed = await passedBy(careful, {});
    const known = ['refund-within-policy', 'refund-needs-approval', 'refund-approval-granted', 'conflicting-records', 'cancel-after-shipping'];
    expect(passed).toEqual(expect.arrayContaining(known));
    expect(passed.length).toBeGreaterThan(suite.cases.length / 3);
  });

  async function passedBy(agent: ModuleAgent, parameters: { tries?: number }): Promise<string[]> {
    const passed: string[] = [];
    for (const { kase, hash } of suite.cases) {
      const record = await bench.converse(kase, agent, parameters);
      expect(record.messages.filter((message) => message.from === 'agent')).toHaveLength(kase.turns.length);
      if (grade(kase, hash, record).pass === 'pass') passed.push(kase.id);
    }
    return passed;
  }
});

function findings({ outcome, constraints, effects }: ReturnType<typeof grade>): string[] {
  return [outcome, constraints, effects]
    .flatMap((view) => view.findings)
    .filter(({ judgement }) => judgement !== 'pass')
    .map(({ message }) => message);
}
