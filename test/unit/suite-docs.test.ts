import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { schemas } from '../../src/suite/json-schema.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { readRoute } from '../../src/suite/route-file.ts';
import { type Folder, folderWith } from './suite-fixture.ts';

const page = await readFile(new URL('../../docs/case-files.md', import.meta.url), 'utf8');

/** YAML blocks of the page by the comment in their first line: a file's name, or `part of a case`. */
const blocks = [...page.matchAll(/^```yaml\n# (.+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({ name, text }));
const files = Object.fromEntries(blocks.filter(({ name }) => !name.startsWith('part of')).map(({ name, text }) => [name, text]));
const parts = blocks.filter(({ name }) => name === 'part of a case');
const CASE = 'cases/refund-within-policy.yaml';

/** The page's files in a suite's folder, with the pack and the code that they name. */
function pageFolder(more: { readonly [path: string]: string } = {}): Promise<Folder> {
  const inSuite = Object.fromEntries(
    Object.entries({ ...files, 'agents/code/careful.ts': '', 'agents/teller/teller.py': '', ...more }).map(([name, text]) => [`suite/${name}`, text]),
  );
  return folderWith({ 'suite.yaml': null, 'cases/refund.yaml': null, ...inSuite });
}

describe('docs/case-files.md', () => {
  test('every block of YAML is named, so that it is tested', () => {
    expect([...page.matchAll(/^```yaml$/gm)]).toHaveLength(blocks.length);
    expect(Object.keys(files).sort()).toEqual([
      'agents/asked.yaml',
      'agents/careful.yaml',
      'agents/far.yaml',
      'agents/fixed.yaml',
      'agents/pair.yaml',
      'agents/silent.yaml',
      'agents/teller.yaml',
      CASE,
      'cases/thanks.yaml',
      'faults/everything.yaml',
      'faults/lost-reply.yaml',
      'routes/small.yaml',
      'rubrics/tone.yaml',
      'suite.yaml',
    ]);
    expect(parts.length).toBeGreaterThanOrEqual(6);
  });

  test('its files are a suite', async () => {
    await using folder = await pageFolder();
    const suite = await loadSuite(join(folder.path, 'suite'));
    expect(suite.cases.map(({ kase }) => kase.id)).toEqual(['refund-within-policy', 'thanks']);
    const agents = await Promise.all(Object.keys(suite.agents).map((name) => loadAgent(name, suite)));
    expect(agents.map(({ spec }) => spec.kind).sort()).toEqual(['command', 'do-nothing', 'http', 'model', 'module', 'script', 'team']);
    expect(await readRoute(join(folder.path, 'suite/routes/small.yaml'))).toMatchObject({ name: 'small', timeoutMs: 90_000 });
    expect(suite.defaults.faults).toEqual(['none', 'lost-reply']);
    const kinds = new Set(suite.schedules['everything']?.schedule.rules.map(({ fault }) => fault.kind));
    const known = JSON.stringify(schemas().faults).match(/(?<="const":")[a-z_]+/g) ?? [];
    expect(known.length).toBeGreaterThanOrEqual(17);
    expect(known.filter((kind) => !page.includes(`\`${kind}\``) || !(kinds as ReadonlySet<string>).has(kind))).toEqual(['timeout_after_commit']);
  });

  test.each(parts.map(({ text }) => [text.slice(0, 60).replaceAll('\n', ' '), text]))('this part fits into its case: %s', async (_name, text) => {
    const { request, ...rest } = parse(files[CASE] ?? '') as JsonObject;
    const part = parse(text) as JsonObject;
    const whole = { ...('turns' in part ? {} : { request: request ?? null }), ...rest, ...part };
    await using folder = await pageFolder({ [CASE]: stringify(whole) });
    expect((await loadSuite(join(folder.path, 'suite'))).cases).toHaveLength(2);
  });

  test('every key of the schemas is named and shown in an example', () => {
    const named = new Set([...page.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.match(/[A-Za-z_]+/g) ?? []));
    const shown = new Set(blocks.flatMap(({ text }) => text.match(/[A-Za-z_]+(?=:)/g) ?? []));
    const keys = [...new Set(Object.values(schemas()).flatMap(keysOf))];
    expect(keys.length).toBeGreaterThan(50);
    expect(keys.filter((key) => !named.has(key))).toEqual([]);
    expect(keys.filter((key) => !shown.has(key))).toEqual([]);
  });
});

function keysOf(schema: Json): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return (schema as readonly Json[]).flatMap(keysOf);
  return Object.entries(schema as JsonObject).flatMap(([key, value]) => [...(key === 'properties' ? Object.keys(value as JsonObject) : []), ...keysOf(value)]);
}
