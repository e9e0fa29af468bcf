import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineEnvironment, defineTool } from '../../src/environments/define.ts';

const tool = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), result: z.object({}), effect: 'read', run: async () => ({}) });
const pack = { name: 'shop', version: '1', schema: [], seed: [], tools: [tool] };

it('takes a pack whose tools say what they do', () => {
  expect(defineEnvironment(pack).name).toBe('shop');
});

it('refuses a tool with an effect that there is not, since types are stripped before a pack runs', () => {
  const wrong = { ...tool, effect: 'reed' } as unknown as typeof tool;
  expect(() => defineEnvironment({ ...pack, tools: [wrong] })).toThrow('tool "look": effect is "reed"; expected one of read, write, external');
});

it('refuses a pack without a version', () => {
  expect(() => defineEnvironment({ ...pack, version: undefined as unknown as string })).toThrow('version is missing');
});
