import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCall, parseList, ScanError } from '../../src/environments/workbench/calls.ts';
import { DIRECTORY, TOOLKITS } from '../../src/environments/workbench/domains.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const datasets = await requireOrSkip('datasets');

describe('a call string', () => {
  it('gives the tool and its arguments', () => {
    expect(parseCall('email.send_email.func(recipient="A@atlas.com", subject="Hi", body="x\\ny")')).toEqual({
      ok: true,
      tool: 'email.send_email',
      args: { recipient: 'A@atlas.com', subject: 'Hi', body: 'x\ny' },
    });
  });

  it.each([
    ['no arguments', 'email.search_emails.func()', {}],
    ['quotes, brackets and commas inside a value', `a.b.func(x="it's (one), 'two'")`, { x: `it's (one), 'two'` }],
    ['escapes', String.raw`a.b.func(x="\\ \" \' \t \r \n")`, { x: '\\ " \' \t \r \n' }],
    ['an unknown escape keeps its backslash', String.raw`a.b.func(x="\d\w")`, { x: String.raw`\d\w` }],
    ['a real line break', 'a.b.func(x="one\ntwo")', { x: 'one\ntwo' }],
    ['the word None is text', 'a.b.func(x="None")', { x: 'None' }],
    ['literals in a row join', 'a.b.func(x="a" \'b\')', { x: 'ab' }],
    ['a comma at the end', 'a.b.func( x = "a" , )', { x: 'a' }],
  ])('%s', (_, source, args) => {
    expect(parseCall(source)).toEqual({ ok: true, tool: source.split('.', 2).join('.'), args });
  });

  it.each([
    ['a quote that ends the value early', `a.b.func(x="["Akira's")`, /expected "\)"/],
    ['a reserved word as a name', 'a.b.func(from="x")', /reserved word "from"/],
    ['a name twice', 'a.b.func(x="1", x="2")', /no second "x"/],
    ['a value that is no string', 'a.b.func(x=1)', /a string in quotes/],
    ['an expression', 'a.b.func(x="a" + "b")', /expected "\)"/],
    ['something after the call', 'a.b.func(x="a"); b()', /the end/],
    ['no end', 'a.b.func(x="a', /" at the end of the string/],
    ['a name that is too short', 'update_event.func(x="a")', /not of the form toolkit\.tool\.func/],
    ['another last part', 'a.b.run(x="a")', /not of the form toolkit\.tool\.func/],
    ['nothing', '', /a name/],
  ])('is refused for %s', (_, source, problem) => {
    const parsed = parseCall(source);
    expect(parsed.ok ? 'parsed' : parsed.problem).toMatch(problem);
  });

  it('gives back any value that was escaped', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const literal = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
        expect(parseCall(`a.b.func(x="${literal}")`)).toEqual({ ok: true, tool: 'a.b', args: { x: value } });
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.stringMatching(/^[a.("'=,)\\ \n]{0,30}$/), (source) => void parseCall(source)));
  });
});

describe('a list', () => {
  it.each([
    ['[]', []],
    [`['a', "it's"]`, ['a', "it's"]],
    [String.raw`['it\'s', 'x\\ny', ]`, ["it's", 'x\\ny']],
  ])('%s', (source, items) => {
    expect(parseList(source)).toEqual(items);
  });

  it.each(['', 'x', "['a'", "['a'] + x", '[1]', "[__import__('os')]"])('%s is refused', (source) => {
    expect(() => parseList(source)).toThrow(ScanError);
  });
});

describe.skipIf(!datasets.met)(skipTitle('the published runs', datasets), () => {
  it('hold 3 calls that do not parse, 81 of unknown tools, and 74 writes with an argument that their tool does not have', () => {
    const tools = new Map([DIRECTORY, ...Object.values(TOOLKITS)].flatMap((toolkit) => toolkit.tools({ compat: false })).map((tool) => [tool.name, tool]));
    const counts = { calls: 0, unreadable: 0, unknown: 0, wrongWrites: 0, wrongReads: 0 };
    for (const line of readFileSync(join(DATASETS, 'workbench', 'recorded_runs.jsonl'), 'utf8')
      .trim()
      .split('\n')) {
      for (const source of (JSON.parse(line) as { predicted: string[] }).predicted) {
        counts.calls += 1;
        const call = parseCall(source);
        if (!call.ok) counts[call.problem.includes('not of the form') ? 'unknown' : 'unreadable'] += 1;
        else {
          const tool = tools.get(call.tool);
          if (!tool) counts.unknown += 1;
          else if (!tool.input.safeParse(call.args).success) counts[tool.effect === 'read' ? 'wrongReads' : 'wrongWrites'] += 1;
        }
      }
    }
    expect(counts).toEqual({ calls: 5876, unreadable: 3, unknown: 81, wrongWrites: 74, wrongReads: 56 });
  });
});
