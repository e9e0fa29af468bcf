import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { makeFolder } from '../../infra/make-folder.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, print, printJson } from '../host.ts';

/** `trialbed schema`. */
export const addSchema: AddCommand = (program, { host, action }) => {
  const command = program
    .command('schema')
    .summary('JSON Schemas of suite, case, agent, fault, route and rubric files')
    .description(
      'Print the JSON Schemas of suite, case, agent, fault, route and rubric files, or write one file for each into a folder, for completion and checks in editors.',
    )
    .option('--out <dir>', 'folder for NAME.schema.json; made where missing')
    .action(
      action(async (flags: CommonFlags & { readonly out?: string }) => {
        const { schemas } = await import('../../suite/json-schema.ts');
        const all = Object.entries(schemas());
        if (flags.out === undefined) {
          if (flags.json) printJson(host, Object.fromEntries(all));
          else print(host, JSON.stringify(Object.fromEntries(all), null, 2));
          return EXIT.ok;
        }
        const dir = resolve(host.cwd, flags.out);
        await makeFolder(dir);
        const files = all.map(([name]) => join(dir, `${name}.schema.json`));
        await Promise.all(all.map(([, schema], n) => writeFile(files[n] ?? '', `${JSON.stringify(schema, null, 2)}\n`)));
        if (flags.json) printJson(host, { type: 'schema', files });
        else for (const file of files) print(host, plainText(`wrote ${relative(host.cwd, file)}`));
        return EXIT.ok;
      }),
    );
  common(
    command,
    ['schema --out schemas', 'schema | jq .case'],
    'An editor with the YAML language server reads a first line such as\n  # yaml-language-server: $schema=../schemas/case.schema.json',
  );
};
