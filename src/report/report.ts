import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reportCsv } from './csv.ts';
import type { ReportData } from './data.ts';
import { reportJson } from './json.ts';
import { reportJunit } from './junit.ts';
import { reportMarkdown } from './report-markdown.ts';

/** Formats of a report, by the name with which `--format` asks for them. */
export const REPORT_FORMATS = ['md', 'html', 'json', 'junit', 'csv'] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Files of a written report, by absolute or given path: those that were asked for. */
export interface WrittenReport {
  readonly markdown?: string;
  readonly html?: string;
  readonly json?: string;
  readonly junit?: string;
  readonly csv?: string;
}

/**
 * Writes `report.md` (for people, short enough for a comment on a pull request), `report.html` (for people, with charts and all trials), `report.json` (everything, for programs), `junit.xml` (for a build server) and `trials.csv` (a row for each trial) into a folder, which is
 * made where missing. A reader never sees half a file: each is written beside its place and renamed.
 */
export async function writeReport(dir: string, data: ReportData, formats: readonly ReportFormat[] = REPORT_FORMATS): Promise<WrittenReport> {
  await mkdir(dir, { recursive: true });
  const written = new Map<keyof WrittenReport, string>();
  for (const format of new Set(formats)) {
    const { name, file, text } = WRITERS[format];
    const path = join(dir, file);
    await replaceFile(path, await text(data));
    written.set(name, path);
  }
  return Object.fromEntries(written);
}

interface Writer {
  readonly name: keyof WrittenReport;
  readonly file: string;
  readonly text: (data: ReportData) => string | Promise<string>;
}

const WRITERS: { readonly [format in ReportFormat]: Writer } = {
  md: { name: 'markdown', file: 'report.md', text: reportMarkdown },
  // What draws charts takes half a second to load.
  html: { name: 'html', file: 'report.html', text: async (data) => (await import('./html/report-page.tsx')).reportHtml(data) },
  json: { name: 'json', file: 'report.json', text: reportJson },
  junit: { name: 'junit', file: 'junit.xml', text: reportJunit },
  csv: { name: 'csv', file: 'trials.csv', text: reportCsv },
};

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text);
  await rename(draft, path);
}
