import type { AgreementEntry, AgreementReport, AgreementTotals, OursByReference } from './agreement.ts';
import { pad, plainText, shorten } from './plain-text.ts';

/** More entries than a person reads are counted; `--json` has them all. */
const MOST_ENTRIES = 20;

/** The report for people: verdicts by model, tool set and domain, ours against the reference's, every disagreement with its reason. */
export function agreementLines(report: AgreementReport, columns: number): string[] {
  const { totals, parts, table, calls } = report;
  const published = Object.values(parts).reduce((sum, part) => sum + part.published, 0);
  const agree = Object.values(parts).reduce((sum, part) => sum + part.agree, 0);
  return [
    ...groupLines(report, columns),
    '',
    `calls: ${calls.made} made, ${calls.committed} committed, ${calls.failed} failed, ${calls.unreadable} unreadable, ${calls.unknownTool} of unknown tools, ${calls.invalidArguments} with invalid arguments`,
    '',
    published === 0
      ? 'the file has no verdicts to compare with'
      : `by the reference's rules: ${agree} of ${published} verdicts agree (correct ${share(parts.correct)}, side effects ${share(parts.sideEffects)}, exact ${share(parts.exact)})`,
    '',
    ...tableLines(table),
    ...entryLines('reference passes, ours fails exactly-once', report.stricter, columns, kindsText(report.stricterKinds)),
    ...entryLines('disagreements', report.disagreements, columns, ''),
    '',
    `${totals.n} runs: ${totals.correct} correct, ${totals.side_effects} with unwanted side effects, ${totals.exact} exact; ${totals.stricter} only the product fails; ${totals.disagreements} disagreements`,
  ].map((line) => line.trimEnd());
}

function groupLines(report: AgreementReport, columns: number): string[] {
  // By model, each with the sum of its domains below it; where there is one domain, that says it all.
  const listed = report.models.flatMap((model) => {
    const domains = report.groups.filter((group) => group.model === model.model && group.tools === model.tools);
    return domains.length > 1 ? [...domains, model] : domains;
  });
  const rows = listed.map((group) => [group.model, group.tools, group.domain, ...counts(group), String(group.errors)].map((cell) => plainText(cell)));
  const errors = report.groups.reduce((sum, group) => sum + group.errors, 0);
  const head = ['model', 'tools', 'domain', 'n', 'correct', 'side effects', 'exact', 'stricter', 'disagree', 'errors'];
  return aligned([head, ...rows, ['all', '', '', ...counts(report.totals), String(errors)]], 3, columns);
}

function counts(totals: AgreementTotals): string[] {
  return [totals.n, totals.correct, totals.side_effects, totals.exact, totals.stricter, totals.disagreements].map(String);
}

function tableLines(table: OursByReference): string[] {
  return aligned(
    [
      ['ours x reference', 'reference correct', 'reference incorrect'],
      ['ours pass', String(table.bothPass), String(table.oursOnly)],
      ['ours fail', String(table.stricter + table.referenceOnly), String(table.bothFail)],
      ['  of these exactly-once', String(table.stricter), ''],
    ],
    1,
    200,
  );
}

function entryLines(title: string, entries: readonly AgreementEntry[], columns: number, note: string): string[] {
  if (entries.length === 0) return ['', `${title}: none`];
  const told = entries.slice(0, MOST_ENTRIES).map((entry) => {
    const where = `line ${entry.line}, ${entry.model}/${entry.tools}, ${entry.task}`;
    const what = entry.about === 'product' ? '' : `${entry.about}: ours ${entry.ours}, reference ${entry.reference}. `;
    return shorten(plainText(`  ${where}: ${what}${entry.why}`), columns);
  });
  const more = entries.length - told.length;
  return ['', `${title}: ${entries.length}${note}`, ...told, ...(more > 0 ? [`  and ${more} more; --json lists all`] : [])];
}

function kindsText(kinds: AgreementReport['stricterKinds']): string {
  return ` (${Object.entries(kinds)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')})`;
}

function share(part: { readonly published: number; readonly agree: number }): string {
  return part.published === 0 ? 'not published' : `${part.agree} of ${part.published}`;
}

/** Columns two spaces apart, numbers to the right from column `numbers` on. */
function aligned(rows: readonly (readonly string[])[], numbers: number, columns: number): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) => shorten(row.map((cell, at) => (at < numbers ? pad(cell, widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '), columns));
}
