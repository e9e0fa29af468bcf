import { z } from 'zod';
import { defineTool } from '../define.ts';
import { cells, given, text } from './arguments.ts';
import { PATTERN_FAILURES, queryByPattern, toPostgresPattern } from './patterns.ts';
import { append, cellsOf, comparisonOf, lockForAppend, nextId, quoted, removeById, rowById, setCell, type Cells, type OrderedTable } from './table.ts';
import type { Toolkit } from './toolkit.ts';

const CUSTOMERS: OrderedTable = {
  name: 'customers',
  id: 'customer_id',
  columns: [
    'customer_id',
    'assigned_to_email',
    'customer_name',
    'customer_email',
    'customer_phone',
    'last_contact_date',
    'product_interest',
    'status',
    'follow_up_by',
    'notes',
  ],
};

const STATUSES = ['Qualified', 'Won', 'Lost', 'Lead', 'Proposal'];
const PRODUCTS = ['Software', 'Hardware', 'Services', 'Consulting', 'Training'];
const BAD_STATUS = "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'";
const BAD_PRODUCT = "Product interest not valid. Please choose from: 'Software', 'Hardware', 'Services', 'Consulting', 'Training'";
const BAD_FIELD =
  "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', 'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'";

/** The sales team's customers. */
export const customers: Toolkit = {
  name: 'customer_relationship_manager',
  schema: new URL('./schema/customers.sql', import.meta.url),
  files: [{ file: 'customer_relationship_manager_data.csv', table: CUSTOMERS.name, columns: CUSTOMERS.columns }],
  comparison: comparisonOf(CUSTOMERS, ['status']),
  tools: () => [searchCustomers, updateCustomer, addCustomer, deleteCustomer],
};

const searchCustomers = defineTool({
  name: 'customer_relationship_manager.search_customers',
  description: 'Searches customers: text fields by regular expression, letter case aside; dates by range. A customer must match all that is given. First 5.',
  input: z.strictObject({
    customer_name: text('Name of the customer.'),
    customer_email: text('E-mail address of the customer.'),
    product_interest: text(`One of ${PRODUCTS.join(', ')}.`),
    status: text(`One of ${STATUSES.join(', ')}.`),
    assigned_to_email: text('E-mail address of the assignee.'),
    last_contact_date_min: text('Earliest last contact, YYYY-MM-DD, inclusive.'),
    last_contact_date_max: text('Latest last contact, YYYY-MM-DD, inclusive.'),
    follow_up_by_min: text('Earliest follow-up, YYYY-MM-DD, inclusive.'),
    follow_up_by_max: text('Latest follow-up, YYYY-MM-DD, inclusive.'),
  }),
  result: z.union([z.array(cells), z.string()]),
  effect: 'read',
  failures: PATTERN_FAILURES,
  async run(args, { db }) {
    const conditions: string[] = [];
    const values: string[] = [];
    for (const column of ['customer_name', 'customer_email', 'product_interest', 'status', 'assigned_to_email'] as const) {
      const pattern = args[column];
      if (given(pattern)) conditions.push(`${quoted(column)} ~* $${values.push(toPostgresPattern(pattern))}`);
    }
    for (const column of ['last_contact_date', 'follow_up_by'] as const) {
      const { [`${column}_min` as const]: min, [`${column}_max` as const]: max } = args;
      if (given(min)) conditions.push(`${quoted(column)} collate "C" >= $${values.push(min)}`);
      if (given(max)) conditions.push(`${quoted(column)} collate "C" <= $${values.push(max)}`);
    }
    if (conditions.length === 0) return 'No search parameters provided. Please provide at least one parameter.';
    return queryByPattern<Cells>(db, `select ${cellsOf(CUSTOMERS)} from customers where ${conditions.join(' and ')} order by position limit 5`, values);
  },
});

const updateCustomer = defineTool({
  name: 'customer_relationship_manager.update_customer',
  description: 'Sets one field of a customer.',
  input: z.strictObject({
    customer_id: text('Id of the customer, 8 digits.'),
    field: text(`One of ${CUSTOMERS.columns.slice(1).join(', ')}.`),
    new_value: text('New value of the field.'),
  }),
  result: z.string(),
  effect: 'write',
  async run({ customer_id: id, field, new_value: value }, { db }) {
    if (!given(id) || !given(field) || !given(value)) return 'Customer ID, field, or new value not provided.';
    if (field === 'status' && !STATUSES.includes(value)) return BAD_STATUS;
    if (field === 'product_interest' && !PRODUCTS.includes(value)) return BAD_PRODUCT;
    const cell = field === 'customer_email' || field === 'assigned_to_email' ? value.toLowerCase() : value;
    if (!(await rowById(db, CUSTOMERS, id))) return 'Customer not found.';
    if (!CUSTOMERS.columns.includes(field)) return BAD_FIELD;
    await setCell(db, CUSTOMERS, id, field, cell);
    return 'Customer updated successfully.';
  },
});

const addCustomer = defineTool({
  name: 'customer_relationship_manager.add_customer',
  description: 'Adds a customer. Returns the id.',
  input: z.strictObject({
    customer_name: text('Name of the customer.'),
    assigned_to_email: text('E-mail address of the assignee.'),
    status: text(`One of ${STATUSES.join(', ')}.`),
    customer_email: text('E-mail address of the customer.'),
    customer_phone: text('Telephone number of the customer.'),
    last_contact_date: text('Date of the last contact, YYYY-MM-DD.'),
    product_interest: text(`One of ${PRODUCTS.join(', ')}.`),
    notes: text('Notes.'),
    follow_up_by: text('Date of the follow-up, YYYY-MM-DD.'),
  }),
  result: z.string(),
  effect: 'write',
  failures: ['id_not_a_number'],
  async run(args, { db }) {
    const { customer_name: name, assigned_to_email: assignee, status } = args;
    if (!given(name) || !given(assignee) || !given(status)) return 'Please provide all required fields: customer_name, assigned_to_email, status.';
    await lockForAppend(db, CUSTOMERS);
    const id = (await nextId(db, CUSTOMERS)).padStart(8, '0');
    await append(db, CUSTOMERS, {
      customer_id: id,
      assigned_to_email: assignee.toLowerCase(),
      customer_name: name,
      customer_email: args.customer_email?.toLowerCase() ?? null,
      customer_phone: args.customer_phone ?? null,
      last_contact_date: args.last_contact_date ?? null,
      product_interest: args.product_interest ?? null,
      status,
      follow_up_by: args.follow_up_by ?? null,
      notes: args.notes ?? '',
    });
    return id;
  },
});

const deleteCustomer = defineTool({
  name: 'customer_relationship_manager.delete_customer',
  description: 'Deletes a customer.',
  input: z.strictObject({ customer_id: text('Id of the customer, 8 digits.') }),
  result: z.string(),
  effect: 'write',
  async run({ customer_id: id }, { db }) {
    if (!given(id)) return 'Customer ID not provided.';
    return (await removeById(db, CUSTOMERS, id)) > 0 ? 'Customer deleted successfully.' : 'Customer not found.';
  },
});
