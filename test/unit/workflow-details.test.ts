import { expect, test } from 'vitest';
import { detailsText } from '../../src/workflows/details.ts';
import { trial } from './report-support.ts';

const AT = { case: 'refund', agent: 'hasty', attempt: 1, phase: 'drive', calls: null, summary: null } as const;
const note = (n: number, over = {}) => ({
  id: `op-${n}`,
  seq: n,
  tool: 'get_order',
  position: n,
  told: 'committed' as const,
  problem: null,
  replayOf: null,
  disturbed: false,
  ...over,
});

test('a running trial shows where it stands, line by line: what is under way and the last calls', () => {
  const notes = [1, 2, 3, 4, 5, 6].map((n) => note(n));
  const failed = note(7, { tool: 'issue_refund', told: 'failed', problem: { code: 'over_limit', message: 'More than 50 EUR.' } });
  const text = detailsText({ ...AT, calls: { made: 8, budget: 30, inFlight: ['op-8 send_mail'], notes: [...notes, failed] } });
  expect(text).toBe(
    [
      'Case **refund** with agent **hasty**, attempt 1',
      '',
      '- Phase: drive',
      '- Calls: 8 of at most 30',
      '- In flight: op-8 send\\_mail',
      ...[3, 4, 5, 6].map((n) => `- Call op-${n} get\\_order: committed`),
      '- Call op-7 issue\\_refund: failed (over\\_limit: More than 50 EUR.)',
    ].join('\n'),
  );
});

test('nothing that an agent wrote is markup, and what it wrote is bounded', () => {
  const why = `![x](http://evil.example/a) <img src=x> www.evil.example\n# heading \u001b[31m ${'y'.repeat(2_000)}`;
  const text = detailsText({ ...AT, summary: trial({ pass: 'fail', why }) });
  expect(text).not.toMatch(/(?<!\\)[<>![\]#]|(?<!\\):\/\/|www\.e|\n#|\u001b/);
  expect(text.length).toBeLessThan(800);
});
