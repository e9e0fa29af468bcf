import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { SuiteFileError } from '../../src/suite/suite.ts';

export const SUITE = `name: desk
environment: ./pack.ts
clock: 2026-03-02T09:30:00+01:00
timezone: Europe/Berlin
user: { name: mara, role: agent }
`;

export const CASE = `title: Refund
kind: refund
request: Refund order 1007.
expect:
  outcomes:
    - name: refunded
      effects:
        - { row: refunds, change: insert, where: { order_id: 1007 } }
reference:
  steps:
    - { call: get_order, with: { order_id: 1007 }, as: order }
    - { call: issue_refund, with: { order_id: 1007, amount: "\${order.total}" } }
  answer: Done.
`;

export interface Folder extends AsyncDisposable {
  readonly path: string;
}

/** A folder with these files; by default those of a suite that is right. */
export async function folderWith(files: { readonly [path: string]: string | Uint8Array | null } = {}): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'trialbed-suite-'));
  const all = { 'suite.yaml': SUITE, 'pack.ts': '', 'cases/refund.yaml': CASE, ...files };
  for (const [name, content] of Object.entries(all)) {
    if (content === null) continue;
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The problems that loading reports, as `file:line:column message (suggestion)`. */
export async function problemsIn(folder: string, work: () => unknown): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof SuiteFileError)) throw error;
    return error.problems.map(
      ({ file, line, column, message, suggestion }) =>
        `${relative(folder, file)}:${line ?? '-'}:${column ?? '-'} ${message}${suggestion === null ? '' : ` (${suggestion})`}`,
    );
  }
}
