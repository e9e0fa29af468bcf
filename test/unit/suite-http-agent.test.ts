import { describe, expect, test } from 'vitest';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { folderWith, problemsIn } from './suite-fixture.ts';

const URL_LINE = 'url: https://agents.example.org/trials\n';

async function load(text: string) {
  await using folder = await folderWith({ 'agents/far.yaml': `kind: http\n${text}` });
  return loadAgent('far', await loadSuite(folder.path));
}

describe('an agent of kind http', () => {
  test('is an address with limits, which have defaults', async () => {
    const { spec } = await load(`${URL_LINE}version: "3"\nheaders: { Authorization: AGENT_KEY }\ntimeouts: { answer: 30s }\naccess: direct\n`);
    expect(spec).toEqual({
      ...{ kind: 'http', name: 'far', version: '3', url: 'https://agents.example.org/trials', headers: { Authorization: 'AGENT_KEY' } },
      ...{ output: 'text', timeouts: { connectMs: 10_000, answerMs: 30_000, pollMs: 1_000 }, parameters: {}, access: ['inbox', 'sql', 'tickets'] },
    });
  });

  test.each([
    ['address', 'url: https://agents.example.org/other\n', true],
    ['headers', `${URL_LINE}headers: { X-Key: OTHER }\n`, true],
    ['limits', `${URL_LINE}timeouts: { poll: 2s }\n`, true],
    ['parameters', `${URL_LINE}parameters: { a: 1 }\n`, true],
    ['limits written out', `${URL_LINE}timeouts: { poll: 1s, connect: 10s }\noutput: text\n`, false],
  ])('is another, or the same, with a change of its %s', async (_what, text, changes) => {
    expect((await load(text)).hash !== (await load(URL_LINE)).hash).toBe(changes);
  });

  test('may have routes to models: as a file, in place, or several', async () => {
    await using folder = await folderWith({
      'agents/far.yaml': `kind: http\n${URL_LINE}route: [../routes/small.yaml, { url: "http://127.0.0.1/v1", model: large }]\n`,
      'agents/one.yaml': 'kind: command\nprogram: sh\nroute: ../routes/small.yaml\nprovider_variables: true\n',
      'agents/twice.yaml': `kind: http\n${URL_LINE}route: [../routes/small.yaml, ../routes/small.yaml]\n`,
      'agents/gone.yaml': `kind: http\n${URL_LINE}route: [../routes/none.yaml]\n`,
      'routes/small.yaml': 'url: http://127.0.0.1/v1\nmodel: tiny\nkey: PROVIDER_KEY\n',
    });
    const suite = await loadSuite(folder.path);
    const names = async (agent: string) => {
      const { spec } = await loadAgent(agent, suite);
      return 'routes' in spec ? spec.routes?.map(({ name, model }) => `${name}: ${model}`) : [];
    };
    expect(await names('far')).toEqual(['small: tiny', 'large: large']);
    expect(await names('one')).toEqual(['small: tiny']);
    expect((await loadAgent('one', suite)).spec).toMatchObject({ providerVariables: true });
    expect(await problemsIn(folder.path, () => loadAgent('twice', suite))).toEqual(['agents/twice.yaml:3:31 route[1]: there are two routes of the name small']);
    expect(await problemsIn(folder.path, () => loadAgent('gone', suite))).toEqual([
      'agents/gone.yaml:3:9 route[0]: there is no file ../routes/none.yaml, looked up from the folder of this file',
    ]);
  });

  test.each<[string, string, string]>([
    ['no address', '', 'agents/bad.yaml:1:1 url: is missing; expected text'],
    ['an address of another kind', 'url: ftp://x.org\n', 'agents/bad.yaml:2:6 url: expected an address such as https://agents.example.org/trials'],
    [
      'an address with a password',
      'url: https://me:word@x.org/\n',
      'agents/bad.yaml:2:6 url: expected an address without user and password; name a variable in "headers" instead',
    ],
    [
      'a value instead of a variable',
      `${URL_LINE}headers: { Authorization: Bearer abc }\n`,
      'agents/bad.yaml:3:27 headers.Authorization: expected the name of an environment variable',
    ],
    ['a header of ours', `${URL_LINE}headers: { Host: HOST }\n`, 'agents/bad.yaml:3:18 headers.Host: expected a header that the test bed does not set itself'],
    ['a time without unit', `${URL_LINE}timeouts: { poll: 5 }\n`, 'agents/bad.yaml:3:19 timeouts.poll: expected text, found 5; put it in quotes'],
    ['another access', `${URL_LINE}access: all\n`, 'agents/bad.yaml:3:9 access: expected "direct", found "all"'],
  ])('%s is refused', async (_what, text, expected) => {
    await using folder = await folderWith({ 'agents/bad.yaml': `kind: http\n${text}` });
    expect(await problemsIn(folder.path, async () => loadAgent('bad', await loadSuite(folder.path)))).toEqual([expected]);
  });
});
