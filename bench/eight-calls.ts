import { writeOneCaseSuite } from '../test/harness/one-case-suite.ts';

/** Calls of a trial that is measured: five reads, three writes, one of them a mail. */
export const CALLS = 8;

const STEPS = [
  { call: 'search_customers', with: { query: 'anna.weber@example.org' } },
  { call: 'get_customer', with: { customer_id: 1001 } },
  { call: 'get_order', with: { order_id: 5007 } },
  { call: 'list_refunds', with: { order_id: 5007 } },
  { call: 'track_shipment', with: { order_id: 5007 } },
  { call: 'update_customer_contact', with: { customer_id: 1001, phone: '+49 40 5550199' } },
  { call: 'schedule_follow_up', with: { customer_id: 1001, kind: 'call', due_at: '2026-03-05T09:00:00+01:00', note: 'Call back' } },
  { call: 'send_mail', with: { to: ['anna.weber@example.org'], subject: 'Your number', text: 'We have your new number and call you back on Thursday.' } },
];

/** A suite of one case at the support desk whose reference makes these calls, to be run with the agent `reference`. @returns its folder. */
export async function eightCalls(folder: string): Promise<string> {
  const effects = [
    { row: 'customers', change: 'update', where: { id: 1001, phone: '+49 40 5550199' } },
    { row: 'follow_ups', change: 'insert', where: { customer_id: 1001 } },
    { mail: ['anna.weber@example.org'] },
  ];
  const { suite } = await writeOneCaseSuite(folder, 'eight-calls', {
    environment: 'support-desk',
    agent: { kind: 'do-nothing' },
    kase: {
      user: { name: 'mara', role: 'agent', attributes: { identity_verified: true } },
      expects_nothing: false,
      expect: { outcomes: [{ name: 'noted and told', effects }] },
      reference: { steps: STEPS, answer: 'I noted the number, and told Anna that we call back on Thursday.' },
    },
  });
  return suite;
}
