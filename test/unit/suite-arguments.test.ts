import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadAgent } from '../../src/suite/agent-file.ts';
import type { CheckedTool } from '../../src/suite/check-arguments.ts';
import { checkAgainst, checkAgentAgainst, type EnvironmentFacts } from '../../src/suite/check-against.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import type { FileProblem } from '../../src/suite/suite.ts';
import { CASE, folderWith } from './suite-fixture.ts';

const book: CheckedTool = {
  name: 'book',
  idempotent: true,
  input: z
    .object({
      room: z.string().min(3),
      seats: z.int().min(1).max(20),
      day: z.enum(['monday', 'tuesday']).optional(),
      guests: z.array(z.object({ email: z.email(), vip: z.boolean().default(false) })).optional(),
      until: z.number().positive().nullish(),
    })
    .refine((args) => args.room !== 'cellar' || args.seats < 5, 'the cellar has four seats'),
};
const find: CheckedTool = { name: 'find', input: z.object({ by: z.union([z.object({ id: z.int() }), z.object({ name: z.string() })]) }) };
const facts: EnvironmentFacts = { environment: { tools: [book, find] } };

function told(problems: readonly FileProblem[]): readonly string[] {
  return problems.map(({ line, column, message, suggestion }) => `${line}:${column} ${message}${suggestion === null ? '' : ` (${suggestion})`}`);
}

/** What is told of a case whose reference is these steps, one a line from line 10. */
async function ofReference(...steps: readonly string[]): Promise<readonly string[]> {
  const head = CASE.slice(0, CASE.indexOf('reference:'));
  const text = `${head}reference:\n  steps:\n${steps.map((step) => `    - ${step}\n`).join('')}  answer: Done.\n`;
  await using folder = await folderWith({ 'cases/refund.yaml': text });
  return told(checkAgainst(await loadSuite(folder.path), facts)).map((line) => line.replace(/^\d+:\d+ /, ''));
}

describe('arguments of a step', () => {
  test.each<[string, string, readonly string[]]>([
    ['what is right', '{ call: book, with: { room: hall, seats: 6, day: monday, guests: [{ email: a@b.org }], until: null } }', []],
    ['a wrong type', '{ call: book, with: { room: hall, seats: six } }', ['reference.steps[0].with.seats: expected a number, found "six"']],
    ['a text that is a number', '{ call: book, with: { room: 101, seats: 6 } }', ['reference.steps[0].with.room: expected text, found 101; put it in quotes']],
    ['a value out of range', '{ call: book, with: { room: hall, seats: 60 } }', ['reference.steps[0].with.seats: expected at most 20, found 60']],
    ['a limit that is left out', '{ call: book, with: { room: hall, seats: 6, until: 0 } }', ['reference.steps[0].with.until: expected more than 0, found 0']],
    ['a short text', '{ call: book, with: { room: ha, seats: 6 } }', ['reference.steps[0].with.room: expected at least 3 characters']],
    [
      'one of a few words',
      '{ call: book, with: { room: hall, seats: 6, day: munday } }',
      ['reference.steps[0].with.day: expected "monday" or "tuesday", found "munday" (monday)'],
    ],
    ['a missing one', '{ call: book, with: { room: hall } }', ['reference.steps[0].with.seats: is missing; expected a number']],
    [
      'no arguments at all',
      '{ call: book }',
      ['reference.steps[0].with.room: is missing; expected text', 'reference.steps[0].with.seats: is missing; expected a number'],
    ],
    [
      'a misspelt name is one mistake',
      '{ call: book, with: { room: hall, seat: 6 } }',
      ['reference.steps[0].with.seat: there is no argument of book "seat"; known: room, seats, day, guests, until (seats)'],
    ],
    [
      'deep inside',
      '{ call: book, with: { room: hall, seats: 6, guests: [{ email: a@b.org }, { email: nobody, vop: true }] } }',
      [
        'reference.steps[0].with.guests[1].vop: there is no argument of book "vop"; known: email, vip (vip)',
        'reference.steps[0].with.guests[1].email: Invalid email address',
      ],
    ],
    ['a rule over all of them', '{ call: book, with: { room: cellar, seats: 6 } }', ['reference.steps[0].with: the cellar has four seats']],
    ['one of two forms', '{ call: find, with: { by: { id: x } } }', ['reference.steps[0].with.by.id: expected a number, found "x"']],
    ['a key', '{ call: book, with: { room: hall, seats: 6 }, key: k }', []],
    ['a key among the arguments', '{ call: book, with: { room: hall, seats: 6, idempotency_key: k } }', []],
    ['a key for a tool without', '{ call: find, with: { by: { id: 1 } }, key: k }', ['reference.steps[0].key: find takes no idempotency key']],
    ['a plain dollar', "{ call: book, with: { room: '$${a}', seats: 6 } }", []],
  ])('%s', async (_what, step, expected) => {
    expect((await ofReference(step)).toSorted()).toEqual(expected.toSorted());
  });

  test('results of earlier steps count as right, and all beside them is checked', async () => {
    const first = '{ call: find, with: { by: { id: 1 } }, as: found }';
    expect(await ofReference(first, "{ call: book, with: { room: '${found.room}', seats: '${found.seats}', guests: ['${found.guest}'] } }")).toEqual([]);
    expect(await ofReference(first, "{ call: book, with: { room: '${found.room}', seats: six, nights: 2 } }")).toEqual([
      'reference.steps[1].with.seats: expected a number, found "six"',
      'reference.steps[1].with.nights: there is no argument of book "nights"; known: room, seats, day, guests, until',
    ]);
    expect(await ofReference(first, "{ call: book, with: { room: '${found.room}' } }")).toEqual([
      'reference.steps[1].with.seats: is missing; expected a number',
    ]);
    // A text with a result in it is a text, and so is a state.
    expect(await ofReference(first, "{ call: book, with: { room: 'r${found.n}', seats: 'n${found.n}', until: '${found!state}' } }")).toEqual([
      'reference.steps[1].with.seats: expected a number, found "n${found.n}"',
      'reference.steps[1].with.until: expected a number, found "${found!state}"',
    ]);
    expect(await ofReference(first, "{ call: find, with: { by: '${found.by}' } }", "{ call: find, with: { by: { id: '${found.id}' } } }")).toEqual([]);
  });

  test('a call that is wrong on purpose says so, and is told of when nothing is wrong with it', async () => {
    expect(await ofReference('{ call: book, with: { seats: six }, invalid: true }', '{ call: bok, invalid: true }')).toEqual([]);
    expect(await ofReference('{ call: book, with: { room: hall, seats: 6 }, invalid: true }')).toEqual([
      'reference.steps[0].invalid: nothing is wrong with this call of book; leave "invalid" out, or make the call what it is meant to be',
    ]);
    expect(await ofReference('{ call: find, with: { by: { id: 1 } }, as: f }', "{ call: book, with: { room: hall, seats: '${f.x}' }, invalid: true }")).toEqual(
      [],
    );
  });

  test('of a script as of a reference, with the place in its file', async () => {
    await using folder = await folderWith({
      'agents/probe.yaml':
        'kind: script\nsteps:\n  - { call: bok }\n  - { call: book, with: { room: hall, seats: six } }\n  - { call: book, invalid: true }\nanswer: Done.\n',
    });
    const suite = await loadSuite(folder.path);
    expect(told(checkAgentAgainst(await loadAgent('probe', suite), facts))).toEqual([
      '3:13 steps[0].call: there is no tool "bok"; known: book, find (book)',
      '4:46 steps[1].with.seats: expected a number, found "six"',
    ]);
    expect(checkAgentAgainst(await loadAgent('reference', suite), facts)).toEqual([]);
  });
});
