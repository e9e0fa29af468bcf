import { resolve } from 'node:path';
import { plainText } from '../report/plain-text.ts';
import type { CommonFlags, Host } from './host.ts';

/** Writes a command line of ours for people to copy. */
export type Hint = (command: string) => string;

/** Hints of a command line: where it was given a home folder, what it tells people to type needs that too. Safe to print. */
export function hintsFor(host: Pick<Host, 'cwd'>, flags: Pick<CommonFlags, 'home'>): Hint {
  const home = flags.home === undefined ? '' : ` --home ${shellWord(resolve(host.cwd, flags.home))}`;
  return (command) => `trialbed ${plainText(command)}${home}`;
}

/** A message of a lower part, which knows of no command line, with its quoted commands as hints. */
export function withHints(message: string, hint: Hint): string {
  return message.replaceAll(/(["`])trialbed ([^"`\n]+)\1/g, (_whole, quote: string, command: string) => `${quote}${hint(command)}${quote}`);
}

/** The home folder that arguments name, of which some may be wrong. */
export function homeIn(args: readonly string[]): Pick<CommonFlags, 'home'> {
  for (const [at, arg] of args.entries()) {
    if (arg === '--') break;
    const next = args[at + 1];
    if (arg === '--home' && next !== undefined) return { home: next };
    if (arg.startsWith('--home=')) return { home: arg.slice('--home='.length) };
  }
  return {};
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${plainText(text).replaceAll("'", "'\\''")}'`;
}
