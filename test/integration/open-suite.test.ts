import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { openSuite } from '../../src/client/open-suite.ts';
import { ownServer } from '../fixtures/packs/shop/kit.ts';
import { startTestbed } from '../harness/testbed.ts';

it('names that the environment does not have are told with file, line and the nearest known name, and no batch is made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-names-'));
  try {
    await mkdir(join(folder, 'cases'));
    await writeFile(
      join(folder, 'suite.yaml'),
      'name: names\nenvironment: support-desk\nclock: 2026-03-02T09:30:00+01:00\nuser: { name: mara, role: agent }\n',
    );
    const lines = [
      'title: Names',
      'kind: test',
      'request: Do it.',
      'expect:',
      '  outcomes:',
      '    - name: refunded',
      '      effects:',
      '        - row: refund',
      '          change: insert',
      '        - row: refunds',
      '          change: insert',
      '          where: { ammount: 5 }',
      'reference:',
      '  steps:',
      '    - { call: isue_refund, with: { order_id: 5007 } }',
      '  answer: Done.',
    ];
    await writeFile(join(folder, 'cases', 'one.yaml'), lines.join('\n'));
    // Of its own: other files check suites at the same time, each in a world.
    await using server = await ownServer();
    await using testbed = await startTestbed({ ...inject('services'), postgresUrl: server.url }, { worker: false });
    const refused = openSuite(testbed.root, folder);
    await expect(refused).rejects.toMatchObject({
      code: 'suite_file',
      problems: [
        { line: 8, suggestion: 'refunds' },
        { line: 12, suggestion: 'amount' },
        { line: 15, suggestion: 'issue_refund' },
      ],
    });
    expect(await testbed.root.store.batches()).toEqual([]);
    expect(await testbed.root.worlds.leased('check-')).toBe(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
