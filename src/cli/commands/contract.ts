import { resolve } from 'node:path';
import type { ContractReport } from '../../client/cassettes/contract.ts';
import { driftText, sidesText } from '../../contract/drift.ts';
import type { Json } from '../../domain/json.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, type Host, paintFor, print, printJson } from '../host.ts';
import { assignment, collect } from '../options.ts';

interface ContractFlags extends CommonFlags {
  readonly case?: readonly string[];
  readonly variant?: readonly string[];
  readonly cassetteDir?: string;
  readonly with?: { readonly [name: string]: Json };
  readonly sample?: string | true;
  readonly against?: string;
  readonly againstWith?: { readonly [name: string]: Json };
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
    .option('--sample [seed]', 'only one recorded call of each tool, drawn by this seed (default: 1), with what was changed before it')
    .option(
      '--against <environment>',
      'compare what the environment answers with what this one does, instead of the cassettes: the name of a built-in one, or a path',
    )
    .option('--against-with <name=value>', "option of the other side, over the suite's; alone: of the same environment (repeatable)", assignment)
    .action(
      action(async (suite: string, flags: ContractFlags) => {
        const request = {
          suite,
          ...(flags.case && { cases: flags.case }),
          ...(flags.variant && { variants: flags.variant }),
          ...(flags.cassetteDir !== undefined && { folder: resolve(host.cwd, flags.cassetteDir) }),
          ...(flags.with && { environmentOptions: flags.with }),
          ...(flags.sample !== undefined && { sample: flags.sample === true ? '1' : flags.sample }),
          ...((flags.against !== undefined || flags.againstWith) && {
            against: { ...(flags.against !== undefined && { use: place(host, flags.against) }), ...(flags.againstWith && { with: flags.againstWith }) },
          }),
        };
        const report = await withClient(host, flags, (client) => client.contract(request));
        const paint = paintFor(host.out);
        if (flags.json) printJson(host, report);
        else for (const line of contractLines(report)) print(host, line.startsWith('  ') ? line : paint('bold', line));
        if (!flags.json && report.drift.length > 0 && !report.against)
          print(host, `"${hintsFor(host, flags)(`record ${suite}/CASE`)}" records anew what is meant to be so`);
        return report.drift.length > 0 ? EXIT.gateNotMet : report.notPlayed.length > 0 ? EXIT.infrastructure : EXIT.ok;
      }),
    );
  common(command, [
    'contract ./my-suite',
    "contract ./my-suite --case 'refund-*' --with binding=sandbox",
    'contract ./my-suite --sample 2026-03-02',
    'contract ./my-suite --sample --against-with binding=live',
    'contract ./my-suite --against ./next/pack.ts',
  ]);
};

/** A path is taken from where the command was given; a name stays one. */
function place({ cwd }: Host, written: string): string {
  return /^[a-z][a-z0-9-]*$/.test(written) ? written : resolve(cwd, written);
}

function contractLines({ drift, notPlayed, cassettes, tools, sampled, against }: ContractReport): readonly string[] {
  const byTool = Map.groupBy(drift, ({ tool }) => tool);
  return [
    ...[...byTool].flatMap(([tool, found]) => [
      plainText(tool),
      ...found.map((one) => `  ${plainText(against ? sidesText(one) : driftText(one))} (${plainText(one.cassettes.join(', '))})`),
    ]),
    ...notPlayed.map(({ cassette, why }) => `  ${plainText(cassette)} could not be played: ${plainText(why)}`),
    ...(sampled
      ? [
          `  sampled by ${plainText(sampled.seed)}: ${plainText(sampled.calls.map(({ tool, cassette, interaction }) => `${tool} (${cassette}, ${interaction})`).join(', '))}`,
        ]
      : []),
    ...(against ? [`  against ${plainText(against.environment)}, generation ${against.generation.slice(0, 12)}`] : []),
    `${tools.length} tools of ${cassettes} cassettes compared, ${drift.length === 0 ? 'no drift' : `${drift.length} differences`}`,
  ];
}
