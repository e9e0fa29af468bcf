import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { withoutSecrets } from '../domain/text/secrets.ts';
import { printable } from '../domain/text/bounded.ts';
import type { Config } from './config.ts';
import { fieldsOfStep } from './step-log.ts';

const MAX_MESSAGE = 2_000;
const MAX_STACK = 4_000;
const MAX_CAUSES = 4;

/**
 * The log of a process: lines of JSON on standard error, since standard output belongs to the command. A line that is written in a step of a trial carries that trial, its
 * batch, the attempt, and the operation where there is one. Whatever text is in a line, no terminal takes any of it for a command. `to`: for tests.
 */
export function createLog(level: Config['logLevel'], to: DestinationStream = destination({ dest: 2, sync: true })): Logger {
  return pino(
    { level, base: null, mixin: fieldsOfStep, mixinMergeStrategy: (line, step) => ({ ...step, ...line }), serializers: { err: plainError } },
    { write: (line) => to.write(escaped(line)) },
  );
}

/** Controls and what turns or hides text, as JSON writes them: the value is the same. */
function escaped(line: string): string {
  return line.replace(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Beside those that JSON itself escapes; not the line feed at the end. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** An error without its fields: a database's quotes rows, a client's holds what it was made with. */
function plainError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return printable(withoutSecrets(String(error)), MAX_MESSAGE);
  const { code } = error as { code?: unknown };
  return {
    type: printable(error.name, 100),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    message: printable(withoutSecrets(error.message), MAX_MESSAGE),
    // The first lines of it are the message.
    stack: printable(withoutSecrets(error.stack ?? ''), MAX_STACK),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: plainError(error.cause, depth + 1) }),
  };
}
