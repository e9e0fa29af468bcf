import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ownServer } from '../fixtures/packs/shop/kit.ts';
import { startDetour } from '../harness/detour.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { type CommandPlace, commandPlace, jsonLines, type Running } from './cli-process.ts';

/** Commands of people who did not start a batch, or whose command is dead. */

let place: CommandPlace;
beforeAll(async () => {
  place = await commandPlace(inject('services'));
});
afterAll(() => place[Symbol.asyncDispose]());

const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'operators' } };

/** A command that runs a suite of one case, whose trials take so long. */
async function suite(at: CommandPlace, name: string, ms: number): Promise<readonly string[]> {
  const agent = {
    kind: 'script',
    steps: [
      { call: 'add_note', with: { body: 'a' } },
      { call: 'wait', with: { ms } },
    ],
    answer: 'Done.',
  };
  const written = await writeOneCaseSuite(at.cwd, name, { environment, agent });
  return ['run', written.suite, '--agent', written.agents[0], '--json', '--no-gate', '--keep', 'never'];
}

/** Ends a command by a signal as soon as one of its trials has ended, and gives the batch. */
async function ended(running: Running, signal: NodeJS.Signals): Promise<string> {
  await running.wrote('"type":"trial"');
  running.process.kill(signal);
  return /"batch":"([^"]+)"/.exec((await running.ended).stdout)?.[1] ?? '';
}

interface Listed {
  readonly state: string;
  readonly options: { readonly priority?: number };
}

async function listed(batch: string): Promise<Listed | undefined> {
  return jsonLines((await place.run('ps', '--json')).stdout).find(({ id }) => id === batch) as unknown as Listed | undefined;
}

test('a command that is killed is followed to the end by another: no trial lost, none twice', { timeout: 120_000 }, async () => {
  const batch = await ended(place.start(...(await suite(place, 'killed', 800)), '--trials', '10', '--concurrency', '2'), 'SIGKILL');
  const watched = await place.run('watch', batch, '--json', '--no-gate');
  expect(watched.code).toBe(0);
  expect(jsonLines(watched.stdout).at(-1)).toMatchObject({ type: 'summary', batch, trials: 10, infraErrors: 0, cancelled: 0, worlds: { leaked: 0 } });
  const trials = jsonLines((await place.run('ps', batch, '--json')).stdout);
  expect(trials.map(({ phase }) => phase)).toEqual(Array.from({ length: 10 }, () => 'done'));
});

test('an interrupted batch is resumed with another priority, and is cancelled where nobody works on it', { timeout: 120_000 }, async () => {
  const command = await suite(place, 'interrupted', 2_000);
  const batch = await ended(place.start(...command, '--trials', '10', '--concurrency', '2', '--priority', '4'), 'SIGINT');
  expect(await listed(batch)).toMatchObject({ state: 'interrupted', options: { priority: 4 } });
  const resumed = await place.run('resume', batch, '--priority', '1', '--json');
  expect(JSON.parse(resumed.stdout)).toMatchObject({ type: 'control', batch, state: 'running', hold: null, served: false });
  expect((await listed(batch))?.options.priority).toBe(1);
  const cancelled = await place.run('cancel', batch, '--json');
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ type: 'cancel', what: 'batch', batch, state: 'cancelled' });
  const endings = jsonLines((await place.run('ps', batch, '--json')).stdout).map(
    ({ summary }) => (summary as { ending: string } | null)?.ending ?? 'cancelled',
  );
  expect(new Set(endings)).toEqual(new Set(['completed', 'cancelled']));
  expect((await place.run('resume', batch)).code).toBe(2);
});

test('a batch that its own command goes on with takes the priority that is asked for then', { timeout: 120_000 }, async () => {
  const command = [...(await suite(place, 'again', 800)), '--trials', '8', '--concurrency', '2'];
  const batch = await ended(place.start(...command), 'SIGINT');
  const again = await place.run(...command, '--priority', '2');
  expect(jsonLines(again.stdout).at(-1)).toMatchObject({ batch, trials: 8, infraErrors: 0 });
  expect(await listed(batch)).toMatchObject({ state: 'finished', options: { priority: 2 } });
});

test('a server of worlds that is taken away: ps names it for each trial that it holds up, and every trial has its result in the end', {
  timeout: 180_000,
}, async () => {
  const east = inject('services').postgresUrl;
  await using west = await ownServer();
  await using detour = await startDetour(west.url);
  await using two = await commandPlace(inject('services'), { TRIALBED_WORLDS_URL: `east=${east} west=${detour.url}`, TRIALBED_WORLD_PATIENCE: '10' });
  const running = two.start(...(await suite(two, 'away', 5_000)), '--trials', '12', '--concurrency', '6');
  await running.wrote('"type":"trial"');
  await detour.cut();
  const held: unknown[] = [];
  for (let tries = 0; held.length === 0 && tries < 5; tries++)
    held.push(...jsonLines((await two.run('ps', '--json')).stdout).flatMap(({ type, outage }) => (type === 'running' && outage ? [outage] : [])));
  expect(held[0]).toMatchObject({ service: 'PostgreSQL', reason: expect.stringMatching(/^west that holds worlds cannot be reached/) });
  const { stdout, code } = await running.ended;
  expect(code).toBe(0);
  // What was on it has begun again on the other.
  expect(jsonLines(stdout).at(-1)).toMatchObject({ trials: 12, infraErrors: 0, cancelled: 0 });
  await detour.mend();
});
