import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Case } from '../../domain/case.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TrialRecord } from '../../domain/record.ts';
import { canonicalText } from '../../domain/text/canonical.ts';
import type { SnapshotRow } from '../../store/snapshots.ts';
import type { Root } from '../../worker/root.ts';
import { SnapshotError } from './errors.ts';
import { writeInbox } from './inbox-files.ts';

/** A snapshot with what another machine needs to make its world, and to judge it. */
export interface ExportedSnapshot {
  readonly row: SnapshotRow;
  /** Name of the suite. */
  readonly suite: string;
  readonly environment: { readonly name: string; readonly version: string; readonly file: string; readonly options: JsonObject };
  readonly caseHash: string;
  readonly kase: Case;
  /** Null: it was never made, or was removed. */
  readonly record: TrialRecord | null;
  readonly snapshot: JsonObject;
}

const FORMAT = 'trialbed.snapshot/1';
const FILE = 'snapshot.json';

const envelope = z.object({
  format: z.literal(FORMAT),
  sha256: z.string(),
  content: z.looseObject({
    row: z.object({ id: z.string() }).loose(),
    snapshot: z.looseObject({ generation: z.string(), effects: z.array(z.unknown()), rawMails: z.array(z.unknown()) }),
  }),
});

export async function exportedOf({ store }: Pick<Root, 'store'>, row: SnapshotRow): Promise<ExportedSnapshot> {
  const [found, trial, batch, record] = await Promise.all([
    store.snapshot(row.id),
    store.trial(row.trial),
    store.batch(row.batch),
    store.record(row.trial, row.attempt),
  ]);
  if (found === null || trial === null || batch === null) throw new SnapshotError(`snapshot ${row.id} was deleted meanwhile`);
  const kase = await store.caseDocument(trial.caseHash);
  if (kase === null) throw new SnapshotError(`the case of snapshot ${row.id} is not in the store any more`);
  const { name, version, file, options } = batch.environment;
  const environment = { name, version, file, options };
  return { row, suite: batch.suite, environment, caseHash: trial.caseHash, kase: kase.kase, record, snapshot: found.snapshot };
}

/**
 * Writes a snapshot in clear: to a file where the name ends with `.json`, else to a folder, with the inbox as `.eml` files beside. Written again with the same content it changes nothing.
 *
 * @throws {SnapshotError} where something else is there
 */
export async function writeExported(exported: ExportedSnapshot, out: string): Promise<readonly string[]> {
  const text = exportText(exported);
  if (out.endsWith('.json')) {
    await mkdir(dirname(out), { recursive: true });
    await writeOnce(out, text);
    return [out];
  }
  const inside: string[] = await readdir(out).catch(() => []);
  if (inside.length > 0 && !inside.includes(FILE)) throw new SnapshotError(`the folder ${out} is not empty and holds no snapshot; name another one with --out`);
  await mkdir(out, { recursive: true, mode: 0o700 });
  await writeOnce(join(out, FILE), text);
  return [join(out, FILE), ...(await writeInbox(exported.snapshot, join(out, 'inbox')))];
}

/** @throws {SnapshotError} that says what the file was expected to be */
export async function readExported(path: string): Promise<ExportedSnapshot> {
  const file = (await stat(path)).isDirectory() ? join(path, FILE) : path;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new SnapshotError(`${path} holds no ${FILE}; expected a folder or a file that \`trialbed snapshot export\` has written`);
    throw new SnapshotError(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SnapshotError(`${file}: not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = envelope.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SnapshotError(`${file}: not a snapshot of format ${FORMAT}: at ${issue?.path.join('.') || 'the top'}: ${issue?.message ?? 'another shape'}`);
  }
  const content = (value as { readonly content: ExportedSnapshot }).content;
  if (digestOf(content) !== parsed.data.sha256) throw new SnapshotError(`${file}: the snapshot was changed or cut after it was exported; export it again`);
  return content;
}

function exportText(exported: ExportedSnapshot): string {
  const { row, suite, environment, caseHash, kase, record, snapshot } = exported;
  const content = JSON.parse(JSON.stringify({ row, suite, environment, caseHash, kase, record, snapshot }));
  return `${JSON.stringify({ format: FORMAT, sha256: digestOf(content), content }, null, 1)}\n`;
}

function digestOf(content: unknown): string {
  return createHash('sha256')
    .update(canonicalText(content as JsonObject))
    .digest('hex');
}

async function writeOnce(file: string, text: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => null);
  if (before === text) return;
  if (before !== null) throw new SnapshotError(`${file} holds something else already; name another place with --out`);
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, text, { mode: 0o600 });
  await rename(partial, file);
}
