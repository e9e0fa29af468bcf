import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { differences, differenceText } from '../../src/cassettes/differences.ts';
import { normalised } from '../../src/cassettes/normalise.ts';
import { replayedEffects, replayedFaults, routeOf } from '../../src/cassettes/route.ts';
import { Shelf } from '../../src/cassettes/shelf.ts';
import { writeCassette } from '../../src/cassettes/write-cassette.ts';
import { casesOnCassettes, onVariantsOfItsOwn } from '../../src/client/cassettes/play.ts';
import type { Case } from '../../src/domain/case.ts';
import type { CaseCassette, Cassette, Interaction, NormalisationRule } from '../../src/domain/cassette.ts';
import { verdictDifferences } from '../../src/domain/cassette.ts';
import type { RowEffect } from '../../src/domain/effect.ts';
import { cassetteFile, readCassettes, startHash } from '../../src/suite/cassette-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import type { LoadedCase, Suite } from '../../src/suite/suite.ts';

const PASS = { pass: 'pass', outcome: 'pass', constraints: 'pass', effects: 'pass' } as const;
const row = (id: number): RowEffect => ({
  ...{ kind: 'row', seq: 1, table: 'refunds', change: 'insert', key: { id }, before: null, after: { id }, operation: null, at: '2026-03-02T08:30:00Z' },
});
const interaction = (tool: string, args: Interaction['args'], more: Partial<Interaction> = {}): Interaction => ({
  ...{ tool, args, scope: 'a'.repeat(16), schema: 'b'.repeat(16), told: 'committed', result: {}, problem: null, known: 'committed', effects: [] },
  ...more,
});
const cassetteOf = (interactions: readonly Interaction[], more: Partial<Cassette> = {}): Cassette => ({
  version: 1,
  case: 'only',
  variant: 'reference',
  binding: 'fixture',
  recorded: { agent: 'reference', schedule: 'none', environment: 'desk', generation: 'g', start: '0'.repeat(64), caseHash: 'c'.repeat(64), verdict: PASS },
  scopes: { ['a'.repeat(16)]: { role: 'agent' } },
  schemas: {},
  interactions,
  others: [],
  tables: { refunds: { key: ['id'], ignored: [], scale: {} } },
  referenceEffects: null,
  ...more,
});
const played = (interactions: readonly Interaction[], normalise: readonly NormalisationRule[] = []): CaseCassette => ({
  cassette: cassetteOf(interactions),
  normalise,
  caseHash: 'c'.repeat(64),
});

describe('a cassette answers', () => {
  const shelf = new Shelf(played([interaction('look', { id: 1 }), interaction('look', { id: 1 }), interaction('look', { a: 1, b: [2, 3.0] })]));
  const asked = (args: Interaction['args'], more: Partial<Interaction> = {}) => ({ ...interaction('look', args), ...more });
  const miss = (args: Interaction['args'], more: Partial<Interaction> = {}, used: readonly number[] = []) => {
    const found = shelf.find(asked(args, more), new Set(used));
    return typeof found === 'number' ? found : found.miss;
  };

  it('by canonical arguments, equal calls in their recorded order', () => {
    expect([miss({ id: 1 }), miss({ id: 1 }, {}, [0]), miss({ b: [2, 3], a: 1 })]).toEqual([0, 1, 2]);
  });

  it('nothing else, and names the nearest', () => {
    expect(miss({ id: 1 }, {}, [0, 1])).toBe('Cassette reference holds this call of look 2 times, and it was made once more.');
    expect(miss({ id: 2 })).toBe('Cassette reference holds no such call of look; the nearest is interaction 1, recorded with id 1, now 2.');
    expect(miss({ a: 1, b: [2, 4] })).toContain('interaction 3, recorded with b[1] 3, now 4.');
    expect(miss({ id: '1' })).toContain('recorded with id 1, now "1"');
    expect(miss({ id: 1, force: true })).toContain('recorded with force left out, now true');
    expect(miss({ id: 1 }, { schema: 'd'.repeat(16) })).toContain(`another schema of the tool (${'b'.repeat(16)}, now ${'d'.repeat(16)})`);
    expect(miss({ id: 1 }, { scope: 'e'.repeat(16) })).toContain('another permission scope');
    expect(miss({ id: 1 }, { tool: 'write' })).toBe('Cassette reference holds no call of write.');
  });

  it('secrets by their kind, since it has lost them', () => {
    const pay = new Shelf(played([interaction('pay', { card: '[card-number-3]', note: 'x' })]));
    expect(pay.find(interaction('pay', { card: '4111 1111 1111 1111', note: 'x' }), new Set())).toBe(0);
    expect(pay.find(interaction('pay', { card: '4111 1111 1111 1112', note: 'x' }), new Set())).toHaveProperty('miss');
  });
});

describe('rules of normalisation', () => {
  const rule = (field: string, as: NormalisationRule['as'], tool = 'search'): NormalisationRule => ({ tool, field, as, reason: 'It makes no difference.' });
  const same = (a: Interaction['args'], b: Interaction['args'], ...rules: readonly NormalisationRule[]) =>
    expect(normalised('search', a, rules)).toEqual(normalised('search', b, rules));

  it('let only their field be different', () => {
    same({ q: ' red   shoes ' }, { q: 'red shoes' }, rule('q', 'spaces'));
    same({ q: 'RED' }, { q: 'red' }, rule('q', 'caseless'));
    same({ a: { at: '2026-03-02T09:30:00+01:00' } }, { a: { at: '2026-03-02T08:30:00Z' } }, rule('a.at', 'instant'));
    same({ lines: [{ n: '1.50' }, { n: 2 }] }, { lines: [{ n: 1.5 }, { n: '2.0' }] }, rule('lines[].n', 'number'));
    same({ tags: ['b', 'a'] }, { tags: ['a', 'b'] }, rule('tags', 'unordered'));
    same({ to: ['Ann@Shop.test'] }, { to: ['ann@shop.test'] }, rule('to[]', 'mailbox'));
    same({ id: 'x', q: 1 }, { q: 1 }, rule('id', 'ignore'));
    same({ q: 'A' }, { q: 'a' }, rule('q', 'caseless', '*'));
    expect(normalised('search', { q: 'A', r: 'A' }, [rule('q', 'caseless')])).toEqual({ q: 'a', r: 'A' });
    expect(normalised('other', { q: 'A' }, [rule('q', 'caseless')])).toEqual({ q: 'A' });
    expect(normalised('search', { q: 7, tags: 'x' }, [rule('q', 'caseless'), rule('tags', 'unordered'), rule('none.there', 'ignore')])).toEqual({
      q: 7,
      tags: 'x',
    });
  });
});

describe('along a cassette', () => {
  const one = played([
    interaction('look', {}),
    interaction('refund', { id: 1 }, { effects: [row(1)] }),
    interaction('refund', { id: 2 }, { effects: [row(2)] }),
  ]);
  const answered = (...entries: readonly number[]) => entries.map((entry, index) => ({ operation: `op-${index + 1}`, entry }));

  it('effects come in the order of the calls, as replayed', () => {
    expect(replayedEffects(one, answered(2, 0, 1))).toMatchObject([
      { seq: 1, key: { id: 2 }, operation: 'op-1', replayed: true },
      { seq: 2, key: { id: 1 }, operation: 'op-3', replayed: true },
    ]);
  });

  it('a route is the recorded one only where every call is, in its order', () => {
    expect(routeOf(one, answered(0, 1, 2))).toEqual({ variant: 'reference', route: 'recorded', interactions: 3, unused: [], writesInOrder: true });
    expect(routeOf(one, answered(0, 1))).toMatchObject({ route: 'other', unused: [3], writesInOrder: true });
    expect(routeOf(one, answered(1, 0, 2))).toMatchObject({ route: 'other', unused: [], writesInOrder: true });
    expect(routeOf(one, answered(0, 2))).toMatchObject({ route: 'other', unused: [2], writesInOrder: false });
    expect(routeOf(one, answered(2, 1, 0))).toMatchObject({ route: 'other', writesInOrder: false });
  });

  it('faults are those of the calls that were answered', () => {
    const injected = (interaction: number | null) => ({ rule: 0, kind: 'slow' as const, on: 'x', position: 1, detail: '', at: '', interaction });
    const cassette = { ...one.cassette, faults: { rules: [], injected: [injected(2), injected(null), injected(3)] } };
    expect(replayedFaults({ ...one, cassette }, answered(0, 1))?.injected.map(({ operation }) => operation)).toEqual(['op-2', null]);
    expect(replayedFaults(one, answered(0))).toBeNull();
  });

  it('judgements that differ are named', () => {
    expect(verdictDifferences(PASS, { ...PASS, pass: 'fail', effects: 'fail' })).toEqual([
      { view: 'pass', recorded: 'pass', now: 'fail' },
      { view: 'effects', recorded: 'pass', now: 'fail' },
    ]);
  });
});

it('tells in which places two values differ', () => {
  const found = differences({ a: 1, b: [1, { c: 'x' }], d: null }, { a: 1, b: [1, { c: 'y' }, 3], e: 0 });
  expect(found.map(differenceText)).toEqual(['b[1].c: "x" -> "y"', 'b[2]: not there -> 3', 'd: null -> not there', 'e: not there -> 0']);
});

describe('files of cassettes', () => {
  let folder: string;
  let suite: Suite;
  let loaded: LoadedCase;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-cassette-files-'));
    const desk = await loadSuite('support-desk', { cases: ['price-question'] });
    const [kase] = desk.cases;
    if (!kase) throw new Error('the suite has no such case');
    loaded = kase;
    suite = { ...desk, file: join(folder, 'suite.yaml') };
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const put = async (variant: string, change: (cassette: Cassette) => unknown = (cassette) => cassette) => {
    const cassette = cassetteOf([interaction('get_price', { sku: 'A' })], { case: 'price-question', variant });
    const recorded = { ...cassette.recorded, agent: variant.split('.')[0] ?? '', start: startHash(loaded.kase) };
    const file = cassetteFile(join(folder, 'cassettes'), 'price-question', variant);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(change({ ...cassette, recorded }), null, 2));
    return file;
  };
  const read = () => readCassettes(join(folder, 'cassettes'), 'price-question');

  it('are read as they were written, and what is wrong is told with its line', async () => {
    await put('careful');
    expect(await read()).toMatchObject([{ variant: 'careful', interactions: [{ tool: 'get_price' }] }]);
    const file = await put('wrong', (cassette) => ({ ...cassette, binding: 'production' }));
    await expect(read()).rejects.toThrow(/wrong\.json:5:\d+: binding: expected "fixture" or "sandbox" or "trace", found "production"/);
    await put('wrong', (cassette) => ({ ...cassette, variant: 'other' }));
    await expect(read()).rejects.toThrow('this is the cassette "other" of case "price-question"');
    await writeFile(file, '{ "version": 1,');
    await expect(read()).rejects.toThrow('wrong.json');
    await rm(file);
  });

  it('are not written with anything that looks like a secret in them', async () => {
    const key = ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_');
    const file = join(folder, 'leaky.json');
    await expect(writeCassette(file, cassetteOf([interaction('look', { note: `use ${key}` })]))).rejects.toThrow('still holds what looks like a api-key');
    await expect(rm(file)).rejects.toThrow('ENOENT');
  });

  it('are played each as a case of its own, an agent on those that were recorded with it', async () => {
    await put('careful.slow');
    await put('reference');
    const cases = await casesOnCassettes(suite, [loaded], {});
    expect(cases.map(({ kase }) => kase.id)).toEqual(['price-question@careful', 'price-question@careful.slow', 'price-question@reference']);
    expect(new Set(cases.map(({ hash }) => hash)).size).toBe(3);
    const agents = ['careful', 'reference', 'new'].map((name) => ({ spec: { kind: 'reference', name, version: '1' } as const, hash: name }));
    const trials = agents.flatMap((agent) => cases.map((kase) => ({ kase, agent, schedule: null, repetition: 1 })));
    expect(onVariantsOfItsOwn(trials).map(({ kase, agent }) => `${agent.spec.name} ${kase.kase.cassette?.cassette.variant}`)).toEqual([
      'careful careful',
      'careful careful.slow',
      'reference reference',
      'new careful',
      'new careful.slow',
      'new reference',
    ]);
    expect((await casesOnCassettes(suite, [loaded], { variants: ['*.slow'] })).map(({ kase }) => kase.id)).toEqual(['price-question@careful.slow']);
  });

  it('are refused where there is none, and where the case begins otherwise today', async () => {
    await expect(casesOnCassettes(suite, [loaded], { variants: ['none'] })).rejects.toThrow('there is no cassette "none" of price-question');
    const changed: Case = { ...loaded.kase, clock: '2027-01-01T00:00:00Z' };
    await expect(casesOnCassettes(suite, [{ ...loaded, kase: changed }], {})).rejects.toThrow('recorded when the case began otherwise');
    const expectsMore: Case = { ...loaded.kase, expect: { ...loaded.kase.expect, claims: [] } };
    expect(await casesOnCassettes(suite, [{ ...loaded, kase: expectsMore }], {})).toHaveLength(3);
  });
});
