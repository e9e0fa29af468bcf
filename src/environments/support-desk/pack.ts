import { defineEnvironment } from '../define.ts';
import { permissions } from './permissions.ts';
import { listApprovals, requestApproval } from './tools/approvals.ts';
import { getCustomer, searchCustomers, updateCustomerContact } from './tools/customers.ts';
import { getArticle, getPrice, searchKnowledge } from './tools/knowledge.ts';
import { cancelOrder, getOrder, searchOrders, trackShipment, updateOrderAddress } from './tools/orders.ts';
import { scheduleFollowUp, sendMail } from './tools/outreach.ts';
import { issueRefund, listPayments, listRefunds } from './tools/refunds.ts';
import { commentTicket, createTicket, getTicket, searchTickets, updateTicket } from './tools/tickets.ts';

const seed = (name: string): URL => new URL(`./seed/${name}`, import.meta.url);

/** The support desk of a shop for outdoor gear, on the morning of 2 March 2026. */
export default defineEnvironment({
  name: 'support-desk',
  version: '1.0.0',
  schema: [new URL('./schema.sql', import.meta.url)],
  seed: [
    { csv: seed('customers.csv'), table: 'customers' },
    { csv: seed('price_list.csv'), table: 'price_list' },
    { csv: seed('orders.csv'), table: 'orders' },
    { csv: seed('order_lines.csv'), table: 'order_lines' },
    { csv: seed('payments.csv'), table: 'payments' },
    { csv: seed('approvals.csv'), table: 'approvals' },
    { csv: seed('refunds.csv'), table: 'refunds' },
    { csv: seed('shipments.csv'), table: 'shipments' },
    { json: seed('articles.json'), table: 'articles' },
    { json: seed('tickets.json'), table: 'tickets' },
    { json: seed('ticket_comments.json'), table: 'ticket_comments' },
    { csv: seed('follow_ups.csv'), table: 'follow_ups' },
  ],
  tables: {
    customers: { ignored: ['updated_at'] },
    orders: { ignored: ['updated_at'], scale: { shipping_fee: 2, total: 2 } },
    tickets: { ignored: ['updated_at'] },
    order_lines: { scale: { unit_price: 2 } },
    payments: { scale: { amount: 2 } },
    refunds: { scale: { amount: 2 } },
    approvals: { scale: { amount: 2 } },
    price_list: { scale: { price: 2 } },
  },
  // The desk's back office answers within 30 s or not at all, keeps a journal of operations that can be asked, and has a timer. Its client tries nothing twice.
  runtime: {
    timeoutSeconds: 30,
    words: { unknown: 'No answer from {tool} within 30 seconds. It may or may not have been done.' },
    lookup: 'get_operation',
    wait: 'wait',
  },
  services: { inbox: { recipients: 'any' }, tickets: { tickets: 'tickets', comments: 'ticket_comments' } },
  tools: [
    searchCustomers,
    getCustomer,
    updateCustomerContact,
    searchOrders,
    getOrder,
    trackShipment,
    cancelOrder,
    updateOrderAddress,
    listPayments,
    listRefunds,
    issueRefund,
    listApprovals,
    requestApproval,
    getPrice,
    searchKnowledge,
    getArticle,
    searchTickets,
    getTicket,
    createTicket,
    commentTicket,
    updateTicket,
    sendMail,
    scheduleFollowUp,
  ],
  policy: new URL('./policy.md', import.meta.url),
  permissions,
});
