import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportData } from './data.ts';
import { reportMarkdown } from './report-markdown.ts';

/** Files of a written report, by absolute or given path. */
export interface WrittenReport {
  readonly markdown: string;
  readonly json: string;
}

/**
 * Writes `report.md` (for people, short enough for a comment on a pull request) and `report.json` (everything, for programs) into a folder,
 * which is made where missing. A reader never sees half a file: each is written beside its place and renamed.
 */
export async function writeReport(dir: string, data: ReportData): Promise<WrittenReport> {
  await mkdir(dir, { recursive: true });
  const markdown = join(dir, 'report.md');
  const json = join(dir, 'report.json');
  await replaceFile(markdown, reportMarkdown(data));
  await replaceFile(json, `${JSON.stringify({ type: 'report', version: 1, ...data }, null, 2)}\n`);
  return { markdown, json };
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text);
  await rename(draft, path);
}
