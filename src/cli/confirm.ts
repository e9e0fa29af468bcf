import type { RunRequest, Trialbed } from '../client/api.ts';
import { type ConfirmAbove, reasonsToConfirm, stricter } from '../domain/confirmation.ts';
import { readConfirmAbove } from '../worker/config.ts';
import { estimateLines } from './estimate-lines.ts';
import { columnsOf, type Host, note, paintFor } from './host.ts';
import { InterruptedError, EXIT } from './exit.ts';

/** A run is larger or dearer than may begin without a word, and nobody was there to ask. Nothing was started. */
export class ConfirmationNeededError extends Error {
  override readonly name = 'ConfirmationNeededError';
  readonly code = 'confirmation_needed';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(`this run is to be confirmed: ${reasons.join('; ')}. Give --yes to begin nevertheless, or --dry-run to see what it would take`);
    this.reasons = reasons;
  }
}

/** Somebody was asked, and said no. Nothing was started. */
export class NotConfirmedError extends Error {
  override readonly name = 'NotConfirmedError';
  readonly code = 'not_confirmed';

  constructor() {
    super('not confirmed, so nothing was started');
  }
}

/** What a command line and a suite say of confirmation. */
export interface ConfirmOptions {
  /** Of the command line; holds instead of what suite and machine say. */
  readonly option?: ConfirmAbove;
  readonly suite: ConfirmAbove;
  readonly yes?: true;
}

/** Above what a run is to be confirmed. @throws {ConfigError} */
export function confirmLimits(host: Pick<Host, 'env'>, { option, suite }: ConfirmOptions): ConfirmAbove {
  return option ?? stricter(suite, readConfirmAbove(host.env));
}

/**
 * Asks whether a run may begin that is larger or dearer than its limits. Without a limit nothing is estimated. @throws {ConfirmationNeededError} where nobody can be asked
 * @throws {NotConfirmedError} @throws {InterruptedError}
 */
export async function confirmRun(host: Host, client: Pick<Trialbed, 'estimate'>, request: RunRequest, options: ConfirmOptions): Promise<void> {
  const limits = confirmLimits(host, options);
  if (options.yes || (limits.trials === undefined && limits.money === undefined)) return;
  const estimate = await client.estimate(request);
  const reasons = reasonsToConfirm(estimate, limits);
  if (reasons.length === 0) return;
  if (!host.ask) throw new ConfirmationNeededError(reasons);
  for (const line of estimateLines(estimate, columnsOf(host.err), paintFor(host.err))) host.err.write(`${line}\n`);
  note(host, reasons.join('; '));
  const answer = await host.ask('Begin? [y/N] ');
  if (answer === null) throw new InterruptedError(EXIT.interrupted);
  if (!/^y(es)?$/i.test(answer.trim())) throw new NotConfirmedError();
}
