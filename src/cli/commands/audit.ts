import type { AuditEntry } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, note, type Paint, paintFor, print, printJson } from '../host.ts';
import { positiveInteger } from '../options.ts';

/** `trialbed audit [ID]`. */
export const addAudit: AddCommand = (program, { host, action }) => {
  const command = program
    .command('audit')
    .summary('list what was asked of batches and trials, and by whom')
    .description(
      'List what people asked of batches, trials, approvals and stored data, in the console, on the command line or by the library, the newest first: who, when, what became of it, and why it was refused.',
    )
    .argument('[id]', 'only what was asked of this batch, trial or request')
    .option('--limit <n>', 'lines at most (default: 100)', positiveInteger)
    .action(
      action(async (target: string | undefined, flags: CommonFlags & { readonly limit?: number }) => {
        const filter = { ...(target !== undefined && { target }), ...(flags.limit !== undefined && { limit: flags.limit }) };
        const entries = await withClient(host, flags, (client) => client.audit(filter));
        if (flags.json) for (const entry of entries) printJson(host, { type: 'audit', ...entry });
        else if (entries.length === 0) note(host, 'nothing was asked yet');
        else for (const entry of entries) print(host, auditLine(entry, paintFor(host.out)));
        return EXIT.ok;
      }),
    );
  common(command, ['audit', 'audit ksu672m9bf', 'audit --json | jq \'select(.outcome == "refused")\'']);
};

/** Safe to print. */
function auditLine({ at, by, via, roles, action, target, detail, outcome, problem }: AuditEntry, paint: Paint): string {
  const who = roles === null ? `${by} (${via})` : `${by} (${via}, ${roles.join(' and ')})`;
  const why = [detail, problem].filter((part) => part !== null).map((part) => `: ${part}`);
  const colour = outcome === 'done' ? 'green' : outcome === 'refused' ? 'yellow' : 'red';
  return `${plainText(at)}  ${paint(colour, outcome.padEnd(7))}  ${plainText(`${action} ${target} by ${who}${why.join('')}`)}`;
}
