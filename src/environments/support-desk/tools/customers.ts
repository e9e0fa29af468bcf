import { z } from 'zod';
import { defineTool, ToolFailure, type WorldSql } from '../../define.ts';
import { containing, customerId } from './values.ts';

const customer = z.object({
  id: z.number(),
  name: z.string(),
  email: z.string(),
  phone: z.string().nullable(),
  city: z.string(),
  country: z.string(),
  tier: z.string(),
  notes: z.string().nullable(),
});
type Customer = z.output<typeof customer>;

const COLUMNS = 'id, name, email, phone, city, country, tier, notes';

export const searchCustomers = defineTool({
  name: 'search_customers',
  description: 'Finds customers by part of a name, mail address, phone number or city. Names are not unique. At most 10, by number.',
  input: z.strictObject({ query: z.string().trim().min(2).max(100) }),
  result: z.object({ customers: z.array(customer) }),
  effect: 'read',
  async run({ query }, { db }) {
    const customers = await db.query<Customer>(
      `select ${COLUMNS} from customers where name ilike $1 or email ilike $1 or phone ilike $1 or city ilike $1 order by id limit 10`,
      [containing(query)],
    );
    return { customers };
  },
});

export const getCustomer = defineTool({
  name: 'get_customer',
  description: 'Reads one customer.',
  input: z.strictObject({ customer_id: customerId }),
  result: customer,
  effect: 'read',
  failures: ['not_found'],
  run: ({ customer_id: id }, { db }) => customerById(db, id),
});

export const updateCustomerContact = defineTool({
  name: 'update_customer_contact',
  description: 'Changes the mail address or phone number of a customer. Sends nothing by itself.',
  input: z
    .strictObject({ customer_id: customerId, email: z.email().optional(), phone: z.string().trim().min(5).max(30).optional() })
    .refine(({ email, phone }) => email !== undefined || phone !== undefined, 'email or phone is needed'),
  result: customer,
  effect: 'write',
  failures: ['not_found', 'email_taken'],
  async run({ customer_id: id, email, phone }, { db, now }) {
    await customerById(db, id);
    const taken = await db.query('select id from customers where lower(email) = lower($1) and id <> $2', [email ?? null, id]);
    if (taken.length > 0) throw new ToolFailure('email_taken', 'Another customer has this mail address.');
    const rows = await db.query<Customer>(
      `update customers set email = coalesce($2, email), phone = coalesce($3, phone), updated_at = $4 where id = $1 returning ${COLUMNS}`,
      [id, email ?? null, phone ?? null, now.toISOString()],
    );
    return rows[0] ?? missing(id);
  },
});

/** @throws {ToolFailure} `not_found` */
export async function customerById(db: WorldSql, id: number): Promise<Customer> {
  const rows = await db.query<Customer>(`select ${COLUMNS} from customers where id = $1`, [id]);
  return rows[0] ?? missing(id);
}

function missing(id: number): never {
  throw new ToolFailure('not_found', `There is no customer ${id}.`);
}
