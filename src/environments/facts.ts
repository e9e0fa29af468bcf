import type { EnvironmentFacts, EnvironmentService } from '../domain/environment-facts.ts';
import type { Environment } from './define.ts';

/** What a report says of an environment's services. */
export function servicesOf({ services, toolServer }: Pick<Environment, 'services' | 'toolServer'>): EnvironmentFacts['services'] {
  return [
    DATABASE,
    ...(services?.inbox ? [services.inbox.live ? LIVE_INBOX : INBOX] : []),
    ...(services?.tickets ? [services.tickets.live ? LIVE_TICKETS : TICKETS] : []),
    ...(toolServer ? [TOOL_SERVER] : []),
  ];
}

const DATABASE: EnvironmentService = {
  name: 'database',
  kind: 'fixture',
  contract: 'a real PostgreSQL with the schema and the rows of the pack',
  checkedAt: null,
  cannotShow: ['rows, sizes and load of production', 'triggers, jobs and other writers that the schema does not hold'],
};

const INBOX: EnvironmentService = {
  name: 'inbox',
  kind: 'fixture',
  contract: 'a real SMTP server (RFC 5321) that delivers nowhere',
  checkedAt: null,
  cannotShow: ['delivery, spam filters, bounces after acceptance', 'what recipients do with a mail'],
};

const LIVE_INBOX: EnvironmentService = {
  name: 'inbox',
  kind: 'live',
  contract: 'a real mail server (SMTP and IMAP), with a domain and accounts for each trial',
  checkedAt: null,
  cannotShow: [
    'failures that did not happen during the trial, since none is injected',
    'delivery beyond this server: every recipient has a mailbox of the trial there',
  ],
};

const TICKETS: EnvironmentService = {
  name: 'tickets',
  kind: 'fixture',
  contract: 'an HTTP service over tables of the world, as the author of the pack wrote it',
  checkedAt: null,
  cannotShow: ['how the real ticket system validates, limits and automates', 'its latency and its outages beyond the fault schedules'],
};

const LIVE_TICKETS: EnvironmentService = {
  name: 'tickets',
  kind: 'live',
  contract: 'a real ticket system (Request Tracker), with an account and a queue for each trial',
  checkedAt: null,
  cannotShow: ['failures that did not happen during the trial, since none is injected', 'which of two equal requests was done, where neither was answered'],
};

const TOOL_SERVER: EnvironmentService = {
  name: 'tool server',
  kind: 'fixture',
  contract: "production's own MCP server, with schemas that are pinned, on the database of the world",
  checkedAt: null,
  cannotShow: ['services that it reaches beside the world'],
};
