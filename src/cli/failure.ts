import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { makeFolder } from '../infra/make-folder.ts';
import { plainText } from '../report/plain-text.ts';
import { EXIT, failureOf } from './exit.ts';
import { hintsFor, homeIn, withHints } from './hint.ts';
import { type Host, paintFor } from './host.ts';

/** Prints what went wrong and what happens next, on standard error, and tells the exit code. With `--json` in the arguments: one line of JSON. */
export async function reportFailure(host: Host, args: readonly string[], thrown: unknown): Promise<number> {
  const said = failureOf(thrown);
  const hints = hintsFor(host, homeIn(args));
  const failure = { ...said, message: withHints(said.message, hints) };
  if (failure.exit === EXIT.ok || failure.code === 'help') return failure.exit;
  const hint = await hintFor(host, args, thrown, failure);
  if (asksForJson(args)) {
    host.err.write(`${JSON.stringify({ type: 'error', code: failure.code, message: failure.message, ...(hint === null ? {} : { hint }) })}\n`);
    return failure.exit;
  }
  if (failure.code === 'interrupted') return failure.exit;
  const paint = paintFor(host.err);
  host.err.write(`${paint('red', 'error:')} ${plainText(failure.message, { lines: 'keep' })}\n`);
  if (hint !== null) host.err.write(`${plainText(hint, { lines: 'keep' })}\n`);
  return failure.exit;
}

function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** Commands that have others below them. */
const WITH_COMMANDS: ReadonlySet<string> = new Set(['import', 'snapshot', 'keys', 'schedule']);

async function hintFor(host: Host, args: readonly string[], thrown: unknown, failure: ReturnType<typeof failureOf>): Promise<string | null> {
  if (failure.unexpected)
    return `This is an error of trialbed itself. ${await keepStack(host, args, thrown)} A batch that ran stays as it is: the same command goes on with it.`;
  if (failure.exit === EXIT.infrastructure) return `"${hintsFor(host, homeIn(args))('doctor')}" shows what was found, what is missing, and how to get it.`;
  const [command, below] = args;
  if (failure.message.startsWith('unknown command'))
    return `"trialbed${command !== undefined && WITH_COMMANDS.has(command) ? ` ${command}` : ''} --help" lists the commands.`;
  if (failure.code === 'usage' && command !== undefined && /^[a-z]+$/.test(command)) {
    const name = WITH_COMMANDS.has(command) && below !== undefined && /^[a-z-]+$/.test(below) && !below.startsWith('-') ? `${command} ${below}` : command;
    return `"trialbed ${name} --help" shows what it takes.`;
  }
  return null;
}

/** Puts the stack into the log of the home folder; tells where, or the stack itself where that is not possible. */
async function keepStack(host: Host, args: readonly string[], thrown: unknown): Promise<string> {
  const text = `${new Date().toISOString()} trialbed ${args.join(' ')}\n${inspect(thrown, { depth: 4 })}\n\n`;
  try {
    const { homeOf } = await import('./home.ts');
    const logs = join(homeOf(host, homeIn(args)), 'logs');
    await makeFolder(logs);
    await appendFile(join(logs, 'errors.log'), text, { mode: 0o600 });
    return `Its stack is in ${join(logs, 'errors.log')}.`;
  } catch {
    return `Its stack:\n${text}`;
  }
}
