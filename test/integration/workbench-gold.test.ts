import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RowEffect } from '../../src/domain/effect.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { parseCall } from '../../src/environments/workbench/calls.ts';
import { readTasks } from '../../src/environments/workbench/tasks.ts';
import { VARIANTS } from '../../src/recorded/workbench-mutations.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type Bench, openBench } from './workbench-world.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'workbench');

interface Row {
  readonly domain: string;
  readonly row: number;
  readonly gold: readonly string[];
  readonly verdicts: { readonly [variant: string]: readonly [correct: boolean, sideEffects: boolean] };
}

/**
 * Solutions of WorkBench and what becomes of them when they are spoilt, against the published verdicts. Two end states are equal when every touched row is, by
 * the published normalisation; positions stand for the order of rows.
 */
describe.skipIf(!datasets.met)(skipTitle('the published verdicts', datasets), () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await openBench(inject('services').postgresUrl, { data });
  });

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
  });

  const states = new Map<string, Promise<State>>();
  const stateAfter = (calls: readonly string[]): Promise<State> => {
    const key = JSON.stringify(calls);
    const state = states.get(key) ?? run(bench, calls);
    states.set(key, state);
    return state;
  };

  it.each([
    ['email', 'each of', 90],
    ['project_management', 'each of', 80],
    ['analytics', 'the first of each template of', 12],
    ['calendar', 'the first of each template of', 11],
    ['customer_relationship_manager', 'the first of each template of', 8],
    ['multi_domain', 'the first of each template of', 21],
  ])('of %s come out, for %s its tasks (%i) and all ways to spoil them', { timeout: 240_000 }, async (domain, which, tasks) => {
    const templates = readTasks(data, domain).map((task) => task.baseTemplate);
    const rows = readRows().filter((row) => row.domain === domain && (which === 'each of' || templates.indexOf(templates[row.row] ?? '') === row.row));
    expect(rows).toHaveLength(tasks);
    const wrong: string[] = [];
    let compared = 0;
    for (const row of rows) {
      const gold = await stateAfter(row.gold);
      for (const [variant, published] of Object.entries(row.verdicts)) {
        const spoil = VARIANTS[variant];
        if (!spoil) throw new Error(`unknown variant ${variant}`);
        const state = await stateAfter(spoil(row.gold));
        const correct = sameState(state, gold);
        const sideEffects = state.size > 0 && !correct;
        compared += 1;
        if (correct !== published[0] || sideEffects !== published[1])
          wrong.push(`${domain} ${row.row} ${variant}: ${correct},${sideEffects} instead of ${published}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBe(rows.reduce((sum, row) => sum + Object.keys(row.verdicts).length, 0));
  });
});

/** Rows that are not as they were, by table and key. */
type State = ReadonlyMap<string, { readonly before: JsonObject | null; readonly after: JsonObject | null }>;

async function run(bench: Bench, calls: readonly string[]): Promise<State> {
  await using world = await bench.open();
  for (const source of calls) {
    const call = parseCall(source);
    if (!call.ok) throw new Error(call.problem);
    await world.call(call.tool, call.args);
  }
  return netOf(await world.effects());
}

function netOf(effects: readonly RowEffect[]): State {
  const net = new Map<string, { before: JsonObject | null; after: JsonObject | null }>();
  for (const { table, key, before, after } of effects) {
    const id = JSON.stringify([table, key]);
    const known = net.get(id);
    net.set(id, { before: known ? known.before : before, after });
  }
  for (const [id, { before, after }] of net) if (JSON.stringify(before) === JSON.stringify(after)) net.delete(id);
  return net;
}

function sameState(one: State, other: State): boolean {
  return [...new Set([...one.keys(), ...other.keys()])].every((id) => {
    const [a, b] = [one.get(id), other.get(id)];
    // A row that only one of them touched is in the other as it was.
    const before = a?.before ?? b?.before ?? null;
    return JSON.stringify(normalised(a ? a.after : before)) === JSON.stringify(normalised(b ? b.after : before));
  });
}

/** Letter case does not matter except where a column holds one of a few words. */
function normalised(row: JsonObject | null): JsonObject | null {
  if (row === null) return null;
  const exact = ['status', 'list_name', 'board'];
  return Object.fromEntries(
    Object.entries(row).map(([column, cell]) => [column, typeof cell === 'string' && !exact.includes(column) ? cell.toLowerCase() : cell]),
  );
}

function readRows(): readonly Row[] {
  return readFileSync(join(data, 'gold_mutations.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}
