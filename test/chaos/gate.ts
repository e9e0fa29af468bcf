import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/domain/json.ts';

/** By tool: what it does once the gate is open. */
const EFFECTS: { readonly [tool: string]: (gate: string) => JsonObject } = {
  note: (gate) => ({ row: 'passages', change: 'insert', where: { gate } }),
  pass: (gate) => ({ row: 'passages', change: 'insert', where: { gate } }),
  write_mail: () => ({ mail: ['one@example.org'], subject: { says: ['gate'] } }),
  open_ticket: (gate) => ({ row: 'tickets', change: 'insert', where: { body: gate } }),
};

/** Writes a suite with a case for each tool, whose reference waits in that tool until the file `gate` is there. @returns its folder. */
export async function writeGateSuite(folder: string, gate: string, tools: readonly string[]): Promise<string> {
  await mkdir(join(folder, 'cases'), { recursive: true });
  const suite = {
    name: 'gate',
    title: 'Gate',
    environment: resolve('test/fixtures/packs/gate/pack.ts'),
    user: { name: 'mara', role: 'agent' },
    clock: '2026-03-02T09:30:00+01:00',
  };
  await writeFile(join(folder, 'suite.yaml'), stringify(suite));
  for (const tool of tools) {
    const kase = {
      title: tool,
      kind: 'test',
      request: 'Act when the gate opens.',
      expect: { outcomes: [{ name: 'acted', effects: [EFFECTS[tool]?.(gate)] }] },
      reference: { steps: [{ call: tool, with: { file: gate } }], answer: 'Done.' },
    };
    await writeFile(join(folder, 'cases', `${tool.replaceAll('_', '-')}.yaml`), stringify(kase));
  }
  return folder;
}
