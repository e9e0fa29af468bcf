import { describe, expect, test } from 'vitest';
import { parseYaml, pathOf, pathText, readYaml } from '../../src/suite/yaml-file.ts';
import { folderWith, problemsIn } from './suite-fixture.ts';

const problems = (text: string): Promise<readonly string[]> => problemsIn('/', () => parseYaml('/f', text));

describe('what is no YAML file of ours is refused with its place', () => {
  test.each([
    ['', 'f:1:1 the file is empty; expected a mapping of keys to values'],
    ['# only a comment\n', 'f:1:1 the file is empty; expected a mapping of keys to values'],
    ['- a\n- b', 'f:1:1 expected a mapping of keys to values at the top of the file, found a list'],
    ['just text', 'f:1:1 expected a mapping of keys to values at the top of the file, found a single value'],
    ['a: 1\nb: 2\na: 3', 'f:3:1 this key stands twice in the same mapping; remove one of the two'],
    ['a:\n\tb: 1', 'f:2:1 a tab stands in the indentation; indent with spaces'],
    ['a: 1\n---\nb: 2', 'f:2:1 the file holds several documents ("---"); put each into a file of its own'],
    ['a: !secret x', 'f:1:4 Unresolved tag: !secret; tags are not used here'],
    ['%YAML 1.1\n---\na: yes', 'f:1:1 the file asks for another version of YAML than 1.2; remove the "%YAML" line'],
    ['a: "x', 'f:1:6 not valid YAML: Missing closing "quote'],
    ['a: .nan', 'f:1:4 .nan is no number that JSON can hold; put it in quotes where it is a text'],
    ['a: 12345678901234567890', 'f:1:4 12345678901234567890 is too large to be held exactly as a number; put it in quotes'],
    ['a: "\\ud800"', 'f:1:4 the text holds half of a surrogate pair; write the whole character'],
    ['? [a]\n: 1', 'f:1:3 a key must be plain text'],
    ['a: { __proto__: 1 }', 'f:1:6 "__proto__" cannot be a key'],
    ['a: &x { k: 1 }\nb: { <<: *x }', 'f:2:6 merge keys ("<<") are not part of YAML 1.2; write the keys out'],
    ['a: *nothing', 'f:1:4 nothing before this is named "&nothing"'],
    ['a: &x\n  b: *x', 'f:2:6 "*x" stands inside what it names'],
    [`a: ${'['.repeat(80)}${']'.repeat(80)}`, 'f:1:68 the file is nested deeper than 64 levels'],
  ])('%j', async (text, expected) => {
    expect(await problems(text)).toEqual([expected]);
  });

  test('a nest that would exhaust the stack, and aliases that would multiply', async () => {
    expect(await problems(`a: ${'['.repeat(200_000)}`)).toEqual([expect.stringContaining('nested deeper than 64 levels')]);
    const names = 'bcdefghij'.split('');
    const bomb = [
      'a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]',
      ...names.map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[i]}`).join(', ')}]`),
    ].join('\n');
    expect(await problems(bomb)).toEqual([expect.stringContaining('repeat too much')]);
  });

  test('of a file that is no YAML at all: the first places, each with a short quotation', async () => {
    const found = await problems(`\`\`\`sh\n${'npm test # and more\n'.repeat(50)}\`\`\`\n${'word '.repeat(500)}: x\n`.repeat(3));
    expect(found.length).toBeLessThanOrEqual(3);
    expect(found.filter((line) => line.length > 250)).toEqual([]);
  });

  test('several problems of one file are told together', async () => {
    expect(await problems('a: .inf\nb: .nan\n')).toHaveLength(2);
  });
});

describe('files', () => {
  test('a byte order mark, CRLF and other writing systems are text like any other', async () => {
    await using folder = await folderWith({ 'x.yaml': '\ufeffa: 1\r\nb:\r\n  - \u65e5\u672c\u8a9e\r\n  - x\r\n' });
    const source = await readYaml(`${folder.path}/x.yaml`);
    expect(source.data).toEqual({ a: 1, b: ['\u65e5\u672c\u8a9e', 'x'] });
    expect(source.at(['b', 1])).toEqual({ line: 4, column: 5 });
  });

  test('what is missing, a folder, no UTF-8, or too large', async () => {
    const utf16 = Buffer.from('\ufeffa: 1', 'utf16le');
    await using folder = await folderWith({
      'latin.yaml': Buffer.from([0x61, 0x3a, 0x20, 0xe9]),
      'utf16.yaml': utf16,
      'big.yaml': `a: ${'x'.repeat(5_000_000)}`,
    });
    const of = (name: string): Promise<readonly string[]> => problemsIn(folder.path, () => readYaml(`${folder.path}/${name}`));
    expect(await of('none.yaml')).toEqual(['none.yaml:-:- there is no such file']);
    expect(await of('cases')).toEqual(['cases:-:- expected a file, found a folder']);
    expect(await of('latin.yaml')).toEqual(['latin.yaml:-:- the file is not UTF-8 text; save it as UTF-8']);
    expect(await of('utf16.yaml')).toEqual(['utf16.yaml:-:- the file is not UTF-8 text (it is UTF-16); save it as UTF-8']);
    expect(await of('big.yaml')).toEqual(['big.yaml:-:- the file holds 5000003 bytes; a file of this kind may hold at most 4194304']);
  });
});

describe('places', () => {
  const source = parseYaml('/f', 'a:\n  - x: 1\n    y: { z: 2 }\n  - &s [3, 4]\nb: *s\nempty:\n');

  test.each([
    ['a', 2, 3],
    ['a[0].x', 2, 8],
    ['a[0].y.z', 3, 13],
    ['a[0].y.nothing', 3, 8],
    ['a[1][1]', 4, 12],
    ['b', 5, 4],
    ['b[0]', 4, 9],
    ['empty', 6, 1],
    ['nothing.at.all', 1, 1],
  ])('%s', (path, line, column) => {
    expect(source.at(pathOf(path))).toEqual({ line, column });
  });

  test('a path reads as it is written', () => {
    expect(pathText(pathOf('expect.outcomes[0].effects[12].where'))).toBe('expect.outcomes[0].effects[12].where');
  });
});
