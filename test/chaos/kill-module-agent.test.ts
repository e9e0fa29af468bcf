import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTestbed } from '../harness/testbed.ts';
import { killWhileActing } from './killed-agent.ts';
import { observed } from './observed.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe.concurrent('kill -9 of the worker while a module agent acts', () => {
  it.each([
    ['waits', false],
    ['lets nothing else run', true],
  ] as const)(
    'that %s: its processes end, the attempt is no result, the next one passes, both worlds are released',
    async (name, busy) => {
      await using testbed = await startTestbed(inject('services'), { worker: false, config: { home } });
      const { root } = testbed;
      const file = join(home, `${busy ? 'busy' : 'idle'}.json`);
      const suite = await writeSuite(join(home, busy ? 'busy' : 'idle'), name, { file, busy });
      const trial = await killWhileActing(testbed, { suite, agents: [join(suite, 'agent.yaml')] }, file);
      expect(trial).toMatchObject({ disturbed: false, why: null });
      await observed(root.store, trial);
      const attempts = await root.store.attempts(trial.trial);
      // What the first attempt did and said is kept, in a world of its own.
      expect(attempts[0]?.world).not.toBeNull();
      expect(await root.store.messages(trial.trial, 1)).toMatchObject([{ from: 'user' }]);
      expect(await root.store.verdicts(trial.trial)).toHaveLength(1);
      // The trial's workflow still knew the first world and gave it back: nothing is left to sweep.
      expect(await root.worlds.leased(`${trial.batch}-`)).toBe(0);
    },
    180_000,
  );
});

async function writeSuite(folder: string, title: string, parameters: { readonly file: string; readonly busy: boolean }): Promise<string> {
  await mkdir(join(folder, 'cases'), { recursive: true });
  await writeFile(
    join(folder, 'suite.yaml'),
    stringify({
      name: 'stays',
      title,
      environment: 'support-desk',
      user: { name: 'mara', role: 'agent' },
      clock: '2026-03-02T09:30:00+01:00',
      timezone: 'Europe/Berlin',
    }),
  );
  await writeFile(
    join(folder, 'cases', 'comment.yaml'),
    stringify({
      title,
      kind: 'test',
      request: 'Say in ticket 214 that we have seen it.',
      expect: {
        outcomes: [{ name: 'commented', effects: [{ row: 'ticket_comments', change: 'insert', where: { ticket_id: 214, body: 'Seen.' } }] }],
        allowed: [{ row: 'tickets', change: 'update', where: { id: 214 }, only: ['updated_at', 'status'] }],
      },
      reference: { steps: [{ call: 'comment_ticket', with: { ticket_id: 214, body: 'Seen.', public: false } }], answer: 'Done.' },
    }),
  );
  await writeFile(
    join(folder, 'agent.yaml'),
    stringify({ name: 'stays', version: '1', kind: 'module', file: resolve('test/fixtures/agents/stays.ts'), parameters }),
  );
  return folder;
}
