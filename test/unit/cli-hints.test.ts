import { describe, expect, test } from 'vitest';
import { NotFoundError } from '../../src/client/api.ts';
import { hintsFor, homeIn, withHints } from '../../src/cli/hint.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

const HERE = { cwd: '/srv/here' };

describe('commands that people are told to type', () => {
  test.each([
    [undefined, 'trialbed approve x'],
    ['/srv/home', 'trialbed approve x --home /srv/home'],
    // The terminal in which it is typed may stand elsewhere.
    ['home', 'trialbed approve x --home /srv/here/home'],
    ["/srv/it's here", "trialbed approve x --home '/srv/it'\\''s here'"],
    ['/srv/a\u001b[2Jb', "trialbed approve x --home '/srv/a\\x1b[2Jb'"],
  ])('with home %j', (home, said) => {
    expect(hintsFor(HERE, home === undefined ? {} : { home })('approve x')).toBe(said);
  });

  test('those that lower parts quote are found, and other quotes stay', () => {
    const hint = hintsFor(HERE, { home: '/h' });
    const message = 'there is no "trial"; `trialbed ps BATCH` lists them, then "trialbed worker"\nnot trialbed';
    expect(withHints(message, hint)).toBe('there is no "trial"; `trialbed ps BATCH --home /h` lists them, then "trialbed worker --home /h"\nnot trialbed');
  });

  test.each([
    [['ps', '--home', '/h'], { home: '/h' }],
    [['ps', '--home=/h'], { home: '/h' }],
    [['ps', '--home'], {}],
    [['ps', '--', '--home', '/h'], {}],
  ])('the home of %j', (args, home) => {
    expect(homeIn(args)).toEqual(home);
  });

  test('an error points to a command with the home that it was met with', async () => {
    const client = { show: async () => Promise.reject(new NotFoundError('there is no trial x; `trialbed ps BATCH` lists them')) };
    const host = new TestHost({ client });
    expect(await runCommandLine(['show', 'x', '--home', '/h'], host)).toBe(2);
    expect(host.stderr).toContain('`trialbed ps BATCH --home /h` lists them');
    const broken = new TestHost({ client: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
    expect(await runCommandLine(['ps', '--home', '/h'], broken)).toBe(3);
    expect(broken.stderr).toContain('"trialbed doctor --home /h" shows');
  });
});
