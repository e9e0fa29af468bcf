import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

test('purge tells of each class what goes, and how many stay since others go on from them', async () => {
  const purge = async () => [
    { class: 'snapshots' as const, days: 30, count: 2, needed: 1 },
    { class: 'raw_mail' as const, days: 30, count: 0, needed: 0 },
    { class: 'verdicts' as const, days: null, count: 0, needed: 0 },
  ];
  const host = new TestHost({ client: { purge } });
  expect(await runCommandLine(['purge', '--dry-run'], host)).toBe(0);
  expect(host.stdout.trimEnd().split('\n')).toEqual([
    'snapshots     older than 30 days: 2 attempts to be removed; 1 stay, since trials that were forked or reset and have not ended go on from them',
    'raw_mail      older than 30 days: 0 attempts to be removed',
    'verdicts      kept for ever',
  ]);
});
