/**
 * The stock room's own MCP server, as production runs it: it knows nothing of trialbed. Where its database and its mail server are, its environment says.
 */
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import nodemailer from 'nodemailer';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 4 });
// A connection that the database ends while it is idle is replaced by the pool.
pool.on('error', () => undefined);
const mail = nodemailer.createTransport(process.env['SMTP_URL']);

interface Tool {
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly properties: object; readonly required?: readonly string[] };
  readonly run: (args: { readonly [name: string]: never }) => Promise<object>;
}

/** The matter refuses, and nothing has happened. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const tools: { readonly [name: string]: Tool } = {
  find_items: {
    description: 'Finds items by a part of their name, with what is in stock.',
    inputSchema: { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] },
    async run({ name }) {
      const { rows } = await pool.query("SELECT sku, name, in_stock FROM items WHERE name ILIKE '%' || $1 || '%' ORDER BY sku", [name]);
      return { items: rows };
    },
  },
  reserve_item: {
    description: 'Reserves pieces of an item for a customer.',
    inputSchema: {
      type: 'object',
      properties: { sku: { type: 'string' }, pieces: { type: 'integer', minimum: 1, maximum: 100 }, customer: { type: 'string', format: 'email' } },
      required: ['sku', 'pieces', 'customer'],
    },
    async run({ sku, pieces, customer }) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const taken = await client.query('UPDATE items SET in_stock = in_stock - $2 WHERE sku = $1 AND in_stock >= $2', [sku, pieces]);
        if (taken.rowCount !== 1) throw new Refusal('not_enough', `There are not ${pieces} pieces of ${sku}.`);
        const { rows } = await client.query('INSERT INTO reservations (sku, pieces, customer) VALUES ($1, $2, $3) RETURNING id', [sku, pieces, customer]);
        await client.query('COMMIT');
        return { reservation: rows[0].id };
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  },
  confirm_by_mail: {
    description: 'Writes to the customer of a reservation that it is made.',
    inputSchema: { type: 'object', properties: { reservation: { type: 'integer' } }, required: ['reservation'] },
    async run({ reservation }) {
      const { rows } = await pool.query('SELECT r.customer, r.pieces, i.name FROM reservations r JOIN items i USING (sku) WHERE r.id = $1', [reservation]);
      const [row] = rows;
      if (!row) throw new Refusal('not_found', `There is no reservation ${reservation}.`);
      const subject = `Your reservation ${reservation}`;
      await mail.sendMail({ from: 'stock@hollow.example', to: row.customer, subject, text: `We keep ${row.pieces} x ${row.name} for you.` });
      return { sent_to: row.customer };
    },
  },
  empty_stock_room: {
    description: 'For the yearly move. Not for agents.',
    inputSchema: { type: 'object', properties: {} },
    async run() {
      await pool.query('DELETE FROM reservations');
      return {};
    },
  },
};

const server = new Server({ name: 'stock-room', version: '3.1.0' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema: inputSchema as { type: 'object' } })),
}));
server.setRequestHandler('tools/call', async ({ params }) => {
  try {
    const result = await tools[params.name]?.run((params.arguments ?? {}) as never);
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { isError: true, content: [{ type: 'text', text: error.message }], structuredContent: { code: error.code, message: error.message } };
  }
});
await server.connect(new StdioServerTransport());
