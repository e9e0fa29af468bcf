import type { Command } from 'commander';
import type { Trialbed } from '../client/api.ts';
import { InterruptedError } from './exit.ts';
import { type CommonFlags, type ConnectSettings, type Host, settingsOf } from './host.ts';
import { Interruption } from './interruption.ts';

/** Adds a command to the program. One file per command has one of these. */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** What a command's action gets beside its arguments. */
export interface CommandContext {
  readonly host: Host;
  /** Wraps an action: its number becomes the exit code of the process. */
  action<A extends unknown[]>(work: (...args: A) => Promise<number>): (...args: A) => Promise<void>;
}

/** Options that every command has, and examples under its help. */
export function common(command: Command, examples: readonly string[], notes: string = ''): Command {
  return command
    .option('--json', 'print JSON on standard output, and nothing else there')
    .option('--home <dir>', 'folder of everything that is kept on this machine (default: .trialbed)')
    .addHelpText('after', `${notes === '' ? '' : `\n${notes}\n`}\nExamples:\n${examples.map((e) => `  $ trialbed ${e}`).join('\n')}`);
}

/** Makes the client, does the work, and lets go of everything that the client holds, whatever happens; also at Ctrl-C. @throws {InterruptedError} */
export async function withClient<T>(
  host: Host,
  flags: CommonFlags,
  work: (client: Trialbed) => Promise<T>,
  needs: Pick<ConnectSettings, 'temporal'> = {},
): Promise<T> {
  using interruption = new Interruption(host, flags, 'letting go of the services');
  await using client = await interruption.over(host.connect({ ...settingsOf(host, flags), ...needs }));
  if (interruption.signal !== null) throw new InterruptedError(interruption.exit);
  const end = work(client);
  // After an interruption nobody waits for it, and what the client then throws is no news.
  end.catch(() => undefined);
  return await Promise.race([
    end,
    interruption.raised.then(() => {
      throw new InterruptedError(interruption.exit);
    }),
  ]);
}
