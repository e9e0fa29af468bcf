import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { schemas } from '../../src/suite/json-schema.ts';
import { CASE, SUITE } from './suite-fixture.ts';

/** Every property in a schema, by path, with its own schema. */
function propertiesOf(schema: Json, path = ''): readonly (readonly [string, JsonObject])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return (schema as readonly Json[]).flatMap((item, index) => propertiesOf(item, `${path}|${index}`));
  return Object.entries(schema as JsonObject).flatMap(([key, value]) => {
    if (key !== 'properties') return propertiesOf(value, key === 'items' ? `${path}[]` : path);
    return Object.entries(value as JsonObject).flatMap(([name, own]) => [
      [`${path}.${name}`, own as JsonObject] as const,
      ...propertiesOf(own, `${path}.${name}`),
    ]);
  });
}

describe('JSON Schemas for editors', () => {
  test.each(['suite', 'case', 'agent'] as const)('%s: every key has a description', (name) => {
    const properties = propertiesOf(schemas()[name]);
    expect(properties.length).toBeGreaterThan(8);
    expect(properties.filter(([, own]) => typeof own['description'] !== 'string').map(([path]) => path)).toEqual([]);
  });

  test('are plain JSON of a named draft', () => {
    for (const schema of Object.values(schemas())) {
      expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
      expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    }
  });

  test('accept what the loader accepts, and refuse unknown keys', async () => {
    const accepts = (name: 'suite' | 'case' | 'agent', text: string): boolean =>
      z.fromJSONSchema(schemas()[name] as Parameters<typeof z.fromJSONSchema>[0]).safeParse(parse(text)).success;
    expect(accepts('suite', SUITE)).toBe(true);
    expect(accepts('suite', `${SUITE}x: 1`)).toBe(false);
    expect(accepts('case', CASE)).toBe(true);
    expect(accepts('case', CASE.replace('change: insert', 'chnge: insert'))).toBe(false);
    expect(accepts('agent', 'kind: module\nfile: a.ts\n')).toBe(true);
    expect(accepts('agent', 'kind: module\n')).toBe(false);
    const cases = new URL('../../src/environments/support-desk/suite/cases/', import.meta.url);
    const refused = [];
    for (const file of await readdir(cases)) if (!accepts('case', await readFile(new URL(file, cases), 'utf8'))) refused.push(file);
    expect(refused).toEqual([]);
  });
});
