import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { folderWith, problemsIn } from './suite-fixture.ts';

const PROGRAM = {
  'agents/py.yaml': 'kind: command\nfolder: py\nprogram: python3\nargs: [main.py, --loud]\nparameters: { limit: 3 }\nenv: [MODEL_KEY]\n',
  'agents/py/main.py': 'import tools\n',
  'agents/py/tools.py': '',
};

describe('a command agent', () => {
  test('is a program in a folder, from its file', async () => {
    await using folder = await folderWith({ ...PROGRAM, 'agents/bare.yaml': 'kind: command\nprogram: cat\n' });
    const suite = await loadSuite(folder.path);
    expect((await loadAgent('py', suite)).spec).toEqual({
      ...{ kind: 'command', name: 'py', version: '1', folder: join(folder.path, 'agents/py'), program: 'python3', args: ['main.py', '--loud'] },
      ...{ output: 'text', parameters: { limit: 3 }, env: ['MODEL_KEY'] },
    });
    expect((await loadAgent('bare', suite)).spec).toMatchObject({ folder: join(folder.path, 'agents'), program: 'cat', args: [], env: [] });
  });

  test.each<[string, string, string]>([
    ['no program', '', 'agents/bad.yaml:1:1 program: is missing; expected text'],
    [
      'a folder that is not there',
      'program: sh\nfolder: nope\n',
      'agents/bad.yaml:3:9 folder: there is no folder nope, looked up from the folder of this file',
    ],
    ['a file that is not there', 'program: ./run\n', 'agents/bad.yaml:2:10 program: there is no file ./run, looked up from the folder of this file'],
    [
      'a file that cannot be executed',
      'program: ./plain.sh\n',
      'agents/bad.yaml:2:10 program: ./plain.sh cannot be executed; chmod +x it, or name the program that runs it and give the file in args',
    ],
    ['an argument that is a number', 'program: sh\nargs: [1]\n', 'agents/bad.yaml:3:8 args[0]: expected text, found 1; put it in quotes'],
    ['another output', 'program: sh\noutput: xml\n', 'agents/bad.yaml:3:9 output: expected "text" or "json", found "xml"'],
  ])('%s', async (_what, text, expected) => {
    await using folder = await folderWith({ 'agents/bad.yaml': `kind: command\n${text}`, 'agents/plain.sh': '' });
    expect(await problemsIn(folder.path, async () => loadAgent('bad', await loadSuite(folder.path)))).toEqual([expected]);
  });

  test('that is a file of its own runs as it is', async () => {
    await using folder = await folderWith({ 'agents/own.yaml': 'kind: command\nprogram: ./own.sh\n', 'agents/own.sh': '#!/bin/sh\n' });
    await chmod(join(folder.path, 'agents/own.sh'), 0o755);
    expect((await loadAgent('own', await loadSuite(folder.path))).spec).toMatchObject({ program: './own.sh' });
  });

  test.each<[string, string, string, boolean]>([
    ['its code', 'agents/py/tools.py', '# more\n', true],
    ['a new file in its folder', 'agents/py/prompt.txt', '', true],
    ['its arguments', 'agents/py.yaml', PROGRAM['agents/py.yaml'].replace('--loud', '--quiet'), true],
    ['what it prints', 'agents/py.yaml', `${PROGRAM['agents/py.yaml']}output: json\n`, true],
    ['what Python compiled', 'agents/py/__pycache__/tools.cpython-311.pyc', 'x', false],
    ['a file that it has nothing to do with', 'agents/other.txt', 'x', false],
  ])('is another, or the same, with a change of %s', async (_what, file, content, changes) => {
    await using folder = await folderWith(PROGRAM);
    const hash = async () => (await loadAgent('py', await loadSuite(folder.path))).hash;
    const before = await hash();
    await mkdir(join(folder.path, 'agents/py/__pycache__'), { recursive: true });
    await writeFile(join(folder.path, file), content);
    expect((await hash()) !== before).toBe(changes);
  });

  test('is the same wherever its folder lies', async () => {
    await using folder = await folderWith(PROGRAM);
    const before = (await loadAgent('py', await loadSuite(folder.path))).hash;
    const moved = `${folder.path}-moved`;
    await cp(folder.path, moved, { recursive: true });
    try {
      expect((await loadAgent('py', await loadSuite(moved))).hash).toBe(before);
    } finally {
      await rm(moved, { recursive: true, force: true });
    }
  });
});
