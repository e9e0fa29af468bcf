import { relative } from 'node:path';
import type { ValidationReport, ValidationResult } from '../../client/api.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { columnsOf, type CommonFlags, type Host, type Paint, paintFor, print, printJson } from '../host.ts';
import { labelCounts, labelText } from '../label-lines.ts';
import { collect, positiveInteger } from '../options.ts';
import { Progress } from '../progress.ts';
import { textTable } from '../table.ts';
import { plainText } from '../../report/plain-text.ts';

/** `trialbed validate SUITE`. */
export const addValidate: AddCommand = (program, { host, action }) => {
  const command = program
    .command('validate')
    .summary('test the cases of a suite before they test an agent')
    .description(
      'Run, as real trials, the reference solution of each case (must pass), an agent that does nothing (must fail, unless the case expects nothing), ' +
        'and mutants of the solution (each must fail). A mutant that passes is a hole in the case and is printed with the line to mend. ' +
        'Fault schedules are checked as well; a rule that no reference solution meets is a warning.',
    )
    .argument('<suite>', 'name of a built-in suite, or path of a suite folder')
    .option('--case <glob>', 'only cases whose id matches (repeatable)', collect)
    .option('--concurrency <n>', 'trials in flight', positiveInteger)
    .option('--no-mutants', 'only the reference and the agent that does nothing')
    .action(
      action(async (suite: string, flags: ValidateFlags) => {
        await host.checks.validation(suite, flags.case ? { cases: flags.case } : {});
        const progress = new Progress(host, 'trials');
        const report = await withClient(host, flags, (client) =>
          client.validate(suite, {
            mutants: flags.mutants,
            onProgress: (done, of) => progress.show(done, of),
            ...(flags.case && { cases: flags.case }),
            ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
          }),
        ).finally(() => progress.end());
        if (flags.json) {
          for (const result of report.results) printJson(host, { type: 'validation', ...result });
          const { results: _, ...totals } = report;
          printJson(host, { type: 'summary', ...totals });
        } else {
          for (const line of validationLines(report, host, paintFor(host.out))) print(host, line);
        }
        if (report.results.some((result) => result.verdict === 'infra_error')) return EXIT.infrastructure;
        return report.ok ? EXIT.ok : EXIT.gateNotMet;
      }),
    );
  common(command, ['validate support-desk', "validate ./my-suite --case 'refund-*'", 'validate ./my-suite --no-mutants']);
};

/** A validation for people: per case what is not as it must be, with the line to mend, then the counts. */
function validationLines(report: ValidationReport, { cwd, out }: Host, paint: Paint): string[] {
  const columns = columnsOf(out);
  const lines: string[] = [];
  for (const [id, results] of Map.groupBy(report.results, (result) => result.case)) {
    const mutants = results.filter(isMutant);
    const killed = mutants.filter((m) => m.verdict === 'fail').length;
    const bad = results.filter((result) => !result.ok);
    const own = report.labels.find((one) => one.case === id);
    const labels = own === undefined ? '' : paint('dim', `  ${plainText(labelText(own))}`);
    const head = `${plainText(id)}${mutants.length > 0 ? `: ${killed} of ${mutants.length} mutants killed` : ''}${labels}`;
    lines.push(bad.length === 0 ? `${paint('green', 'ok')}    ${head}` : `${paint('red', 'fails')} ${head}`);
    for (const result of bad) lines.push(...problemLines(result, cwd));
    for (const result of mutants.filter((m) => m.ok && m.explained !== null))
      lines.push(paint('dim', plainText(`        ${result.variant} passes, explained: ${result.explained}`)));
  }
  const casesText = `${report.cases === 1 ? '1 case' : `${report.cases} cases`} (${labelCounts(report.labels)})`;
  if (report.mutants > 0) {
    lines.push('', ...kindLines(report.kinds, columns), '');
    lines.push(
      `${casesText}, ${report.mutants} mutants: ${report.killed} killed, ${report.explained} explained, ${report.survived} survived; kill rate ${(report.killRate * 100).toFixed(1)} %`,
    );
  } else {
    lines.push('', casesText);
  }
  for (const { name, version, categories } of report.rubrics ?? []) lines.push(plainText(`rubric ${name} ${version}: ${categories.join(', ')}`));
  for (const warning of report.warnings)
    lines.push(`${paint('yellow', 'warns')} ${plainText(`${placeOf(warning.file, warning.line, cwd)} ${warning.message}`)}`);
  lines.push(report.ok ? paint('green', 'the suite is valid') : paint('red', 'the suite is not valid'));
  return lines;
}

/** A line for each kind of mutant; the last column is what an end state alone would not have shown. */
function kindLines(kinds: ValidationReport['kinds'], columns: number): string[] {
  const rows = kinds.map(({ kind, made, killed, explained, survived, sameEnd }) => {
    const found = Object.entries(sameEnd.findings).map(([code, count]) => `${count} ${code}`);
    const same = sameEnd.made === 0 ? '' : `${sameEnd.made}${found.length > 0 ? ` (${found.join(', ')})` : ''}`;
    return [kind, ...[made, killed, explained, survived].map(String), same].map((cell) => plainText(cell));
  });
  return textTable(['mutant', 'made', 'killed', 'explained', 'survived', 'in the accepted end state'], rows, { columns });
}

interface ValidateFlags extends CommonFlags {
  readonly case?: readonly string[];
  readonly concurrency?: number;
  readonly mutants: boolean;
}

function isMutant(result: ValidationResult): boolean {
  return result.variant !== 'reference' && result.variant !== 'do-nothing';
}

function problemLines(result: ValidationResult, cwd: string): string[] {
  const place = placeOf(result.file, result.line, cwd);
  const what = isMutant(result) && result.verdict === 'pass' ? `mutant ${result.variant} survives` : `${result.variant} ends ${result.verdict}`;
  return [`  ${place}`, `        ${what}: ${result.description}`, ...(result.why === null ? [] : [`        ${result.why}`])].map((line) => plainText(line));
}

function placeOf(file: string, line: number | null, cwd: string): string {
  const near = relative(cwd, file);
  return `${near === '' || near.startsWith('..') ? file : near}:${line ?? 1}`;
}
