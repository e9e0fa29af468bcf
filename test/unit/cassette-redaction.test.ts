import { describe, expect, it } from 'vitest';
import { Redactor, withSecretsByKind } from '../../src/cassettes/redactor.ts';
import { secretsIn } from '../../src/cassettes/write-cassette.ts';
import type { Json } from '../../src/domain/json.ts';
import { plantedIn } from '../harness/planted.ts';

const KEYS: { readonly [kind: string]: string } = {
  openai: 'sk-proj-abcdefghijklmnopqrstuvwx0123',
  anthropic: 'sk-ant-api03-ABCDEFGHIJKLMNOPQRSTUVWX',
  stripe: ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_'),
  google: 'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  aws: 'AKIAIOSFODNN7EXAMPLE',
  github: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  gitlab: 'glpat-ABCDEF1234567890abcd',
  slack: ['xoxb', '123456789012', 'abcdefABCDEF'].join('-'),
  npm: 'npm_abcdefghijklmnopqrstuvwxyz0123456789',
  sendgrid: 'SG.abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  'private key': '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----',
  card: '4111 1111 1111 1111',
  'card without spaces': '5555555555554444',
  iban: 'DE89 3704 0044 0532 0130 00',
};
const ADDRESS = 'maria.santos@privat-mail.pt';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Ways in which a secret comes: in a text, as a value, in a list, in JSON within JSON, in headers, encoded. */
const PLACES: { readonly [place: string]: (secret: string) => Json } = {
  'a text': (secret) => ({ body: `Please use ${secret}, and tell nobody.` }),
  'a value of its own': (secret) => ({ deep: { deeper: [{ value: secret }] } }),
  'a key': (secret) => ({ [secret]: true }),
  'JSON in a text': (secret) => ({ payload: JSON.stringify({ inner: { value: secret, list: [secret] } }) }),
  'JSON in JSON in a text': (secret) => ({ payload: JSON.stringify({ inner: JSON.stringify({ value: secret }) }) }),
  'a header': (secret) => ({ headers: { 'X-Custom': `a; b=${secret}` } }),
  base64: (secret) => ({ attachment: base64(`Dear all,\n\nhere it is: ${secret}\n`) }),
  'base64 behind a path': (secret) => ({ url: `https://files.test/get/${base64(`it is ${secret} here`)}` }),
  base64url: (secret) => ({ token: 'x', state: Buffer.from(`{"s":"${secret}"}`).toString('base64url') }),
  'base64 in base64': (secret) => ({ body: base64(`twice ${base64(`once ${secret} once`)} twice`) }),
  'MIME lines': (secret) => ({ raw: (base64(`${'A long letter. '.repeat(20)}${secret}${' The end.'.repeat(20)}`).match(/.{1,76}/g) ?? []).join('\r\n') }),
  hexadecimal: (secret) => ({ dump: Buffer.from(`here ${secret} there`).toString('hex') }),
  'a URL': (secret) => ({ link: `https://pay.test/?q=${encodeURIComponent(secret)}&a=1` }),
};

function redacted(value: Json): string {
  const redactor = new Redactor();
  redactor.collect(value);
  return JSON.stringify(redactor.json(value));
}

describe('redaction leaves nothing of', () => {
  for (const [kind, secret] of Object.entries({ ...KEYS, address: ADDRESS })) {
    it(kind, () => {
      for (const [place, plant] of Object.entries(PLACES)) {
        const value = plant(secret);
        // What is encoded twice is seen by what decodes it, and not by looking for it.
        if (place !== 'base64 in base64' && place !== 'JSON in JSON in a text')
          expect(plantedIn(Buffer.from(JSON.stringify(value)), [secret]), `the checker finds ${kind} in ${place}`).toEqual([secret]);
        const clean = redacted(value);
        expect(plantedIn(Buffer.from(clean), [secret]), `${kind} in ${place}: ${clean}`).toEqual([]);
      }
    });
  }

  it('passwords, tokens and cookies by the name that they stand under', () => {
    const value = {
      password: 'hunter2!',
      headers: [
        { name: 'Authorization', value: 'Basic dXNlcjpodW50ZXIyIQ==' },
        { name: 'Accept', value: 'text/plain' },
      ],
      set_cookie: 'sid=abcdef123456',
      text: 'api_key=abcdef123456 and Basic dXNlcjpodW50ZXIyIQ== and https://bot:s3cretpw@host.test/',
      pin: 1234,
      escaped: 'a body such as {\\"password\\": \\"correcthorse\\"} within a text',
    };
    const clean = redacted(value);
    for (const secret of ['hunter2!', 'dXNlcjpodW50ZXIyIQ', 'abcdef123456', 's3cretpw', 'correcthorse']) expect(clean).not.toContain(secret);
    expect(clean).toContain('text/plain');
    expect(clean).toContain('1234');
  });
});

describe('placeholders', () => {
  it('are the same for the same value, wherever it stands, and survive another redaction', () => {
    const value = { a: `write to ${ADDRESS}`, b: ADDRESS, c: 'other@firma.de', d: [`${KEYS['github']} `, base64(`key ${KEYS['github']}`)] };
    const redactor = new Redactor();
    redactor.collect(value);
    const clean = redactor.json(value);
    expect(clean).toMatchObject({ a: 'write to address-1@redacted.invalid', b: 'address-1@redacted.invalid', c: 'address-2@redacted.invalid' });
    expect(redacted(clean)).toBe(JSON.stringify(clean));
    expect(redactor.counts).toMatchObject({ address: 2, token: 1 });
  });

  it("leave nobody's addresses, and what the suite says itself", () => {
    const redactor = new Redactor({ known: 'Refund the order of Clara.Voss@firma.de, please.' });
    expect(redactor.json(['clara.voss@firma.de', 'a@example.com', 'b@mail.example.org', 'c@shop.test', 'd@firma.de'])).toEqual([
      'clara.voss@firma.de',
      'a@example.com',
      'b@mail.example.org',
      'c@shop.test',
      'address-1@redacted.invalid',
    ]);
  });

  it('stand for what the suite names, also where only another place shows it', () => {
    const rules = { fields: [{ field: /^.*_name$/i, as: 'name' }], patterns: [{ pattern: /\bACC-\d{6}\b/gu, as: 'account' }] };
    const redactor = new Redactor({ rules });
    const value = { text: 'Ann Boleyn called about ACC-123456.', customer_name: 'Ann Boleyn', again: ['ACC-123456', 'ACC-654321', 'Boleynism'] };
    redactor.collect(value);
    expect(redactor.json(value)).toEqual({
      text: '[name-1] called about [account-1].',
      customer_name: '[name-1]',
      again: ['[account-1]', '[account-2]', 'Boleynism'],
    });
  });

  it('leave ordinary text, ids and times alone', () => {
    const value = {
      id: 'op-3',
      order: 10_234,
      at: '2026-03-02T09:30:00+01:00',
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      text: 'The parcel 00340434161094042557 was delivered; the bearer signed. Order 1741000000000.',
      base64ish: 'aVeryLongIdentifierThatIsNoText',
    };
    expect(JSON.parse(redacted(value))).toEqual(value);
  });
});

it('compares secrets by kind, and nothing else', () => {
  expect(withSecretsByKind({ card: '4111 1111 1111 1111', to: ADDRESS })).toEqual({ card: '[card-number]', to: ADDRESS });
  expect(withSecretsByKind({ card: '[card-number-7]', to: 'address-1@redacted.invalid' })).toEqual({ card: '[card-number]', to: 'address-1@redacted.invalid' });
});

it('tells which kinds of secrets a text holds', () => {
  expect(secretsIn(`a ${KEYS['aws']} b ${base64(`see ${KEYS['stripe']} there`)}`)).toEqual(['access-key', 'api-key', 'encoded']);
  expect(secretsIn('{"a": "[api-key-1]", "b": "address-1@redacted.invalid", "c": [1, 2]}')).toEqual([]);
});
