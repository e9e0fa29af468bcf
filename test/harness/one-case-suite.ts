import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/domain/json.ts';

/** Writes a suite of one case, of which nothing is expected unless `kase` says otherwise, and an agent beside it. `more`: further cases by name. */
export async function writeOneCaseSuite(
  folder: string,
  name: string,
  parts: {
    readonly environment: Json;
    readonly agent: JsonObject;
    readonly kase?: JsonObject;
    readonly more?: { readonly [name: string]: JsonObject };
    readonly faults?: { readonly [name: string]: JsonObject };
  },
): Promise<{ readonly suite: string; readonly agents: readonly [string] }> {
  const suite = join(folder, name);
  await mkdir(join(suite, 'cases'), { recursive: true });
  const common = { title: name, user: { name: 'mara', role: 'agent' }, clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin' };
  await writeFile(join(suite, 'suite.yaml'), stringify({ name, environment: parts.environment, ...common }));
  const plain = {
    title: name,
    kind: 'test',
    request: 'Do it.',
    expect: { outcomes: [{ name: 'nothing changed', effects: [] }] },
    expects_nothing: true,
    reference: { steps: [], answer: 'Done.' },
  };
  const cases = { only: parts.kase ?? {}, ...parts.more };
  for (const [file, kase] of Object.entries(cases)) await writeFile(join(suite, 'cases', `${file}.yaml`), stringify({ ...plain, ...kase }));
  await writeFile(join(suite, 'agent.yaml'), stringify({ name: 'agent', version: '1', ...parts.agent }));
  if (parts.faults) await mkdir(join(suite, 'faults'), { recursive: true });
  for (const [file, schedule] of Object.entries(parts.faults ?? {})) await writeFile(join(suite, 'faults', `${file}.yaml`), stringify(schedule));
  return { suite, agents: [join(suite, 'agent.yaml')] };
}
