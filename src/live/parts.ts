import { createHmac } from 'node:crypto';
import type { WorldMail, WorldTickets } from '../environments/define.ts';
import type { LiveBindings, LiveEndpoint } from '../environments/live.ts';
import type { LiveSpaceRow } from '../store/live-spaces.ts';
import { LiveVariableMissingError } from './errors.ts';
import type { LiveService, Space } from './live-service.ts';
import { mailServer } from './mail/mail-server.ts';
import { requestTracker } from './tickets/request-tracker.ts';

/** Those of the named variables that this process has. */
export type Variables = (names: readonly string[]) => { readonly [name: string]: string };

/** One real service of one world. */
export type LivePart = { readonly space: Space } & (
  | { readonly contract: 'tickets'; readonly service: LiveService<WorldTickets> }
  | { readonly contract: 'mail'; readonly service: LiveService<WorldMail> }
);

export type LiveParts = readonly LivePart[];

/** How a real service is spoken to. */
export interface Resolved {
  /** Without a slash at the end. */
  readonly address: string;
  readonly secret: string;
}

/** The service that a space is at, with what this process knows of it. @throws {LiveVariableMissingError} */
export function partOf(row: LiveSpaceRow, variables: Variables, rows: Space['rows']): LivePart {
  const at = resolve(row.service, row.binding as unknown as LiveEndpoint, variables);
  const { name, until, shiftMs, actsFor, kept } = row;
  const space = { name, password: passwordOf(at.secret, name), until, shiftMs, actsFor, kept, rows };
  if (row.service === 'mail') return { contract: 'mail', service: mailServer(at), space };
  const { tables } = row.binding as unknown as NonNullable<LiveBindings['tickets']>;
  return { contract: 'tickets', service: requestTracker({ ...at, tables }), space };
}

/** @throws {LiveVariableMissingError} */
function resolve(service: string, { address, secret }: LiveEndpoint, variables: Variables): Resolved {
  const value = (variable: string): string => {
    const found = variables([variable])[variable];
    if (found === undefined || found === '') throw new LiveVariableMissingError(service, variable);
    return found;
  };
  const url = typeof address === 'string' ? address : value(address.variable);
  return { address: url.replace(/\/+$/, ''), secret: value(secret.variable) };
}

/** Every worker works out the same, and none has to keep it. */
function passwordOf(secret: string, name: string): string {
  return createHmac('sha256', secret).update(`trialbed account ${name}`).digest('base64url');
}
