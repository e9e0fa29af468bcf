import { dirname, resolve } from 'node:path';
import { Option } from 'commander';
import { plainText } from '../../report/plain-text.ts';
import { addImportTraces } from './import-traces.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, type Host, note, print, printJson } from '../host.ts';
import { commaList } from '../options.ts';

/** `trialbed import workbench DIR`, `trialbed import tau-bench DIR` and `trialbed import traces FILE`. */
export const addImport: AddCommand = (program, context) => {
  const { host, action } = context;
  const importing = program
    .command('import')
    .summary('make a suite of a published benchmark, or drafts of cases from traces')
    .description('Make a suite of a published benchmark, whose data is read where it lies, or drafts of cases from traces of production.');
  const workbench = importing
    .command('workbench')
    .summary('WorkBench: e-mail, calendar, projects, customers')
    .description('Make a suite of the tasks of WorkBench. May be repeated: files that were edited since are left alone and reported.')
    .argument('<dir>', 'folder with the data of WorkBench')
    .requiredOption('--out <dir>', 'folder of the suite')
    .option('--domains <names>', 'domains whose tasks become cases, with commas between them (default: all)', commaList)
    .option('--force', 'replace files that were edited since they were imported')
    .action(
      action(async (dir: string, flags: CommonFlags & { readonly out: string; readonly domains?: readonly string[]; readonly force?: true }) => {
        const startedAt = performance.now();
        const { importWorkbench } = await import('../../suite/import-workbench.ts');
        const result = await importWorkbench({
          data: resolve(host.cwd, dir),
          out: resolve(host.cwd, flags.out),
          ...(flags.domains && { domains: flags.domains }),
          force: flags.force === true,
        });
        return tell(host, flags, result, performance.now() - startedAt);
      }),
    );
  common(workbench, [
    'import workbench ./workbench --out ./suites/workbench',
    'import workbench ./workbench --domains email,project_management --out ./suites/office',
  ]);

  const tauBench = importing
    .command('tau-bench')
    .summary('tau-bench: the retail shop')
    .description('Make a suite of the retail tasks of tau-bench. May be repeated: files that were edited since are left alone and reported.')
    .argument('<dir>', 'folder with the data of the retail shop')
    .requiredOption('--out <dir>', 'folder of the suite')
    .addOption(new Option('--split <name>', 'which tasks become cases').choices(['test', 'dev']).default('test'))
    .addOption(
      new Option('--user <kind>', 'how the customer speaks: all at once, as a script that answers, or as a model')
        .choices(['request', 'script', 'model'])
        .default('request'),
    )
    .option('--route <file>', 'route to the model that speaks as the customer, for --user model')
    .option('--force', 'replace files that were edited since they were imported')
    .action(
      action(async (dir: string, flags: TauBenchFlags) => {
        const startedAt = performance.now();
        const { importTauBench } = await import('../../suite/import-tau-bench.ts');
        const result = await importTauBench({
          data: resolve(host.cwd, dir),
          out: resolve(host.cwd, flags.out),
          split: flags.split,
          user: flags.user,
          ...(flags.route !== undefined && { route: resolve(host.cwd, flags.route) }),
          force: flags.force === true,
        });
        return tell(host, flags, result, performance.now() - startedAt);
      }),
    );
  common(tauBench, [
    'import tau-bench ./tau-bench-retail --out ./suites/retail',
    'import tau-bench ./tau-bench-retail --out ./suites/retail-talk --user script',
  ]);
  addImportTraces(importing, context);
};

interface TauBenchFlags extends CommonFlags {
  readonly out: string;
  readonly split: 'test' | 'dev';
  readonly user: 'request' | 'script' | 'model';
  readonly route?: string;
  readonly force?: true;
}

interface Imported {
  readonly suite: string;
  readonly cases: number;
  readonly written: number;
  readonly unchanged: number;
  readonly kept: readonly string[];
}

/** An import grades nothing: of the totals that commands about benchmarks have, it knows the number of cases. */
function tell(host: Host, flags: CommonFlags, result: Imported, ms: number): number {
  if (flags.json) {
    const totals = { n: result.cases, correct: null, side_effects: null, exact: null, stricter: null, disagreements: null };
    printJson(host, { type: 'import', ...result, totals, seconds: Math.round(ms) / 1000 });
    return EXIT.ok;
  }
  for (const file of result.kept) note(host, `left alone, since it was edited: ${file}`);
  print(
    host,
    plainText(`${result.cases} cases in ${result.suite}: ${result.written} files written, ${result.unchanged} unchanged, ${result.kept.length} left alone`),
  );
  print(host, plainText(`next: trialbed run ${JSON.stringify(dirname(result.suite))} --agent reference`));
  return EXIT.ok;
}
