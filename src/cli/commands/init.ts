import { relative, resolve } from 'node:path';
import { initProject } from '../../init/init.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, print, printJson } from '../host.ts';

/** `trialbed init [DIR]`. */
export const addInit: AddCommand = (program, { host, action }) => {
  const command = program
    .command('init')
    .summary('make a small suite of your own that works')
    .description(
      'Write a small project that works: an environment of two tables and three tools, a suite with one case, and an agent in TypeScript. Overwrites nothing.',
    )
    .argument('[dir]', 'folder; made where missing', '.')
    .action(
      action(async (dir: string, flags: CommonFlags) => {
        const result = await initProject(resolve(host.cwd, dir));
        if (flags.json) {
          printJson(host, { type: 'init', ...result });
          return EXIT.ok;
        }
        for (const file of result.written) print(host, `wrote ${file}`);
        for (const file of result.kept) print(host, `kept  ${file}, which was there`);
        const near = relative(host.cwd, result.dir);
        print(host, '\nnext:');
        if (near !== '') print(host, `  cd ${plainText(near)}`);
        print(host, '  trialbed run ./suite\n  trialbed validate ./suite');
        return EXIT.ok;
      }),
    );
  common(command, ['init', 'init my-suite']);
};
