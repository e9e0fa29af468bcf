import { resolve } from 'node:path';
import type { ContractReport } from '../../client/cassettes/contract.ts';
import { driftText } from '../../contract/drift.ts';
import type { Json } from '../../domain/json.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, paintFor, print, printJson } from '../host.ts';
import { assignment, collect } from '../options.ts';

interface ContractFlags extends CommonFlags {
  readonly case?: readonly string[];
  readonly variant?: readonly string[];
  readonly cassetteDir?: string;
  readonly with?: { readonly [name: string]: Json };
}

/** `trialbed contract SUITE`. */
export const addContract: AddCommand = (program, { host, action }) => {
  const command = program
    .command('contract')
    .summary('hold cassettes against what the tools take and answer today')
    .description(
      'Make the recorded calls of cassettes again, each in a world of its case, and compare shapes: what each tool takes (parameters, required ones, types, enumerations), and what it answers (types, ' +
        'keys, optional ones by evidence, enumerations). Values do not count. Each difference names its field with both shapes; without one nothing but the count is told.',
    )
    .argument('<suite>', 'name of a built-in suite, or path of a suite folder')
    .option('--case <glob>', 'only cases whose id matches (repeatable)', collect)
    .option('--variant <glob>', 'only cassettes whose name matches (repeatable)', collect)
    .option('--cassette-dir <dir>', 'folder of the cassettes (default: cassettes in the folder of the suite)')
    .option('--with <name=value>', "option of the environment, over the suite's (repeatable; the value is JSON or text)", assignment)
    .action(
      action(async (suite: string, flags: ContractFlags) => {
        const request = {
          suite,
          ...(flags.case && { cases: flags.case }),
          ...(flags.variant && { variants: flags.variant }),
          ...(flags.cassetteDir !== undefined && { folder: resolve(host.cwd, flags.cassetteDir) }),
          ...(flags.with && { environmentOptions: flags.with }),
        };
        const report = await withClient(host, flags, (client) => client.contract(request));
        const paint = paintFor(host.out);
        if (flags.json) printJson(host, report);
        else for (const line of contractLines(report)) print(host, line.startsWith('  ') ? line : paint('bold', line));
        if (!flags.json && report.drift.length > 0) print(host, `"${hintsFor(host, flags)(`record ${suite}/CASE`)}" records anew what is meant to be so`);
        return report.drift.length > 0 ? EXIT.gateNotMet : report.notPlayed.length > 0 ? EXIT.infrastructure : EXIT.ok;
      }),
    );
  common(command, ['contract ./my-suite', "contract ./my-suite --case 'refund-*' --with binding=sandbox"]);
};

function contractLines({ drift, notPlayed, cassettes, tools }: ContractReport): readonly string[] {
  const byTool = Map.groupBy(drift, ({ tool }) => tool);
  return [
    ...[...byTool].flatMap(([tool, found]) => [
      plainText(tool),
      ...found.map((one) => `  ${plainText(driftText(one))} (${plainText(one.cassettes.join(', '))})`),
    ]),
    ...notPlayed.map(({ cassette, why }) => `  ${plainText(cassette)} could not be played: ${plainText(why)}`),
    `${tools.length} tools of ${cassettes} cassettes compared, ${drift.length === 0 ? 'no drift' : `${drift.length} differences`}`,
  ];
}
