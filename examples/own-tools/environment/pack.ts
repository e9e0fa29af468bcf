import { defineEnvironment } from 'trialbed/environment';

const here = (name: string): URL => new URL(name, import.meta.url);

/** A stock room whose tools are those of production: its own MCP server, run against each world. */
export default defineEnvironment({
  name: 'stock-room',
  version: '1.0.0',
  schema: [here('./schema.sql')],
  seed: [{ csv: here('./items.csv'), table: 'items' }],
  policy: { text: 'Reserve what the customer asks for, if there is enough of it, and confirm it by mail. Reserve nothing else.' },
  services: { inbox: { recipients: 'any' } },
  permissions: { roles: { clerk: { tools: '*' }, apprentice: { tools: ['find_items'] } } },
  tools: [],
  toolServer: {
    command: 'node',
    args: ['server.ts'],
    folder: here('../server'),
    environment: { DATABASE_URL: 'database.url', SMTP_URL: 'smtp.url' },
    pinned: here('./tools.json'),
    tools: {
      find_items: { effect: 'read' },
      reserve_item: {
        effect: 'write',
        idempotent: true,
        failures: ['not_enough'],
        // What an approver is shown, where a case asks for an approval: what is left, and who has it.
        preview: ({ sku }) => [
          { table: 'items', where: { sku: String(sku) }, columns: ['sku', 'in_stock'] },
          { table: 'reservations', where: { sku: String(sku) }, columns: ['pieces', 'customer'] },
        ],
      },
      confirm_by_mail: { effect: 'external', failures: ['not_found'] },
      empty_stock_room: 'left_out',
    },
  },
});
