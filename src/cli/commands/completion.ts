import { Argument } from 'commander';
import type { AddCommand } from '../command.ts';
import { completionScript, describeProgram, SHELLS, type Shell } from '../completion.ts';
import { EXIT } from '../exit.ts';

/** `trialbed completion SHELL`. */
export const addCompletion: AddCommand = (program, { host, action }) => {
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Print a script that completes commands, options and their values in a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  $ source <(trialbed completion bash)                                       # in ~/.bashrc\n  $ trialbed completion zsh > "${fpath[1]}/_trialbed"\n  $ trialbed completion fish > ~/.config/fish/completions/trialbed.fish',
    )
    .action(
      action(async (shell: Shell) => {
        host.out.write(completionScript(shell, describeProgram(program)));
        return EXIT.ok;
      }),
    );
};
