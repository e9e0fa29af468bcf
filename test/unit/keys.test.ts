import { describe, expect, test } from 'vitest';
import { KeyMissingError } from '../../src/keys/errors.ts';
import { newKey } from '../../src/keys/key-ring.ts';
import { type ConfigError, readSettings } from '../../src/worker/config.ts';

const { secret } = newKey('any');

describe('TRIALBED_KEYS', () => {
  test('is keys with spaces or commas between them, the current one first', () => {
    expect(readSettings({ TRIALBED_KEYS: `2026-12=${secret}, 2026-06=${newKey('b').secret}\n` }).keys).toEqual(['2026-12', '2026-06']);
  });

  test.each([
    [secret.replaceAll('=', ''), 'number 1 has no name before a "="'],
    [`${secret}`, 'number 1 has a name of other signs than'],
    [`Key=${secret}`, 'number 1 has a name of other signs than'],
    [`=${secret}`, 'number 1 has a name of other signs than lower-case letters, digits and dashes, or none'],
    [`a=${secret} b=${secret.slice(4)}`, 'number 2 is not 32 bytes in base64 behind its "="'],
    [`a=${secret} b=`, 'number 2 is not 32 bytes in base64 behind its "="'],
    [`a=${secret} a=${secret}`, '"a" is there twice'],
  ])('what is no key is told by its place, and not shown (%#)', (text, expected) => {
    let problem = '';
    try {
      readSettings({ TRIALBED_KEYS: text });
    } catch (error) {
      [problem = ''] = (error as ConfigError).problems;
    }
    expect(problem).toMatch(/^TRIALBED_KEYS: expected /);
    expect(problem).toContain(expected);
    expect(problem).not.toContain(secret.slice(4, 20));
  });
});

test('whoever lacks a key is told which, where to put it, and to start again', () => {
  expect(new KeyMissingError('second', 'the store', ['first', 'old']).message).toBe(
    'the store is encrypted with the key "second", and TRIALBED_KEYS has only first, old; nothing was changed. Add "second=..." to TRIALBED_KEYS, behind the current key "first", and start this worker or command again',
  );
  expect(new KeyMissingError('second', 'the store', []).message).toContain(
    'TRIALBED_KEYS is not set; nothing was changed. Set TRIALBED_KEYS to "second=...", and start',
  );
});
