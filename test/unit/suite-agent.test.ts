import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { folderWith, problemsIn } from './suite-fixture.ts';

const MODULE = {
  'agents/rules.yaml': 'version: "2"\nkind: module\nfile: code/agent.ts\nparameters: { tone: kind }\nenv: [MODEL_KEY]\n',
  'agents/code/agent.ts': "import { help } from './help.ts';\nimport shared from '../../shared/lib.ts';\nexport default async () => help(shared);\n",
  'agents/code/help.ts': 'export const help = (x: unknown) => x;\n',
  'agents/code/prompts/system.md': 'Be kind.\n',
  'agents/code/node_modules/x/index.js': '1',
  'agents/code/.env': 'SECRET=1',
  'shared/lib.ts': "export { default } from './deep.ts';\n",
  'shared/deep.ts': 'export default 1;\n',
  'shared/unrelated.ts': 'export default 2;\n',
};

async function hashIn(folder: string, agent = 'rules'): Promise<string> {
  return (await loadAgent(agent, await loadSuite(folder))).hash;
}

describe('agents', () => {
  test('those that every suite has, those of the suite by name, and any by path', async () => {
    await using folder = await folderWith({
      ...MODULE,
      'agents/steps.yaml': 'name: stepper\nkind: script\nsteps: [{ call: a, with: { x: 1 }, as: one }]\nanswer: It is ${one.y}.\n',
      'agents/idle.yaml': 'kind: do-nothing\nanswer: No.\n',
    });
    const suite = await loadSuite(folder.path);
    expect((await loadAgent('reference', suite)).spec).toEqual({ kind: 'reference', name: 'reference', version: '1' });
    expect((await loadAgent('do-nothing', suite)).spec).toEqual({ kind: 'do-nothing', name: 'do-nothing', version: '1', answer: '' });
    expect((await loadAgent('idle', suite)).spec).toEqual({ kind: 'do-nothing', name: 'idle', version: '1', answer: 'No.' });
    expect((await loadAgent('steps', suite)).spec).toEqual({
      kind: 'script',
      name: 'stepper',
      version: '1',
      solution: { steps: [{ call: 'a', with: { x: 1 }, as: 'one' }], answer: 'It is ${one.y}.' },
    });
    const byName = await loadAgent('rules', suite);
    expect(byName.spec).toEqual({
      kind: 'module',
      name: 'rules',
      version: '2',
      file: join(folder.path, 'agents/code/agent.ts'),
      parameters: { tone: 'kind' },
      env: ['MODEL_KEY'],
    });
    expect(await loadAgent(join(folder.path, 'agents/rules.yaml'), suite)).toEqual(byName);
  });

  test('access to services is part of a module, in whatever order it is written', async () => {
    const withAccess = (access: string) => ({ ...MODULE, 'agents/rules.yaml': `${MODULE['agents/rules.yaml']}${access}` });
    const load = async (access: string) => {
      await using folder = await folderWith(withAccess(access));
      return await loadAgent('rules', await loadSuite(folder.path));
    };
    const both = await load('access: [tickets, inbox]\n');
    expect(both.spec).toMatchObject({ access: ['inbox', 'tickets'] });
    expect((await load('access: [inbox, tickets]\n')).hash).toBe(both.hash);
    expect(new Set([both.hash, (await load('')).hash, (await load('access: [sql]\n')).hash]).size).toBe(3);
    await expect(load('access: [mail]\n')).rejects.toThrow(/access\[0\]: expected "inbox" or "tickets" or "sql", found "mail"/);
    await expect(load('access: [sql, sql]\n')).rejects.toThrow(/access: expected each service once/);
  });

  test('a module that was built is found by the name of its source', async () => {
    await using folder = await folderWith({ 'agents/m.yaml': 'kind: module\nfile: ./m.ts\n', 'agents/m.js': '' });
    expect((await loadAgent('m', await loadSuite(folder.path))).spec).toMatchObject({ file: join(folder.path, 'agents/m.js') });
  });

  test.each<[string, string, readonly string[]]>([
    ['an unknown kind', 'kind: modul\n', ['agents/bad.yaml:1:7 kind: expected script, module, command, http, model, team, do-nothing, found "modul" (module)']],
    ['no kind', 'name: x\n', ['agents/bad.yaml:1:1 kind: is missing; expected script, module, command, http, model, team, do-nothing']],
    [
      'a file that is not there',
      'kind: module\nfile: nope.ts\n',
      ['agents/bad.yaml:2:7 file: there is no file nope.ts, looked up from the folder of this file'],
    ],
    ['a variable that is none', 'kind: module\nfile: a.ts\nenv: [A B]\n', ['agents/bad.yaml:3:7 env[0]: expected the name of an environment variable']],
    ['a reference to no step', 'kind: script\nanswer: ${x.y}\n', ['agents/bad.yaml:2:9 answer: ${x.y}: no step before this is named "x" (with "as: x")']],
    ['a version that is a number', 'kind: do-nothing\nversion: 1.10\n', ['agents/bad.yaml:2:10 version: expected text, found 1.1; put it in quotes']],
  ])('%s', async (_what, text, expected) => {
    await using folder = await folderWith({ 'agents/bad.yaml': text });
    expect(await problemsIn(folder.path, async () => loadAgent('bad', await loadSuite(folder.path)))).toEqual(expected);
  });

  test('a name that is none is told with those that are', async () => {
    await using folder = await folderWith({ 'agents/hasty.yaml': 'kind: do-nothing' });
    const suite = await loadSuite(folder.path);
    await expect(loadAgent('hastily', suite)).rejects.toThrow(
      /there is no agent "hastily"; the suite .* has hasty, reference, do-nothing.*did you mean "hasty"/,
    );
    await expect(loadAgent('constructor', suite)).rejects.toThrow('there is no agent "constructor"');
  });
});

describe("a module's hash", () => {
  test('is of its content: equal files in another folder are the same agent', async () => {
    await using folder = await folderWith(MODULE);
    const before = await hashIn(folder.path);
    await cp(folder.path, `${folder.path}-moved`, { recursive: true });
    try {
      expect(await hashIn(`${folder.path}-moved`)).toBe(before);
    } finally {
      await rm(`${folder.path}-moved`, { recursive: true, force: true });
    }
  });

  test.each<[string, string, string, boolean]>([
    ['its code', 'agents/code/agent.ts', 'export default async () => undefined;\n', true],
    ['a prompt beside it', 'agents/code/prompts/system.md', 'Be quick.\n', true],
    ['a file that it imports', 'agents/code/help.ts', 'export const help = () => 1;\n', true],
    ['a new file beside it', 'agents/code/new.txt', '', true],
    ['a file outside its folder that it imports', 'shared/lib.ts', 'export default 3;\n', true],
    ['a file outside its folder that this imports', 'shared/deep.ts', 'export default 3;\n', true],
    ['a parameter', 'agents/rules.yaml', MODULE['agents/rules.yaml'].replace('kind }', 'stern }'), true],
    ['a variable that it may see', 'agents/rules.yaml', MODULE['agents/rules.yaml'].replace('[MODEL_KEY]', '[]'), true],
    ['a comment in its description', 'agents/rules.yaml', `# comment\n${MODULE['agents/rules.yaml']}`, false],
    ['a file that it has nothing to do with', 'shared/unrelated.ts', 'export default 9;\n', false],
    ['a hidden file', 'agents/code/.env', 'SECRET=2', false],
    ['an installed package', 'agents/code/node_modules/x/index.js', '2', false],
  ])('changes, or not, with %s', async (_what, file, content, changes) => {
    await using folder = await folderWith(MODULE);
    const before = await hashIn(folder.path);
    await writeFile(join(folder.path, file), content);
    expect((await hashIn(folder.path)) !== before).toBe(changes);
  });

  test('changes when a file is renamed', async () => {
    await using folder = await folderWith(MODULE);
    const before = await hashIn(folder.path);
    await rename(join(folder.path, 'agents/code/prompts/system.md'), join(folder.path, 'agents/code/prompts/other.md'));
    expect(await hashIn(folder.path)).not.toBe(before);
  });

  test('does not depend on links: a loop ends, a link that leads nowhere is passed over', async () => {
    await using folder = await folderWith(MODULE);
    const before = await hashIn(folder.path);
    await symlink(folder.path, join(folder.path, 'agents/code/loop'));
    await symlink('/nothing/there', join(folder.path, 'agents/code/broken'));
    expect(await hashIn(folder.path)).toBe(before);
  });

  test('of a folder with thousands of files is refused, with what to do', async () => {
    await using folder = await folderWith({ 'agents/m.yaml': 'kind: module\nfile: big/m.ts\n', 'agents/big/m.ts': '' });
    await mkdir(join(folder.path, 'agents/big/data'));
    for (let i = 0; i < 5_100; i += 100) await Promise.all(Array.from({ length: 100 }, (_, n) => writeFile(join(folder.path, `agents/big/data/${i + n}`), '')));
    await expect(loadAgent('m', await loadSuite(folder.path))).rejects.toThrow('put the agent into a folder of its own');
  });
});
