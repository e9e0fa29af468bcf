import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { readRubric } from '../../src/suite/rubric-file.ts';
import { type Folder, folderWith, problemsIn } from './suite-fixture.ts';

const TONE = `version: "1"
question: Was the agent polite?
scale:
  - { category: rude, means: It insulted the user. }
  - { category: kind, means: It did not. }
passes: [kind]
`;

const suiteWith = (text: string): Promise<Folder> => folderWith({ 'rubrics/tone.yaml': text });

async function problemsOf(text: string): Promise<readonly string[]> {
  await using folder = await suiteWith(text);
  return (await problemsIn(folder.path, () => loadSuite(folder.path))).map((problem) => problem.replace('rubrics/tone.yaml:', ''));
}

async function digestOf(text: string): Promise<string | undefined> {
  await using folder = await suiteWith(text);
  return (await loadSuite(folder.path)).rubrics['tone']?.digest;
}

describe('a rubric', () => {
  test('is read by the name of its file, with what is asked of its judges', async () => {
    await using folder = await suiteWith(TONE);
    const { rubrics } = await loadSuite(folder.path);
    expect(rubrics['tone']).toMatchObject({
      rubric: { name: 'tone', version: '1', passes: ['kind'], shows: ['conversation'] },
      calibration: { labels: 50, kappa: 0.4, at: 'lower' },
      route: null,
    });
  });

  test('has parts in one order, and a route of its own or of a file', async () => {
    await using folder = await folderWith({
      'rubrics/tone.yaml': `${TONE}name: tone\nshows: [mail, answer]\ncalibration: { labels: 20, kappa: 0.6, at: point }\nmodel: ../routes/judge.yaml\n`,
      'routes/judge.yaml': 'url: http://127.0.0.1:1/v1\nmodel: tiny\n',
    });
    expect((await loadSuite(folder.path)).rubrics['tone']).toMatchObject({
      rubric: { shows: ['answer', 'mail'] },
      calibration: { labels: 20, kappa: 0.6, at: 'point' },
      route: { name: 'judge', model: 'tiny' },
    });
  });

  test('is the same rubric by all that can change a score, and by nothing else', async () => {
    const digest = await digestOf(TONE);
    expect(await digestOf(`# a comment\n${TONE}calibration: { labels: 80 }\nmodel: { url: http://127.0.0.1:1, model: m }\n`)).toBe(digest);
    for (const [from, to] of [
      ['polite?', 'kind?'],
      ['did not', 'was warm'],
      ['"1"', '"2"'],
      ['[kind]', '[rude]'],
      ['passes', 'shows: [answer]\npasses'],
    ] as const)
      expect(await digestOf(TONE.replace(from, to)), to).not.toBe(digest);
  });

  test.each([
    ['', '1:1 the file is empty'],
    [TONE.replace('question', 'qestion'), '2:1 unknown key "qestion"; expected name, version, question, scale, passes, shows, calibration, model (question)'],
    [TONE.replace('"1"', '1'), '1:10 version: expected text, found 1; put it in quotes'],
    [TONE.replace('[kind]', '[kin]'), '6:10 passes[0]: there is no category "kin"; known: rude, kind (kind)'],
    [TONE.replace('[kind]', '[kind, rude]'), '6:9 passes: every category passes; leave out those of a trial that fails'],
    [TONE.replace('category: kind', 'category: Rude').replace('[kind]', '[rude]'), '5:17 scale[1].category: "Rude" stands twice in the scale'],
    [TONE.replace('  - { category: kind, means: It did not. }\n', ''), '4:3 scale: expected a list of at least 2 categories'],
    [TONE.replace('category: kind', 'category: "a\\nb"'), '5:17 scale[1].category: expected a short name'],
    [
      `${TONE}shows: [converstion]\n`,
      '7:9 shows[0]: expected "conversation" or "answer" or "operations" or "effects" or "mail", found "converstion" (conversation)',
    ],
    [`${TONE}calibration: { kappa: 1.5 }\n`, '7:23 calibration.kappa: expected at most 1, found 1.5'],
    [`${TONE}calibration: { at: lowr }\n`, '7:20 calibration.at: expected "lower" or "point", found "lowr" (lower)'],
    [`${TONE}name: other\n`, '7:7 name: expected "tone", which is the name of the file; rename one of the two'],
    [`${TONE}model: nowhere.yaml\n`, '7:8 model: there is no file nowhere.yaml'],
    [`${TONE}model: { url: "http://x", model: m, key: sk-123 }\n`, '7:42 model.key: expected the name of an environment variable, never the key itself'],
  ])('that is wrong says where and what to write: %#', async (text, expected) => {
    expect((await problemsOf(text)).join('\n')).toContain(expected);
  });

  test('of another name is not found, and the nearest is named', async () => {
    await using folder = await suiteWith(TONE);
    const suite = join(folder.path, 'suite.yaml');
    expect((await readRubric(suite, 'tone')).rubric.name).toBe('tone');
    for (const [name, message] of [
      ['tones', 'there is no rubric "tones"; known: tone (did you mean "tone"?)'],
      ['../rubrics/tone', 'there is no rubric'],
    ] as const)
      await expect(readRubric(suite, name)).rejects.toThrow(message);
  });
});
