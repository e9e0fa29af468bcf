import { z } from 'zod';
import { defineTool, ToolFailure } from '../../define.ts';
import { containing, day, money } from './values.ts';

export const getPrice = defineTool({
  name: 'get_price',
  description: 'Prices of a product on a day (default: today). Several products may match.',
  input: z.strictObject({ product: z.string().trim().min(2).max(100).describe('Part of a product name, or a SKU.'), on: day.optional() }),
  result: z.object({
    prices: z.array(z.object({ sku: z.string(), product: z.string(), price: z.number(), valid_from: z.string(), valid_to: z.string().nullable() })),
  }),
  effect: 'read',
  async run({ product, on }, { db, now, timezone }) {
    const rows = await db.query<{ sku: string; product: string; price: string; valid_from: string; valid_to: string | null }>(
      `select sku, product, price, valid_from::text, valid_to::text from price_list
       where (product ilike $1 or lower(sku) = lower($2))
         and coalesce($3::date, ($4::timestamptz at time zone $5)::date) between valid_from and coalesce(valid_to, 'infinity')
       order by product limit 20`,
      [containing(product), product, on ?? null, now.toISOString(), timezone],
    );
    return { prices: rows.map((row) => ({ ...row, price: money(row.price) })) };
  },
});

const hit = z.object({ id: z.string(), title: z.string(), section: z.string(), excerpt: z.string() });

export const searchKnowledge = defineTool({
  name: 'search_knowledge',
  description: 'Full-text search in the knowledge base. Understands "quoted phrases", or, and -excluded. Best first, at most 5.',
  input: z.strictObject({ query: z.string().trim().min(2).max(200) }),
  result: z.object({ articles: z.array(hit) }),
  effect: 'read',
  async run({ query }, { db }) {
    const articles = await db.query<z.output<typeof hit>>(
      `select id, title, section, ts_headline('english', body, q, 'MaxWords=30, MinWords=10, StartSel="", StopSel=""') as excerpt
       from articles, websearch_to_tsquery('english', $1) as q where search @@ q order by ts_rank(search, q) desc, id limit 5`,
      [query],
    );
    return { articles };
  },
});

export const getArticle = defineTool({
  name: 'get_article',
  description: 'Reads one article of the knowledge base.',
  input: z.strictObject({ article_id: z.string().regex(/^KB-\d{2,}$/, 'an article id such as KB-01') }),
  result: z.object({ id: z.string(), title: z.string(), section: z.string(), body: z.string(), updated_on: z.string() }),
  effect: 'read',
  failures: ['not_found'],
  async run({ article_id: id }, { db }) {
    const rows = await db.query<{ id: string; title: string; section: string; body: string; updated_on: string }>(
      'select id, title, section, body, updated_on::text from articles where id = $1',
      [id],
    );
    const row = rows[0];
    if (!row) throw new ToolFailure('not_found', `There is no article ${id}.`);
    return row;
  },
});
