import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

/** A batch as the command line names it. */
export interface StormBatch {
  /** Name of its suite. */
  readonly suite: string;
  readonly args: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** All of them write, most of them mail. */
const CASES = [
  'address-change-two-turns',
  'cancel-before-shipping',
  'close-with-comment',
  'contact-change',
  'follow-up-after-clock-change',
  'lost-parcel',
  'partial-refund',
  'refund-approval-granted',
  'refund-within-policy',
  'same-name-customer',
];

const COMMON = { environment: 'support-desk', clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', user: { name: 'mara', role: 'agent' } };

/** Ten cases of the support desk, by a script and by a program through the gateway. */
export async function writeStormSuite(folder: string, name: string, repetitions: number): Promise<StormBatch> {
  const suite = join(folder, name);
  await mkdir(suite, { recursive: true });
  await writeFile(join(suite, 'suite.yaml'), stringify({ name, budget: { calls: 30, wall: '60s' }, ...COMMON }));
  const source = join(ROOT, 'src/environments/support-desk/suite');
  for (const part of ['cases', 'faults']) await cp(join(source, part), join(suite, part), { recursive: true });
  const agent = { name: 'desk', version: '1', kind: 'command', folder: join(ROOT, 'test/chaos/storm/desk'), program: process.execPath, args: ['desk.mjs'] };
  await writeFile(join(suite, 'desk.yaml'), stringify(agent));
  const agents = ['--agent', 'reference', '--agent', join(suite, 'desk.yaml')];
  return { suite: name, args: [suite, ...agents, ...CASES.flatMap((id) => ['--case', id]), '--trials', String(repetitions)] };
}

/** Batches that pass the failpoints that a support desk never does: approvals, a tool server with a database for each world, a model and a simulated user. */
export async function otherSuites(folder: string, provider: string): Promise<readonly StormBatch[]> {
  const suite = join(folder, 'talk');
  await mkdir(join(suite, 'cases'), { recursive: true });
  await writeFile(join(suite, 'suite.yaml'), stringify({ name: 'talk', budget: { calls: 30, wall: '60s', turns: 5 }, ...COMMON }));
  const question = { question: 'Which order is it?' };
  const kase = {
    title: 'A customer who has to be asked',
    kind: 'conversation',
    request: 'Please call me back about my order.',
    conversation: { user: 'script', rules: [{ topic: ['order'], say: 'Order 5005.' }], otherwise: ['Thank you.'] },
    expect: { outcomes: [{ name: 'arranged', effects: [{ row: 'follow_ups', change: 'insert', where: { customer_id: 1007 } }] }] },
    reference: {
      steps: [
        { call: 'ask_user', with: question, as: 'reply' },
        { call: 'schedule_follow_up', with: { customer_id: 1007, kind: 'call', due_at: '2026-03-05T09:00:00+01:00', note: 'Call back' } },
      ],
      answer: 'I call you back on Thursday.',
    },
  };
  await writeFile(join(suite, 'cases', 'call-back.yaml'), stringify(kase));
  const model = { name: 'asker', version: '1', kind: 'model', prompt: 'Call back.', route: { url: provider, model: 'tiny' } };
  await writeFile(join(suite, 'asker.yaml'), stringify(model));
  return [
    { suite: 'approvals', args: [resolve(ROOT, 'examples/approvals'), '--agent', 'reference', '--trials', '6'] },
    { suite: 'stock-room', args: [resolve(ROOT, 'examples/own-tools/suite'), '--agent', 'reference', '--trials', '16'] },
    { suite: 'talk', args: [suite, '--agent', 'reference', '--agent', join(suite, 'asker.yaml'), '--trials', '12'] },
  ];
}
