import { resolve } from 'node:path';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, note, print, printJson } from '../host.ts';
import { commaList } from '../options.ts';

/** `trialbed import workbench DIR`. */
export const addImport: AddCommand = (program, { host, action }) => {
  const importing = program
    .command('import')
    .summary('make a suite of a published benchmark')
    .description('Make a suite of a published benchmark. Its data is read where it lies.');
  const command = importing
    .command('workbench')
    .summary('WorkBench: e-mail, calendar, projects, customers')
    .description('Make a suite of the tasks of WorkBench. May be repeated: files that were edited since are left alone and reported.')
    .argument('<dir>', 'folder with the data of WorkBench')
    .requiredOption('--out <dir>', 'folder of the suite')
    .option('--domains <names>', 'domains whose tasks become cases, with commas between them', commaList, ['email', 'project_management'])
    .option('--force', 'replace files that were edited since they were imported')
    .action(
      action(async (dir: string, flags: CommonFlags & { readonly out: string; readonly domains: readonly string[]; readonly force?: true }) => {
        const { importWorkbench } = await import('../../suite/import-workbench.ts');
        const result = await importWorkbench({
          data: resolve(host.cwd, dir),
          out: resolve(host.cwd, flags.out),
          domains: flags.domains,
          force: flags.force === true,
        });
        if (flags.json) {
          printJson(host, { type: 'import', ...result });
          return EXIT.ok;
        }
        for (const file of result.kept) note(host, `left alone, since it was edited: ${file}`);
        print(
          host,
          plainText(
            `${result.cases} cases in ${result.suite}: ${result.written} files written, ${result.unchanged} unchanged, ${result.kept.length} left alone`,
          ),
        );
        return EXIT.ok;
      }),
    );
  common(command, ['import workbench ./workbench --domains email,project_management --out ./suites/workbench']);
};
