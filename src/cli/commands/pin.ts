import { relative } from 'node:path';
import type { PinReport } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, type Host, paintFor, print, printJson } from '../host.ts';

/** `trialbed pin SUITE`. */
export const addPin: AddCommand = (program, { host, action }) => {
  const command = program
    .command('pin')
    .summary("write down what an environment's tool server says of its tools")
    .description(
      "Start the tool server of a suite's environment in a world of its own, ask it for its tools, and write their schemas to the file that the environment names " +
        '(toolServer.pinned). They are part of the generation from then on: a server that says another thing is refused before a batch begins.',
    )
    .argument('<suite>', 'path of a suite folder')
    .action(
      action(async (suite: string, flags: CommonFlags) => {
        const report = await withClient(host, flags, (client) => client.pin(suite));
        if (flags.json) printJson(host, report);
        else for (const line of pinLines(report, host)) print(host, line);
        return report.problems.length === 0 ? EXIT.ok : EXIT.usage;
      }),
    );
  common(command, ['pin ./suite']);
};

function pinLines({ file, tools, changes, problems }: PinReport, { cwd, out }: Host): string[] {
  const paint = paintFor(out);
  const near = relative(cwd, file);
  return [
    plainText(`wrote ${near.startsWith('..') ? file : near}: ${tools.length} tools (${tools.join(', ')})`),
    ...changes.map((change) => plainText(`  changed: ${change}`)),
    ...problems.map((problem) => `${paint('yellow', 'to do')} ${plainText(problem)}`),
  ];
}
