import { expect, test } from 'vitest';
import { namesAddress, REMOVED, withoutSubject } from '../../src/domain/without-subject.ts';

const names = namesAddress('ann.o+1@example.org');

test('an address is named whole: no longer one that ends or begins like it', () => {
  for (const text of [
    'ann.o+1@example.org',
    'to <Ann.O+1@EXAMPLE.org>, please',
    'ann.o+1@example.org.',
    '"ann.o+1@example.org"',
    'mailto:ann.o+1@example.org?subject=x',
  ])
    expect(names(text), text).toBe(true);
  for (const text of [
    'joann.o+1@example.org',
    'x-ann.o+1@example.org',
    'ann.o+1@example.org.uk',
    'ann.o+1@example.organic',
    'ann.o+1@example-org',
    'annxo+1@example.org',
    '',
  ])
    expect(names(text), text).toBe(false);
});

test('what stands beside an address goes with it; numbers, what a thing is, and other objects stay', () => {
  const row = {
    kind: 'row',
    table: 'customers',
    key: { id: 7 },
    after: { id: 7, name: 'Ann O', email: 'ann.o+1@example.org', phone: '+1 555', orders: [{ sku: 'A', n: 1 }] },
    before: null,
  };
  expect(withoutSubject(row, names)).toEqual({
    kind: 'row',
    table: 'customers',
    key: { id: 7 },
    after: { id: 7, name: REMOVED, email: REMOVED, phone: REMOVED, orders: [{ sku: 'A', n: 1 }] },
    before: null,
  });
  const mail = { kind: 'mail', from: 'support@example.org', subject: 'Hi', text: 'Dear Ann', recipients: [{ address: 'ann.o+1@example.org', code: 250 }] };
  expect(withoutSubject(mail, names)).toEqual({ ...mail, recipients: [{ address: REMOVED, code: 250 }] });
  expect(withoutSubject({ to: ['ann.o+1@example.org'], subject: 'Hi', text: 'Dear Ann' }, names)).toEqual({ to: [REMOVED], subject: REMOVED, text: REMOVED });
  expect(withoutSubject({ turn: 1, from: 'agent', text: 'I wrote to ann.o+1@example.org.' }, names)).toEqual({ turn: 1, from: 'agent', text: REMOVED });
  expect(withoutSubject({ 'ann.o+1@example.org': 'Ann' }, names)).toEqual({ [REMOVED]: REMOVED });
  expect(withoutSubject({ text: 'nobody' }, names)).toBeNull();
});
