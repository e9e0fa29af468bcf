import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Folder, folderWith } from '../unit/suite-fixture.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

const PACK = `import { defineEnvironment, defineTool } from 'trialbed/environment';
import { z } from 'zod';

export default defineEnvironment({
  name: 'desk',
  version: '1',
  schema: [new URL('./schema.sql', import.meta.url)],
  seed: [{ csv: new URL('./data/orders.csv', import.meta.url), table: 'orders' }],
  tools: [
    defineTool({
      name: 'get_order',
      description: 'Reads an order.',
      input: z.object({ order_id: z.int() }),
      result: z.object({ total: z.number() }),
      effect: 'read',
      run: async () => ({ total: 1 }),
    }),
    defineTool({
      name: 'issue_refund',
      description: 'Pays money back.',
      input: z.object({ order_id: z.int(), amount: z.number().positive() }),
      result: z.object({}),
      effect: 'write',
      run: async () => ({}),
    }),
  ],
  permissions: { roles: { agent: { tools: '*' } } },
});
`;
const FILES = {
  'pack.ts': PACK,
  'schema.sql': 'CREATE TABLE orders (id int PRIMARY KEY, total numeric NOT NULL);\n',
  'data/orders.csv': 'id,total\n1007,12\n',
};

function deskWith(files: { readonly [path: string]: string | null } = {}): Promise<Folder> {
  return folderWith({ ...FILES, ...files });
}

/** Runs the command where no service answers and none can be started: whatever asks for one ends with 3. */
function command(cwd: string, ...args: readonly string[]): { readonly code: number | null; readonly stderr: string } {
  const nowhere = { TRIALBED_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd, env: { PATH: process.env.PATH, HOME: cwd, ...nowhere }, encoding: 'utf8' });
  return { code: status, stderr };
}

describe('what is refused before any service is asked', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['a suite that is not there', ['run', 'suport-desk'], /there is no suite here; .*did you mean "support-desk"/],
    ['the same of validate', ['validate', './nope'], /nope: there is no suite here/],
    ['a case in the place of its suite', ['run', 'cases/refund.yaml'], /cases\/refund\.yaml: this is a case; .*--case refund/],
    ['an agent that is not there', ['run', '.', '--agent', './nope.yaml'], /there is no agent "\.\/nope\.yaml"/],
    ['a case that is not there', ['run', '.', '--case', 'refnd'], /no case matches "refnd" \(did you mean "refund"\?\)/],
    ['the same of validate', ['validate', '.', '--case', 'refnd'], /no case matches "refnd"/],
    ['a tag that is not there', ['run', '.', '--tag', 'x'], /no case has the tag "x"/],
    ['an empty shard', ['run', '.', '--shard', '2/2'], /shard 2\/2 of 1 trials holds none/],
    ['options that the pack does not take', ['run', '.', '--with', 'x=1'], /takes no options, and was given x/],
    ['recorded runs that are not there', ['regrade', '--from', 'workbench-runs', 'nope.jsonl', '--data', '.'], /nope\.jsonl does not exist/],
  ])('%s', async (_what, args, message) => {
    await using desk = await deskWith();
    const { code, stderr } = command(desk.path, ...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(existsSync(join(desk.path, '.trialbed'))).toBe(false);
  });

  test('a seed that cannot be read', async () => {
    await using desk = await deskWith({ 'data/orders.csv': 'id,total\n1007\n' });
    const { code, stderr } = command(desk.path, 'run', '.');
    expect(stderr).toBe('error: seed data/orders.csv:2: Invalid Record Length: columns length is 2, got 1 on line 2\n');
    expect(code).toBe(2);
  });

  test('what is right goes on to the services', async () => {
    await using desk = await deskWith();
    expect(command(desk.path, 'run', '.')).toMatchObject({ code: 3 });
  });

  test('every mistake of a suite is told at once, whatever kind it is of', async () => {
    await using desk = await deskWith({
      'suite.yaml': 'name: desk\nenvironment: ./pack.ts\nclock: 2026-03-02T09:30:00+01:00\nuser: { name: mara, role: agnt }\ndefaults: { agents: [prob] }\n',
      'cases/broken.yaml': 'title: [\n',
      'cases/other.yaml': 'title: Other\nkind: x\nrequest: Hello.\nexpct: {}\nreference: { answer: Hello. }\n',
      'cases/refund.yaml': `title: Refund
kind: refund
request: Refund order 1007.
expects_nothing: true
reference:
  steps:
    - { call: get_order, with: { order_id: 1007 }, as: order }
    - { call: issue_refund, with: { order_id: six, amount: "\${order.total}" } }
  answer: Done.
`,
      'data/orders.csv': null,
      'data/order.csv': 'id,total\n',
      'agents/probe.yaml': 'kind: script\nsteps: [{ call: get_ordr, with: {} }]\nanswer: Done.\n',
    });
    const { code, stderr } = command(desk.path, 'validate', '.');
    expect(stderr.split('\n').map((line) => line.replace(/ \(did you.*|;.*/, ''))).toEqual([
      'error: 8 problems in files:',
      'cases/broken.yaml:2:1: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      'cases/other.yaml:1:1: expect: expected "outcomes": the end states that are accepted',
      'cases/other.yaml:4:1: unknown key "expct"',
      'suite.yaml:5:22: defaults.agents[0]: there is no agent "prob"',
      'cases/refund.yaml:1:1: user.role: there is no role "agnt"',
      'cases/refund.yaml:8:47: reference.steps[1].with.order_id: expected a number, found "six"',
      'agents/probe.yaml:2:17: steps[0].call: there is no tool "get_ordr"',
      'pack.ts: seed[0] of table orders names data/orders.csv, which is not there (there is data/order.csv)',
      '',
    ]);
    expect(code).toBe(2);
  });
});
