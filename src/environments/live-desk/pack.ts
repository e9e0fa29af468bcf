import type { JsonObject } from '../../domain/json.ts';
import { defineEnvironment, type Environment, EnvironmentDefinitionError, type LiveMail, ToolFailure } from '../define.ts';
import supportDesk from '../support-desk/pack.ts';
import { followUpTool } from '../support-desk/tools/outreach.ts';

const here = (name: string): URL => new URL(name, import.meta.url);

const MAIL: LiveMail = {
  server: 'smtp-imap',
  address: { variable: 'TRIALBED_LIVE_MAIL_URL' },
  secret: { variable: 'TRIALBED_LIVE_MAIL_ACCOUNTS' },
};

/** Tickets are not rows of the world here: the ticket system is asked. */
const scheduleFollowUp = followUpTool(async (ticket, { tickets }) => {
  try {
    await tickets.request('GET', `/tickets/${ticket}`);
    return true;
  } catch (error) {
    if (error instanceof ToolFailure && error.code === 'not_found') return false;
    throw error;
  }
});

/**
 * The support desk with its tickets in a real ticket system, and with `mail: live` its mail at a real server: the same tools, rules and agents. It has no look-up of operations and no
 * timer, since these systems have none.
 */
export default function liveDesk({ mail = 'fixture' }: JsonObject = {}): Environment {
  if (mail !== 'fixture' && mail !== 'live')
    throw new EnvironmentDefinitionError('live-desk', `option mail is ${JSON.stringify(mail)}; expected "fixture" or "live"`);
  return defineEnvironment({
    name: 'live-desk',
    version: '1.0.0',
    binding: 'sandbox',
    schema: [...supportDesk.schema, here('./tickets-elsewhere.sql')],
    seed: [
      ...supportDesk.seed.filter((seed) => !('table' in seed && (seed.table === 'tickets' || seed.table === 'ticket_comments'))),
      { json: here('./seed/tickets.json'), table: 'tickets' },
      { json: here('./seed/ticket_comments.json'), table: 'ticket_comments' },
    ],
    ...(supportDesk.tables && { tables: supportDesk.tables }),
    runtime: { timeoutSeconds: 30, words: { unknown: 'No answer from {tool} within 30 seconds. It may or may not have been done.' } },
    services: {
      inbox: mail === 'live' ? { live: MAIL } : { recipients: 'any' },
      tickets: {
        tickets: 'tickets',
        comments: 'ticket_comments',
        live: { server: 'request-tracker', address: { variable: 'TRIALBED_LIVE_TICKETS_URL' }, secret: { variable: 'TRIALBED_LIVE_TICKETS_TOKEN' } },
      },
    },
    tools: supportDesk.tools.flatMap((tool) => (tool.builtin ? [] : [tool.name === scheduleFollowUp.name ? scheduleFollowUp : tool])),
    ...(supportDesk.policy && { policy: supportDesk.policy }),
    ...(supportDesk.permissions && { permissions: supportDesk.permissions }),
    sources: [here('./'), here('../support-desk/')],
  });
}
