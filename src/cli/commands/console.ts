import { InvalidArgumentError, type Command } from 'commander';
import type { ListedToken, Trialbed } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { CONSOLE_ROLES, type ConsoleRole } from '../../store/console-keys.ts';
import { type AddCommand, common, type CommandContext, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, type Host, note, print, printJson } from '../host.ts';
import { Interruption } from '../interruption.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { positiveInteger } from '../options.ts';
import { settingsOf } from '../host.ts';
import { textTable } from '../table.ts';

/** `trialbed console`, and `console token add|list|revoke`. */
export const addConsole: AddCommand = (program, context) => {
  const { host, action } = context;
  const command = program
    .command('console')
    .summary('serve the web page for operators and approvers')
    .description(
      'Serve the console: batches and trials live, one trial with all that it did, approvals to decide. Prints its address and a link that signs you in once. Where one is served for this home on this machine already, prints a link to that and ends; else serves it until Ctrl-C.',
    )
    .option('--port <n>', 'port (default: a free one)', port)
    .option('--listen <address>', 'address to listen on (default: 127.0.0.1, this machine alone; others need --url)')
    .option('--url <address>', 'address as browsers have it, where a proxy with HTTPS is before it')
    .option('--temporal-ui <url>', "address of Temporal's own web interface, for links (default: that of the server that trialbed started)")
    .option('--role <role>', 'what the link permits, may be given several times (default: everything)', roles)
    .option('--open', 'open the link in the browser')
    .action(action((flags: ConsoleFlags) => serve(host, flags)));
  common(command, [
    'console',
    'console --port 7420 --open',
    'console --role viewer',
    'console --role labeller',
    "console token add --name 'Petra' --role approver",
  ]);
  // What stands after a command below it is that command's.
  addTokens(command.enablePositionalOptions(), context);
};

interface ConsoleFlags extends CommonFlags {
  readonly port?: number;
  readonly listen?: string;
  readonly url?: string;
  readonly temporalUi?: string;
  readonly role?: readonly ConsoleRole[];
  readonly open?: true;
}

async function serve(host: Host, flags: ConsoleFlags): Promise<number> {
  using interruption = new Interruption(host, flags, 'letting go of the services');
  await using client = await interruption.over(host.connect(settingsOf(host, flags)));
  await using served = await interruption.over(
    client.console({
      ...(flags.port !== undefined && { port: flags.port }),
      ...(flags.listen !== undefined && { listen: flags.listen }),
      ...(flags.url !== undefined && { url: flags.url }),
      ...(flags.temporalUi !== undefined && { temporalUi: flags.temporalUi }),
    }),
  );
  const link = await served.link(flags.role ?? CONSOLE_ROLES);
  if (flags.json) printJson(host, { type: 'console', url: served.url, link, ours: served.ours });
  else {
    print(host, `console  ${served.url}`);
    print(host, `sign in  ${link}`);
    note(host, `the link works once, within ten minutes${served.ours ? '; the console is served until Ctrl-C' : '; the console was served already'}`);
  }
  if (flags.open) openInBrowser(host, link, 'link');
  if (served.ours) await interruption.raised;
  return EXIT.ok;
}

function addTokens(parent: Command, { host, action }: CommandContext): void {
  const token = parent
    .command('token')
    .summary('tokens by which others sign in')
    .description('Make, list and end tokens by which others sign in to the console.');
  const add = token
    .command('add')
    .summary('make a token')
    .description('Make a token and print it. It is told once: only a digest of it is stored.')
    .requiredOption('--name <who>', 'who gets it, as the audit log and the records of decisions name them', holder)
    .requiredOption(
      '--role <role>',
      'viewer sees, operator also steers, approver also decides, labeller labels (alone: sees nothing else); may be given several times',
      roles,
    )
    .option('--days <n>', 'days for which it is valid (default: 90)', days)
    .action(
      action(async (flags: CommonFlags & { readonly name: string; readonly role: readonly ConsoleRole[]; readonly days?: number }) => {
        const request = { holder: flags.name, roles: flags.role, ...(flags.days !== undefined && { days: flags.days }) };
        const made = await withClient(host, flags, (client) => client.addConsoleToken(request));
        if (flags.json) printJson(host, { type: 'console_token', ...made });
        else {
          print(host, made.token);
          note(host, `for ${made.holder}, ${made.roles.join(' and ')}, until ${made.expiresAt}; it is shown only now, and ended by its name ${made.name}`);
        }
        return EXIT.ok;
      }),
    );
  common(add, ["console token add --name 'Petra' --role approver", 'console token add --name ops --role operator --role approver --days 7']);
  const list = token
    .command('list')
    .summary('list tokens')
    .description('List tokens, the newest first. None of them is shown itself.')
    .action(
      action(async (flags: CommonFlags) => {
        const tokens = await withClient(host, flags, (client: Trialbed) => client.consoleTokens());
        if (flags.json) for (const one of tokens) printJson(host, { type: 'console_token', ...one });
        else if (tokens.length === 0) note(host, 'there is no token yet');
        else for (const line of tokenLines(tokens)) print(host, line);
        return EXIT.ok;
      }),
    );
  common(list, ['console token list', 'console token list --json']);
  const revoke = token
    .command('revoke')
    .summary('end a token')
    .description('End a token, and every session that came from it, at once.')
    .argument('<name>', 'name of the token, as the list has it')
    .action(
      action(async (name: string, flags: CommonFlags) => {
        await withClient(host, flags, (client) => client.revokeConsoleToken(name));
        if (flags.json) printJson(host, { type: 'console_token', name, state: 'revoked' });
        else print(host, plainText(`token ${name} is revoked`));
        return EXIT.ok;
      }),
    );
  common(revoke, ['console token revoke Zq3nX0aB1cD2']);
}

function tokenLines(tokens: readonly ListedToken[]): readonly string[] {
  const rows = tokens.map((one) => [one.name, plainText(one.holder), one.roles.join(', '), one.state, one.expiresAt]);
  return textTable(['token', 'holder', 'roles', 'state', 'until'], rows, { columns: 1_000, headPaint: (text) => text });
}

function roles(value: string, before: readonly ConsoleRole[] | undefined): readonly ConsoleRole[] {
  const role = CONSOLE_ROLES.find((name) => name === value);
  if (role === undefined) throw new InvalidArgumentError(`It must be ${CONSOLE_ROLES.join(', ')}.`);
  return [...new Set([...(before ?? []), role])];
}

function port(value: string): number {
  const number = positiveInteger(value);
  if (number > 65_535) throw new InvalidArgumentError('It must be a port, at most 65535.');
  return number;
}

function days(value: string): number {
  const number = positiveInteger(value);
  if (number > 3_650) throw new InvalidArgumentError('It must be at most 3650 days.');
  return number;
}

function holder(value: string): string {
  if (value.trim() === '' || value.length > 200) throw new InvalidArgumentError('It must be a text of 1 to 200 characters.');
  return value;
}
