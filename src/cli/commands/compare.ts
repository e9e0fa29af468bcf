import { resolve } from 'node:path';
import { type CompareRequest, writeComparison } from '../../client/compare.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { comparisonLines } from '../comparison-lines.ts';
import { EXIT, UsageError } from '../exit.ts';
import { columnsOf, type CommonFlags, note, paintFor, print, printJson } from '../host.ts';

interface CompareFlags extends CommonFlags {
  readonly agents?: readonly string[];
  readonly html?: string;
  readonly markdown?: string;
  readonly acrossGenerations?: true;
}

/** `trialbed compare A [B]`. */
export const addCompare: AddCommand = (program, { host, action }) => {
  const command = program
    .command('compare')
    .summary('compare two agents on the same trials')
    .description(
      'Say whether one agent is safer and more useful than another: paired differences over trials with the same case, fault schedule, repetition and generation of the environment, each with its interval; which trials came out otherwise, with both timelines; and what this comparison could not have shown. The first is the agent that is there, the second the candidate.',
    )
    .argument('<a>', 'batch of the agent that is there, as BATCH or BATCH:AGENT')
    .argument('[b]', 'batch of the candidate; without it, both are agents of the first')
    .option('--agents <names...>', 'agents of the two, where their batches have several; one name for both batches')
    .option('--html <file>', 'write a page, with both timelines of changed trials side by side')
    .option('--markdown <file>', 'write it short enough for a comment on a pull request')
    .option('--across-generations', 'compare trials of other generations of the environment too, and say so')
    .action(
      action(async (a: string, b: string | undefined, flags: CompareFlags) => {
        const request = requestOf(a, b, flags);
        const files = {
          ...(flags.html !== undefined && { html: resolve(host.cwd, flags.html) }),
          ...(flags.markdown !== undefined && { markdown: resolve(host.cwd, flags.markdown) }),
        };
        const comparison = await withClient(host, flags, (client) => client.compare(request), { temporal: 'optional' });
        await writeComparison(comparison, files);
        if (flags.json) printJson(host, { type: 'comparison', version: 1, ...comparison });
        else for (const line of comparisonLines(comparison, columnsOf(host.out), paintFor(host.out))) print(host, line);
        for (const file of Object.values(files)) note(host, `written: ${plainText(file)}`);
        return EXIT.ok;
      }),
    );
  common(command, [
    'compare ksu672m9bf m3xq81tznw',
    'compare ksu672m9bf --agents hasty careful --html comparison.html',
    'compare ksu672m9bf:hasty m3xq81tznw:careful --json | jq .safer.answer',
  ]);
};

function requestOf(a: string, b: string | undefined, { agents = [], acrossGenerations }: CompareFlags): CompareRequest {
  const [first, second] = [sideOf(a), sideOf(b ?? a)];
  if (agents.length > 2) throw new UsageError('--agents takes two names: the agent that is there and the candidate');
  if (agents.length > 0 && (first.agent !== undefined || second.agent !== undefined))
    throw new UsageError('name the agents either in BATCH:AGENT or in --agents');
  if (agents.length === 1 && b === undefined) throw new UsageError('--agents needs two names where both are agents of one batch');
  if (b === undefined && first.agent !== undefined) throw new UsageError(`name the other agent too, as in ${first.batch}:${first.agent} ${first.batch}:OTHER`);
  const named = (side: CompareRequest['a'], name: string | undefined): CompareRequest['a'] => (name === undefined ? side : { ...side, agent: name });
  return { a: named(first, agents[0]), b: named(second, agents[1] ?? agents[0]), ...(acrossGenerations && { acrossGenerations }) };
}

/** Ids of batches have no colon. */
export function sideOf(text: string): CompareRequest['a'] {
  const at = text.indexOf(':');
  if (at < 0) return { batch: text };
  const [batch, agent] = [text.slice(0, at), text.slice(at + 1)];
  if (batch === '' || agent === '') throw new UsageError(`${JSON.stringify(text)} is neither BATCH nor BATCH:AGENT`);
  return { batch, agent };
}
