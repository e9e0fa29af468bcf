import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { NightPlan } from '../../workflows/night-messages.ts';

/** What a schedule is to run every night. */
export interface NightRequest {
  /** A built-in suite's name, or the path of a suite's folder. */
  readonly suite: string;
  /** As `02:00`, by a clock of `timezone`. */
  readonly at: string;
  /** Of the list of IANA, such as `Europe/Berlin`. Default `UTC`. */
  readonly timezone?: string;
  /** Default: the suite's. Lower-case letters, digits and dashes. */
  readonly name?: string;
  readonly agents?: readonly string[];
  readonly cases?: readonly string[];
  readonly tags?: readonly string[];
  readonly faults?: readonly string[];
  readonly trials?: number;
  readonly concurrency?: number;
  /** Default false. */
  readonly contract?: boolean;
  /** A night that could not begin in time still begins until so long after, milliseconds. Default one hour. */
  readonly catchUpMs?: number;
  /** An `https` URL, `http` on this machine, or `$NAME` for the variable of workers that holds one. */
  readonly webhook?: string;
  readonly mail?: string;
}

/** A request for a schedule cannot be understood; nothing was made. */
export class NightRequestError extends Error {
  override readonly name = 'NightRequestError';
  readonly code = 'night_request';
}

/** Checks a request. @throws {NightRequestError} */
export function nightPlan(request: NightRequest): { readonly plan: NightPlan; readonly hour: number; readonly minute: number; readonly timezone: string } {
  const { at, timezone = 'UTC', name, webhook, mail } = request;
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(at) ?? [];
  if (hour === undefined || minute === undefined) throw new NightRequestError(`--at is ${JSON.stringify(at)}; expected a time of day such as 02:00`);
  if (!knownTimezone(timezone)) throw new NightRequestError(`--timezone is ${JSON.stringify(timezone)}; expected a name such as UTC or Europe/Berlin`);
  if (name !== undefined && !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    throw new NightRequestError(`--name is ${JSON.stringify(name)}; expected lower-case letters, digits and dashes, at most 63`);
  if (mail !== undefined && !/^[^\s<>@,;"]+@[^\s<>@,;"]+$/.test(mail))
    throw new NightRequestError(`--mail is ${JSON.stringify(mail)}; expected the address of one mailbox`);
  const { suite, agents, cases, tags, faults, trials, concurrency } = request;
  return {
    plan: {
      // Workers may have another working folder.
      suite: existsSync(suite) ? resolve(suite) : suite,
      ...(agents && { agents: agents.map((agent) => (existsSync(agent) ? resolve(agent) : agent)) }),
      ...(cases && { cases }),
      ...(tags && { tags }),
      ...(faults && { faults }),
      ...(trials !== undefined && { trials }),
      ...(concurrency !== undefined && { concurrency }),
      ...(request.contract && { contract: true as const }),
      ...(webhook !== undefined && { webhook: webhookOf(webhook) }),
      ...(mail !== undefined && { mail }),
    },
    hour: Number(hour),
    minute: Number(minute),
    timezone,
  };
}

function webhookOf(text: string): NonNullable<NightPlan['webhook']> {
  if (/^\$[A-Z_][A-Z0-9_]{0,127}$/.test(text)) return { variable: text.slice(1) };
  return { url: webhookUrl(text, '--webhook') };
}

/** @throws {NightRequestError} where what is told would pass through a network in the clear, or the address cannot be read */
export function webhookUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const near = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && near)))
    throw new NightRequestError(
      `${from} is no address of a webhook; expected one that begins with https:// (http:// on this machine alone), or $NAME for the variable that holds it`,
    );
  return url.href;
}

function knownTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
