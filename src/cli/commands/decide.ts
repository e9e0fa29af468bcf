import { InvalidArgumentError } from 'commander';
import type { DecisionReceipt } from '../../client/api.ts';
import { thisUser } from '../../client/audited.ts';
import { approvalEndText } from '../../report/approval-words.ts';
import { plainText } from '../../report/plain-text.ts';
import { askedLines } from '../approval-lines.ts';
import { type AddCommand, common, type CommandContext, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Hint, hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, type Host, paintFor, print, printJson } from '../host.ts';

const ID = 'id of the request, or the beginning of it that only this one has';
const BY = 'who decides, for the record (default: your user name and this machine)';
const NOTE =
  'The decision holds for exactly what "trialbed approvals" shows: where anything of it has changed when the call is sent, the approval is void and nothing is done.';

/** `trialbed approve ID`. */
export const addApprove: AddCommand = (program, { host, action }) => {
  const command = program
    .command('approve')
    .summary('let a call through that waits for an approval')
    .description(
      'Approve a call that waits, and tell what became of it. Ends with 2 where the decision does not count: it came after another one, or too late.',
    )
    .argument('<id>', ID)
    .option('--reason <text>', 'why, for the record', reasonText)
    .option('--by <name>', BY, nameText)
    .action(action((id: string, flags: DecideFlags) => decided(host, true, id, flags)));
  common(command, ['approve ksu672m9bf-1f2a09c4b7d81e60.1.op-3', "approve ksu672m9bf --by 'petra (team lead)'"], NOTE);
};

/** `trialbed deny ID --reason TEXT`. */
export const addDeny: AddCommand = (program, { host, action }: CommandContext) => {
  const command = program
    .command('deny')
    .summary('refuse a call that waits for an approval')
    .description('Refuse a call that waits: it is not sent, and the agent is told the reason. Ends with 2 where the decision does not count.')
    .argument('<id>', ID)
    .requiredOption('--reason <text>', 'why; the agent is told, and it stands in the record', reasonText)
    .option('--by <name>', BY, nameText)
    .action(action((id: string, flags: DecideFlags) => decided(host, false, id, flags)));
  common(command, ["deny ksu672m9bf-1f2a09c4b7d81e60.1.op-3 --reason 'the parcel is not back yet'"], NOTE);
};

interface DecideFlags extends CommonFlags {
  readonly reason?: string;
  readonly by?: string;
}

async function decided(host: Host, approved: boolean, id: string, flags: DecideFlags): Promise<number> {
  const decision = { approved, by: flags.by ?? thisUser(), ...(flags.reason !== undefined && { reason: flags.reason }) };
  const receipt = await withClient(host, flags, (client) => client.decide(id, decision));
  if (flags.json) {
    printJson(host, { type: 'decision', ...receipt });
    return EXIT.ok;
  }
  for (const line of askedLines(receipt.asked, columnsOf(host.out), paintFor(host.out))) print(host, line);
  print(host, plainText(approvalEndText(receipt.end)));
  print(host, plainText(whatBecame(receipt, hintsFor(host, flags))));
  return EXIT.ok;
}

function whatBecame({ told, operation, asked }: DecisionReceipt, hint: Hint): string {
  if (told === null) return `${operation} is under way; "${hint(`show ${asked.trial}`)}" tells how it ended`;
  return `${operation}: ${told.state}${told.problem === null ? '' : `, ${told.problem.code}: ${told.problem.message}`}`;
}

function reasonText(value: string): string {
  if (value.trim() === '' || value.length > 500) throw new InvalidArgumentError('It must be a text of 1 to 500 characters.');
  return value;
}

function nameText(value: string): string {
  if (value.trim() === '' || value.length > 200) throw new InvalidArgumentError('It must be a text of 1 to 200 characters.');
  return value;
}
