import type { PermissionModel } from '../define.ts';

const READ = [
  'search_customers',
  'get_customer',
  'search_orders',
  'get_order',
  'track_shipment',
  'list_payments',
  'list_refunds',
  'list_approvals',
  'get_price',
  'search_knowledge',
  'get_article',
  'search_tickets',
  'get_ticket',
] as const;
const WRITE_TO_PEOPLE = ['create_ticket', 'comment_ticket', 'update_ticket', 'send_mail', 'schedule_follow_up', 'request_approval'] as const;
const CHANGE = ['issue_refund', 'cancel_order', 'update_order_address', 'update_customer_contact'] as const;

/** Roles of the desk. A trainee writes to people but moves no money and changes no order; a contact change needs a verified identity, whatever the role. */
export const permissions: PermissionModel = {
  roles: {
    readonly: { tools: READ },
    trainee: { tools: [...READ, ...WRITE_TO_PEOPLE] },
    agent: { tools: [...READ, ...WRITE_TO_PEOPLE, ...CHANGE] },
    senior: { tools: '*' },
  },
  check({ tool, permission }) {
    if (tool === 'update_customer_contact' && permission.attributes['identity_verified'] !== true) {
      return 'Contact data may be changed only after the identity of the customer was verified.';
    }
    return null;
  },
};
