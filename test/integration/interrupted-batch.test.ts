import { access, appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { commandPlace, type CommandPlace, jsonLines } from './cli-process.ts';

interface Row {
  readonly id: string;
  readonly phase: string;
  readonly attempt: number;
}

interface View {
  readonly attempts: readonly { readonly ending: string | null; readonly counts: boolean }[];
  readonly verdicts: readonly { readonly current: boolean }[];
}

async function rowsOf(place: CommandPlace, batch: string): Promise<readonly Row[]> {
  return jsonLines((await place.run('ps', batch, '--json')).stdout) as unknown as Row[];
}

async function viewOf(place: CommandPlace, trial: string): Promise<View> {
  return JSON.parse((await place.run('show', trial, '--json')).stdout) as View;
}

interface Held {
  /** Resolves once a trial waits. */
  readonly waits: () => Promise<void>;
  /** Lets every trial go on, now and from here on. */
  readonly letGo: () => Promise<void>;
}

/** A project whose agent serves one trial and thinks about every other until it is let go: whenever a command is interrupted, trials are under way. */
async function projectWithHeldAgent(place: CommandPlace): Promise<Held> {
  await place.run('init', 'rooms');
  const agent = join(place.cwd, 'rooms', 'suite', 'agents', 'planner.ts');
  const [served, waiting, letGo] = ['served', 'waiting', 'let-go'].map((name) => join(place.cwd, name)) as [string, string, string];
  const quick = await readFile(agent, 'utf8');
  const held = `import { access, mkdir } from 'node:fs/promises';\n${quick}
async function held(): Promise<void> {
  const first = await mkdir(${JSON.stringify(served)}).then(() => true, () => false);
  if (!first) await mkdir(${JSON.stringify(waiting)}, { recursive: true });
  while (!first && !(await access(${JSON.stringify(letGo)}).then(() => true, () => false))) await new Promise((resolve) => setTimeout(resolve, 100));
}
`.replace('    const [, seats,', '    await held();\n    const [, seats,');
  expect(held).toContain('await held();');
  await writeFile(agent, held);
  return {
    waits: () =>
      expect
        .poll(
          () =>
            access(waiting).then(
              () => true,
              () => false,
            ),
          { timeout: 60_000 },
        )
        .toBe(true),
    letGo: () => writeFile(letGo, ''),
  };
}

const underWay = ({ phase }: Row): boolean => phase !== 'waiting' && phase !== 'done';
/** Where a trial stands; for how long it has stood there is another matter. */
const standing = (rows: readonly Row[]) => rows.filter(underWay).map(({ id, phase, attempt }) => ({ id, phase, attempt }));

test('an interrupted batch is disturbed by no later command, and goes on when its content is there again', { timeout: 240_000 }, async () => {
  await using place = await commandPlace(inject('services'));
  const held = await projectWithHeldAgent(place);
  const suite = ['run', 'rooms/suite', '--trials', '10', '--json', '--no-gate'];
  const pack = join(place.cwd, 'rooms', 'environment', 'pack.ts');
  const running = place.start(...suite);
  await running.wrote('"type":"trial"');
  await held.waits();
  running.process.kill('SIGINT');
  const stopped = await running.ended;
  expect(stopped.code).toBe(130);
  const batch = String(jsonLines(stopped.stdout)[0]?.['batch']);
  const left = standing(await rowsOf(place, batch));
  expect(left.length).toBeGreaterThan(0);
  await held.letGo();

  const original = await readFile(pack, 'utf8');
  await appendFile(pack, '\nexport const edited = true;\n');
  const other = await place.run('run', 'support-desk', '--case', 'price-question', '--agent', 'reference', '--json');
  expect(jsonLines(other.stdout).at(-1)).toMatchObject({ passed: 1, infraErrors: 0 });
  const edited = jsonLines((await place.run(...suite)).stdout).at(-1);
  expect(edited).toMatchObject({ trials: 20, infraErrors: 0 });
  expect(edited?.['batch']).not.toBe(batch);
  expect(standing(await rowsOf(place, batch))).toEqual(left);

  await writeFile(pack, original);
  const resumed = await place.run(...suite);
  const lines = jsonLines(resumed.stdout);
  expect(lines.at(-1)).toMatchObject({ batch, trials: 20, infraErrors: 0, cancelled: 0, worlds: { leaked: 0 } });
  expect(new Set(lines.slice(0, -1).map((line) => line['trial'])).size).toBe(20);
  for (const { id } of left.slice(0, 3)) {
    const { attempts, verdicts } = await viewOf(place, id);
    // A module agent is lost with its worker: that attempt is kept and does not count.
    expect(attempts.filter(({ counts }) => counts).map(({ ending }) => ending)).toEqual(['completed']);
    expect(verdicts).toHaveLength(1);
  }
});

test('a worker in the foreground goes on with what an interrupted batch left under way, unless the content is another', { timeout: 240_000 }, async () => {
  await using place = await commandPlace(inject('services'));
  const held = await projectWithHeldAgent(place);
  const running = place.start('run', 'rooms/suite', '--trials', '10', '--json', '--no-gate');
  await running.wrote('"type":"trial"');
  await held.waits();
  running.process.kill('SIGINT');
  const batch = String(jsonLines((await running.ended).stdout)[0]?.['batch']);
  const left = standing(await rowsOf(place, batch));
  expect(left.length).toBeGreaterThan(0);
  await held.letGo();

  const agent = join(place.cwd, 'rooms', 'suite', 'agents', 'planner.ts');
  const original = await readFile(agent, 'utf8');
  await appendFile(agent, '\n// edited\n');
  const elsewhere = place.start('worker');
  await elsewhere.said('is left to other workers');
  await elsewhere.said('worker ready');
  elsewhere.process.kill('SIGTERM');
  expect((await elsewhere.ended).code).toBe(0);
  expect(standing(await rowsOf(place, batch))).toEqual(left);

  await writeFile(agent, original);
  const here = place.start('worker');
  await here.said('worker ready');
  await expect.poll(async () => (await rowsOf(place, batch)).filter(underWay), { timeout: 120_000, interval: 1_000 }).toEqual([]);
  here.process.kill('SIGTERM');
  expect((await here.ended).code).toBe(0);
});
