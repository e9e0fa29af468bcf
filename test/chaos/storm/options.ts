import { parseArgs } from 'node:util';

/** What the command was asked for. */
export interface StormOptions {
  /** Of everything that is drawn: kills, and the batch's own. */
  readonly seed: string;
  /** Of the batch that the kills are counted by; a multiple of {@link TRIALS_A_ROUND}. */
  readonly trials: number;
  readonly kills: number;
  readonly concurrency: number;
  /** File for what was seen, as JSON; null: none. */
  readonly json: string | null;
  /** Folder that stays afterwards; null: a temporary one. */
  readonly home: string | null;
}

/** Ten cases, each by two agents. */
export const TRIALS_A_ROUND = 20;

export const USAGE = `usage: npm run chaos -- [options]

Runs a batch with writes and mail in real processes, kills them with SIGKILL at random and at failpoints, starts again what was killed, and compares
every trial with the same batch undisturbed. A trial that lost three attempts to kills is put into the queue again at the end. Exit status 1 when anything does not hold.

  --seed TEXT        of everything that is drawn (default: 1)
  --trials N         trials of the batch, in steps of ${TRIALS_A_ROUND} (default: 500)
  --kills N          processes to kill (default: 50)
  --concurrency N    trials in flight (default: 16)
  --json FILE        what was seen, as JSON
  --home DIR         keep everything in this folder (default: a temporary one)
  --help
`;

/** Null where only the usage is asked for. @throws {TypeError} for what is no option. */
export function stormOptions(args: readonly string[]): StormOptions | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { seed: text, trials: text, kills: text, concurrency: text, json: text, home: text, help: { type: 'boolean' } },
  });
  if (values.help) return null;
  return {
    seed: values.seed ?? '1',
    trials: Math.ceil(count('trials', values.trials ?? '500') / TRIALS_A_ROUND) * TRIALS_A_ROUND,
    kills: count('kills', values.kills ?? '50'),
    concurrency: count('concurrency', values.concurrency ?? '16'),
    json: values.json ?? null,
    home: values.home ?? null,
  };
}

function count(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new TypeError(`--${name} takes a whole number of at least 1, and not ${JSON.stringify(value)}`);
  return number;
}
