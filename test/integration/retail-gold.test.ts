import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Effect } from '../../src/domain/effect.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import { netEffects } from '../../src/domain/grading/net.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { canonicalText } from '../../src/domain/text/canonical.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import type { LoadedCase } from '../../src/suite/suite.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type Mall, openMall } from './retail-world.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'tau-bench-retail');

type Step = { readonly call: string; readonly with: JsonObject };

interface Played {
  readonly said: readonly string[];
  readonly effects: readonly Effect[];
  /** By the case, against the gold's own end state. */
  readonly verdict: Verdict;
}

/** The published solutions and what becomes of them when a write is left out or made twice, against the published results. */
describe.skipIf(!datasets.met)(skipTitle('the published retail references', datasets), () => {
  let mall: Mall;
  let folder: string;
  let cases: readonly LoadedCase[];
  const goldEffects = new Map<string, readonly Effect[]>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-'));
    const { suite } = await importTauBench({ data, out: folder });
    cases = (await loadSuite(suite)).cases;
    mall = await openMall(inject('services').postgresUrl, data);
  });

  afterAll(async () => {
    await mall?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const caseOf = (task: number): LoadedCase => {
    const found = cases.find(({ kase }) => kase.id === `test-${task}`);
    if (!found) throw new Error(`no case of task ${task}`);
    return found;
  };
  const goldOf = (task: number): readonly Step[] => caseOf(task).kase.reference.steps as readonly Step[];

  const play = async (task: number, steps: readonly Step[], answer = caseOf(task).kase.reference.answer): Promise<Played> => {
    const { kase, hash } = caseOf(task);
    await using world = await mall.open();
    const said: string[] = [];
    for (const step of steps) said.push(await world.call(step.call, step.with));
    const record = await world.record(answer);
    const isGold = steps === kase.reference.steps;
    if (isGold) goldEffects.set(kase.id, record.effects);
    const referenceEffects = goldEffects.get(kase.id) ?? (isGold ? record.effects : null);
    return { said, effects: netEffects(record.effects, record.tables), verdict: grade(kase, hash, { ...record, referenceEffects }) };
  };

  it('each gold call is answered as published, each gold end state passes, and the changed rows are the published ones', { timeout: 240_000 }, async () => {
    const published = readLines<{ task: number; steps: readonly { observation: string; error: boolean }[] }>('tau_retail_test_reference.jsonl');
    const diffs = readLines<{ task: number; changed_rows_after_gold: JsonObject }>('tau_retail_test_gold_diffs.jsonl');
    const counts = { observations: 0, spelled: 0, errors: 0, rows: 0, changed: 0, passed: 0 };
    const wrong: string[] = [];
    for (const { task, steps } of published) {
      const { said, effects, verdict } = await play(task, goldOf(task));
      for (const [at, step] of steps.entries()) {
        counts.observations += 1;
        if (said[at] === step.observation) counts.spelled += 1;
        if (step.error) counts.errors += 1;
        if (!sameText(said[at] ?? '', step.observation)) wrong.push(`task ${task}, step ${at}: ${said[at]} instead of ${step.observation}`);
      }
      const rows = changedRows(effects);
      counts.rows += Object.values(rows).flatMap((table) => Object.keys(table as JsonObject)).length;
      if (Object.keys(rows).length > 0) counts.changed += 1;
      if (canonicalText(rounded(rows)) !== canonicalText(rounded(diffs[task]?.changed_rows_after_gold ?? null))) wrong.push(`task ${task}: other rows`);
      if (verdict.pass === 'pass') counts.passed += 1;
      else wrong.push(`task ${task}: ${JSON.stringify([verdict.outcome, verdict.effects, verdict.constraints])}`);
    }
    process.stdout.write(`retail gold: ${JSON.stringify(counts)}\n`);
    expect(wrong).toEqual([]);
    expect(counts).toMatchObject({ observations: 582, errors: 24, rows: 170, changed: 104, passed: 115 });
  });

  it('a write that is left out is noticed, and one that is made twice leaves the state equal and is in the ledger', { timeout: 480_000 }, async () => {
    const published = readLines<{
      task: number;
      empty_equal: boolean;
      mutations: readonly { step: number; name: string; drop_equal: boolean; dup_equal: boolean; dup_observation_error: boolean }[];
    }>('tau_retail_test_mutations.jsonl');
    const counts = { writes: 0, dropFails: 0, equalWhenTwice: 0, flagged: 0, refused: 0, silent: 0 };
    const unnoticed: number[] = [];
    const wrong: string[] = [];
    for (const { task, mutations } of published) {
      const gold = goldOf(task);
      if (mutations.length > 0 && !goldEffects.has(`test-${task}`)) await play(task, gold);
      for (const { step, name, drop_equal, dup_equal, dup_observation_error } of mutations) {
        const what = `task ${task}, step ${step} (${name})`;
        counts.writes += 1;
        const dropped = await play(task, gold.toSpliced(step, 1));
        if (dropped.verdict.pass === 'fail') counts.dropFails += 1;
        else unnoticed.push(task);
        if ((dropped.verdict.pass === 'pass') !== drop_equal) wrong.push(`${what} left out: ${dropped.verdict.pass}`);

        const twice = await play(task, gold.toSpliced(step, 0, gold[step] as Step));
        const { outcome, effects, constraints, pass } = twice.verdict;
        const equal = outcome.judgement === 'pass' && effects.judgement === 'pass';
        const codes = constraints.findings.map((finding) => finding.code);
        const refused = codes.join() === 'refused_repeat';
        const silent = codes.join() === 'repeated_write';
        if (equal) counts.equalWhenTwice += 1;
        if (pass === 'fail' && (refused || silent)) counts.flagged += 1;
        if (refused) counts.refused += 1;
        if (silent) counts.silent += 1;
        if (equal !== dup_equal || refused !== dup_observation_error || refused !== twice.said[step + 1]?.startsWith('Error: '))
          wrong.push(`${what} made twice: ${equal}, ${codes.join()}, ${twice.said[step + 1]}`);
      }
    }
    process.stdout.write(`retail mutations: ${JSON.stringify(counts)}\n`);
    expect(wrong).toEqual([]);
    expect(counts).toEqual({ writes: 174, dropFails: 172, equalWhenTwice: 174, flagged: 174, refused: 139, silent: 35 });
    expect(unnoticed).toEqual([22, 111]);
  });
});

function readLines<T>(file: string): readonly T[] {
  return readFileSync(join(data, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

/** Rows after the gold, in the form of the published diffs: by table and key, absent members left out. */
function changedRows(effects: readonly Effect[]): JsonObject {
  const tables: Record<string, Record<string, Json>> = {};
  for (const effect of effects) {
    if (effect.kind !== 'row' || effect.after === null) throw new Error('the shop deletes no row and sends no mail');
    const { user_id: userId, ...user } = effect.after;
    const row = effect.table === 'users' ? user : { user_id: userId ?? null, ...user };
    const key = String(Object.values(effect.key)[0]);
    tables[effect.table] = { ...tables[effect.table], [key]: Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) };
  }
  return tables;
}

/** Equal as parsed JSON, money at 2 decimals; else as text. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [parsed(a), parsed(b)];
  return a === b || (left !== undefined && right !== undefined && canonicalText(rounded(left)) === canonicalText(rounded(right)));
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function rounded(value: Json): Json {
  if (typeof value === 'number') return Math.round(value * 100) / 100;
  if (Array.isArray(value)) return value.map(rounded);
  return value === null || typeof value !== 'object' ? value : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item)]));
}
