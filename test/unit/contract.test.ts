import { describe, expect, it } from 'vitest';
import { driftText, shapeDrift } from '../../src/contract/drift.ts';
import { schemaDrift } from '../../src/contract/schema-drift.ts';
import { shapeOf, shapeText } from '../../src/contract/shape.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';

const TICKET = { id: 1, subject: 'A lamp', status: 'open', requester: { mail: 'a@example.org' }, tags: ['x'], comments: [{ author: 'mara', public: true }] };
const drifts = (recorded: readonly Json[], now: readonly Json[]) => shapeDrift(shapeOf(recorded), shapeOf(now), 'result').map(driftText);

describe('shapes of replies', () => {
  it('are learned from examples: types, keys, which of them are optional, and words of which there are few', () => {
    const examples = ['open', 'open', 'solved', 'open', 'solved'].map((status, id) => ({ id, status, ...(id > 2 && { note: null }), name: `n${id} m` }));
    expect(shapeText(shapeOf(examples))).toBe('{id: number, name: text, note?: null, status: open | solved}');
    expect(shapeText(shapeOf([[{ a: 1 }, { a: 'x', b: true }], []]))).toBe('list of {a: number or text, b?: boolean}');
    expect(shapeText(shapeOf([null]))).toBe('null');
  });

  it('are the same whatever the values are', () => {
    const other = { id: 99.5, subject: '', status: 'solved', requester: { mail: 'b' }, tags: [], comments: [] };
    expect(drifts([TICKET], [TICKET])).toEqual([]);
    expect(drifts([TICKET], [other])).toEqual([]);
    expect(drifts([{ at: null }], [{ at: '2026-03-02' }])).toEqual([]);
    expect(drifts([{ at: '2026-03-02' }], [{ at: null }])).toEqual([]);
    expect(drifts([{ a: 1, note: 'x' }, { a: 1 }], [{ a: 2 }])).toEqual([]);
  });

  it('a field that has another name is named with both', () => {
    const { subject, ...rest } = TICKET;
    expect(drifts([TICKET], [{ ...rest, title: subject }])).toEqual(['result.subject has another name: subject: text, now title: text']);
    expect(drifts([TICKET], [{ ...TICKET, comments: [{ by: 'mara', public: true }] }])).toEqual([
      'result.comments[].author has another name: author: text, now by: text',
    ]);
  });

  it('a type that changed, within lists and objects too', () => {
    expect(drifts([TICKET], [{ ...TICKET, id: 'T-1' }])).toEqual(['result.id has another type: number, now text']);
    expect(drifts([TICKET], [{ ...TICKET, tags: [{ name: 'x' }] }])).toEqual(['result.tags[] has another type: text, now {name: text}']);
    expect(drifts([TICKET], [{ ...TICKET, requester: 'a@example.org' }])).toEqual(['result.requester has another type: {mail: text}, now text']);
  });

  it('a key that is gone, new, or not always there', () => {
    const { id: _, ...rest } = TICKET;
    expect(drifts([TICKET], [rest])).toEqual(['result.id is gone: number, now nothing']);
    expect(drifts([TICKET], [{ ...TICKET, urgent: true }])).toEqual(['result.urgent is new: nothing, now boolean']);
    expect(drifts([TICKET], [TICKET, rest])).toEqual(['result.id is not always there: number, now number']);
  });

  it('a value that an enumeration did not have, and none where there was no enumeration', () => {
    const statuses = ['open', 'open', 'solved', 'solved', 'open'].map((status) => ({ status }));
    expect(drifts(statuses, [{ status: 'archived' }])).toEqual(['result.status has values that were not there: open | solved, now open | solved | archived']);
    expect(drifts(statuses, [{ status: 'open' }])).toEqual([]);
    expect(
      drifts(
        ['Ann', 'Bob', 'Cid', 'Dan', 'Eve'].map((name) => ({ name })),
        [{ name: 'Fay' }],
      ),
    ).toEqual([]);
  });
});

describe('what a tool takes', () => {
  const SCHEMA = {
    type: 'object',
    properties: {
      order_id: { type: 'integer', description: 'Of the order.' },
      reason: { enum: ['damaged', 'lost'] },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
    },
    required: ['order_id'],
  } as const;
  const { properties } = SCHEMA;
  const drift = (now: JsonObject) => schemaDrift(SCHEMA as unknown as JsonObject, now, 'arguments').map(driftText);
  const changed = (more: JsonObject, required: readonly string[] = SCHEMA.required): JsonObject =>
    ({ ...SCHEMA, properties: { ...properties, ...more }, required }) as unknown as JsonObject;

  it('is the same where only texts differ', () => {
    expect(drift(SCHEMA as unknown as JsonObject)).toEqual([]);
    expect(drift(changed({ order_id: { type: 'integer', description: 'Its number.' } }))).toEqual([]);
  });

  it('a parameter that is required now, new or not', () => {
    expect(drift(changed({ currency: { type: 'string' } }, ['order_id', 'currency']))).toEqual(['arguments.currency is required: nothing, now string']);
    expect(drift(changed({}, ['order_id', 'reason']))).toEqual(['arguments.reason is required: "damaged" | "lost", now "damaged" | "lost"']);
    expect(drift(changed({ note: { type: 'string' } }))).toEqual(['arguments.note is new: nothing, now string']);
  });

  it('a parameter with another name or type, or that is gone', () => {
    const { order_id, ...rest } = properties;
    expect(drift({ ...SCHEMA, properties: { ...rest, order: order_id }, required: ['order'] } as unknown as JsonObject)).toEqual([
      'arguments.order_id has another name: order_id: integer, now order: integer',
    ]);
    expect(drift({ ...SCHEMA, properties: rest, required: [] } as unknown as JsonObject)).toEqual(['arguments.order_id is gone: integer, now nothing']);
    expect(drift(changed({ order_id: { type: 'string' } }))).toEqual(['arguments.order_id has another type: integer, now string']);
    const items = { type: 'object', properties: { sku: { type: 'integer' } }, required: ['sku'] };
    expect(drift(changed({ lines: { type: 'array', items } }))).toEqual(['arguments.lines[].sku has another type: string, now integer']);
  });

  it('a value of an enumeration that is new or gone', () => {
    expect(drift(changed({ reason: { enum: ['damaged', 'lost', 'late'] } }))).toEqual([
      'arguments.reason has values that were not there: "damaged" | "lost", now "damaged" | "lost" | "late"',
    ]);
    expect(drift(changed({ reason: { enum: ['damaged'] } }))).toEqual(['arguments.reason takes fewer values: "damaged" | "lost", now "damaged"']);
  });
});
