import { relative, resolve } from 'node:path';
import type { DraftedCase, ImportTracesReport } from '../../client/import-traces.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type CommonFlags, type Host, type Paint, paintFor, print, printJson } from '../host.ts';
import { collect } from '../options.ts';

interface TracesFlags extends CommonFlags {
  readonly suite: string;
  readonly tool?: readonly string[];
  readonly dryRun?: true;
}

/** `trialbed import traces FILE`. */
export const addImportTraces: AddCommand = (importing, { host, action }) => {
  const command = importing
    .command('traces')
    .summary('drafts of cases and cassettes from what production traced')
    .description(
      'Draft a case, and a cassette of what its tools answered, of each conversation in production traces: exports of OpenTelemetry (OTLP JSON) with spans of its GenAI conventions, or chat messages as ' +
        'JSON lines. Secrets, mail addresses and what the suite names are replaced, in both files by the same placeholders. What a trace cannot tell (the initial state, which changes were right) is left as ' +
        'questions, on which "trialbed validate" insists. Files that are there are left alone.',
    )
    .argument('<files...>', 'files of OTLP JSON (whole, or a line at a time) or of chat messages')
    .requiredOption('--suite <dir>', 'folder of the suite that gets the drafts')
    .option('--tool <traced=name>', 'a tool that has another name in the environment (repeatable)', collect)
    .option('--dry-run', 'show what would be drafted, and write nothing')
    .action(
      action(async (files: readonly string[], flags: TracesFlags) => {
        const { importTraces } = await import('../../client/import-traces.ts');
        const report = await importTraces({
          files: files.map((file) => resolve(host.cwd, file)),
          suite: flags.suite,
          tools: toolsOf(flags.tool ?? []),
          dryRun: flags.dryRun === true,
        });
        if (flags.json) printJson(host, report);
        else for (const line of draftLines(report, host, flags.suite, paintFor(host.out))) print(host, line);
        return report.drafts.some(({ state }) => state === 'not_drafted') ? EXIT.gateNotMet : EXIT.ok;
      }),
    );
  common(command, ['import traces ./spans.jsonl --suite ./my-suite --dry-run', 'import traces ./chats.jsonl --suite ./my-suite --tool lookup_order=get_order']);
};

/** @throws {UsageError} */
function toolsOf(written: readonly string[]): { readonly [traced: string]: string } {
  return Object.fromEntries(
    written.map((one) => {
      const [, traced, name] = /^([^=]+)=([^=]+)$/.exec(one) ?? [];
      if (traced === undefined || name === undefined)
        throw new UsageError(`"${one}" names no two tools; expected --tool TRACED=NAME, such as --tool lookup_order=get_order`);
      return [traced, name];
    }),
  );
}

/** What was drafted, for people. */
function draftLines({ drafts, dryRun }: ImportTracesReport, host: Host, suite: string, paint: Paint): readonly string[] {
  const count = (state: DraftedCase['state']) => drafts.filter((one) => one.state === state).length;
  const counts = [
    `${count('drafted')} ${dryRun ? 'would be drafted' : 'drafted'}`,
    `${count('kept')} left alone`,
    ...(count('not_drafted') > 0 ? [`${count('not_drafted')} not drafted`] : []),
  ];
  return [
    ...drafts.flatMap((draft) => linesOf(draft, host, dryRun, paint)),
    '',
    `${counts.join(', ')}${dryRun ? '; nothing was written' : ''}`,
    ...(count('drafted') > 0 && !dryRun ? [plainText(`next: trialbed validate ${JSON.stringify(suite)} tells what is left to answer`)] : []),
  ];
}

function linesOf(draft: DraftedCase, { cwd }: Host, dryRun: boolean, paint: Paint): readonly string[] {
  const name = plainText(`${draft.case} (${draft.of})`);
  if (draft.state !== 'drafted')
    return [`${draft.state === 'kept' ? paint('dim', 'left alone') : paint('red', 'not drafted')} ${name}: ${plainText(draft.why ?? '')}`];
  const hidden = Object.entries(draft.hidden).map(([kind, many]) => `${many} ${plainText(kind)}`);
  const files = [draft.file, draft.cassette].map((file) => plainText(relative(cwd, file))).join(', ');
  return [
    `${paint('green', dryRun ? 'would draft' : 'drafted')} ${name}: ${draft.turns} turns, ${draft.calls} calls, ${draft.interactions} of them on the cassette, ${draft.questions.length} questions; ${files}`,
    ...(hidden.length > 0 ? [`  hidden: ${hidden.join(', ')}`] : []),
    ...draft.left.map((line) => `  left out: ${plainText(line)}`),
  ];
}
