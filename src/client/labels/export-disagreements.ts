import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Redactor } from '../../cassettes/redactor.ts';
import type { Json } from '../../domain/json.ts';
import { materialOf } from '../../judges/material.ts';
import type { LabelAgreement } from '../../judges/rater-agreement.ts';
import { type DisagreementExample, disagreementsMarkdown } from '../../report/raters/disagreements-markdown.ts';
import type { StoredRubric } from '../../domain/rubric.ts';
import type { Store } from '../../store/store.ts';

/** Files of disagreements that were written. */
export interface WrittenDisagreements {
  readonly examples: number;
  readonly files: readonly string[];
}

/** Examples of one export; what is beyond is counted only. */
const MOST_EXAMPLES = 2_000;

/**
 * Writes the trials that raters disagree on as examples: `FILE.jsonl` (a line for each, for programs), `FILE.md` (for people), or both as `disagreements.jsonl` and `disagreements.md` into a folder, which is made where missing. Secrets,
 * mail addresses, numbers of cards and accounts are replaced by placeholders; files can be read by their owner alone.
 */
export async function exportDisagreements(
  store: Pick<Store, 'trial' | 'record'>,
  agreement: LabelAgreement,
  { rubric }: StoredRubric,
  out: string,
): Promise<WrittenDisagreements> {
  const examples: DisagreementExample[] = [];
  for (const disagreement of agreement.disagreements.slice(0, MOST_EXAMPLES)) {
    const row = await store.trial(disagreement.trial);
    if (row === null) continue;
    const record = await store.record(row.id, row.attempt);
    const shown = record && materialOf(record, rubric.shows);
    examples.push({ ...redacted({ ...disagreement, shown }), trial: row.id, batch: row.batch, case: row.caseId });
  }
  const lines = () => examples.map((example) => `${JSON.stringify({ type: 'disagreement', ...headOf(agreement), ...example })}\n`).join('');
  const markdown = () => disagreementsMarkdown(agreement, rubric.question, examples);
  const files: readonly (readonly [string, () => string])[] = out.endsWith('.jsonl')
    ? [[out, lines]]
    : out.endsWith('.md')
      ? [[out, markdown]]
      : [
          [join(out, 'disagreements.jsonl'), lines],
          [join(out, 'disagreements.md'), markdown],
        ];
  for (const [file, text] of files) await replaceFile(file, text());
  return { examples: examples.length, files: files.map(([file]) => file) };
}

function headOf({ rubric, version, digest }: LabelAgreement) {
  return { rubric, version, digest };
}

/** By rules of its own for each example: the same value has the same placeholder within one. */
function redacted<T>(example: T): T {
  const redactor = new Redactor();
  const value = JSON.parse(JSON.stringify(example)) as Json;
  redactor.collect(value);
  return redactor.json(value) as T;
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
