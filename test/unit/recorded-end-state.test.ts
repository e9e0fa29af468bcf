import { describe, expect, it } from 'vitest';
import type { Effect, RowEffect } from '../../src/domain/effect.ts';
import { endState, endStateDifferences, withLetterCase } from '../../src/domain/grading/end-state.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { netEffects } from '../../src/domain/grading/net.ts';
import type { TableFacts } from '../../src/domain/record.ts';

const tables: { readonly [table: string]: TableFacts } = {
  notes: { key: ['place'], ignored: ['stamp'], scale: {}, text: { title: 'caseless', state: 'exact' } },
};
let seq = 0;

function change(before: JsonObject | null, after: JsonObject | null): RowEffect {
  const kind = before === null ? 'insert' : after === null ? 'delete' : 'update';
  seq += 1;
  return { kind: 'row', seq, table: 'notes', change: kind, key: { place: (after ?? before)?.place ?? null }, before, after, operation: 'op-1', at: '' };
}

function differences(found: readonly Effect[], expected: readonly Effect[]): string[] {
  return endStateDifferences(endState(found, tables), endState(expected, tables));
}

describe('two end states', () => {
  const a = { place: 1, title: 'A', state: 'New', stamp: 1 };

  it('are the same however they were reached', () => {
    const detour = [change(null, a), change(a, { ...a, title: 'B' }), change({ ...a, title: 'B' }, null), change(null, a)];
    expect(differences(detour, [change(null, a)])).toEqual([]);
    expect(differences([change(a, { ...a, title: 'B' }), change({ ...a, title: 'B' }, a)], [])).toEqual([]);
  });

  it('are told apart with the row that makes the difference', () => {
    expect(differences([change(null, a)], [])).toEqual([expect.stringMatching(/^is there and should not be: notes .*"title":"A"/)]);
    expect(differences([], [change(null, a), change(null, a)])).toEqual([expect.stringMatching(/^is not there and should be: .*\(2 times\)$/)]);
    expect(differences([change(a, null)], [])).toEqual([expect.stringMatching(/^is not there and should be/)]);
  });

  it('do not differ by letter case of a caseless column, or by an ignored one', () => {
    expect(differences([change(null, { ...a, title: 'a', stamp: 2 })], [change(null, a)])).toEqual([]);
    expect(differences([change(null, { ...a, state: 'new' })], [change(null, a)])).toHaveLength(2);
    expect(differences([change(a, { ...a, title: 'a' })], [])).toEqual([]);
    expect(netEffects([change(a, { ...a, title: 'a' })], tables)).toEqual([]);
  });

  it('a change of letter case is still a change', () => {
    expect(endState([change(a, { ...a, title: 'a' })], withLetterCase(tables)).size).toBe(2);
  });

  it('differ by the order of rows where a column holds their place', () => {
    const rows = (first: string, second: string) => [change(null, { place: 1, title: first }), change(null, { place: 2, title: second })];
    expect(differences(rows('x', 'y'), rows('y', 'x'))).toHaveLength(4);
    expect(differences(rows('x', 'y'), rows('X', 'Y'))).toEqual([]);
  });

  it('compare texts that look like times letter by letter where that is declared, and by instant elsewhere', () => {
    const at = (title: string, other: string) => [change(null, { place: 1, title, other })];
    expect(differences(at('2023-11-30 09:00:00', 'x'), at('2023-11-30T09:00:00', 'x'))).toHaveLength(2);
    expect(differences(at('x', '2023-11-30 09:00:00'), at('x', '2023-11-30T09:00:00'))).toEqual([]);
  });

  it('null is not the empty text', () => {
    expect(differences([change(null, { ...a, title: null })], [change(null, { ...a, title: '' })])).toHaveLength(2);
  });

  it('a mail counts once for each time that it was accepted', () => {
    const mail = (accepted: boolean): Effect => ({
      kind: 'mail',
      seq: 1,
      accepted,
      from: 'a@x',
      recipients: [{ address: 'b@x', code: 250 }],
      subject: 's',
      text: 't',
      headers: {},
      messageId: null,
      attachments: [],
      violations: [],
      operation: null,
      at: '',
    });
    expect(differences([mail(true), mail(true), mail(false)], [mail(true), mail(true)])).toEqual([]);
    expect(differences([mail(true), mail(true)], [mail(true)])).toEqual(['is there and should not be: a mail to b@x with subject "s"']);
  });
});
