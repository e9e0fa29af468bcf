import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { MailEffect, RowEffect } from '../../src/domain/effect.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Finding, Verdict } from '../../src/domain/verdict.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import type { TestServices } from '../harness/services.ts';
import { startTestbed, type Testbed, type TestbedOptions } from '../harness/testbed.ts';

/** What a case of the page is tried with: an agent, a case and rules of a fault schedule, as their files have them. */
export interface Try {
  /** Default: the pack `counter`. */
  readonly environment?: Json;
  readonly agent: JsonObject;
  readonly kase?: JsonObject;
  readonly faults?: readonly JsonObject[];
}

export interface Played {
  readonly trial: TrialSummary;
  readonly record: TrialRecord;
  readonly verdict: Verdict;
}

/** A store, a worker and a folder for suites, of one test file. */
export interface Bench extends AsyncDisposable {
  readonly testbed: Testbed;
  readonly folder: string;
  /** Writes a suite of one case. */
  write(tried: Try): Promise<{ readonly suite: string; readonly agents: readonly [string]; readonly faults?: readonly string[] }>;
  /** Runs its one trial. */
  play(tried: Try): Promise<Played>;
  /** What is stored of a trial. */
  stored(trial: TrialSummary): Promise<Played>;
}

/** The pack whose production retries as `runtime` says, and forwards what it is given. */
export const counter = (runtime: JsonObject = {}): JsonObject => ({ use: resolve('test/fixtures/packs/counter/pack.ts'), with: { runtime } });

export const script = (steps: readonly JsonObject[], answer = 'Done.'): JsonObject => ({ kind: 'script', steps: [...steps], answer });

export const module = (file: string, parameters: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  kind: 'module',
  file: resolve('test/fixtures/agents', file),
  parameters,
  ...more,
});

/** A case that accepts exactly these effects. */
export const expecting = (...effects: readonly JsonObject[]): JsonObject => ({
  expect: { outcomes: [{ name: 'as asked', effects: [...effects] }] },
  expects_nothing: false,
});

export async function startBench(services: TestServices, options: TestbedOptions = {}): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-public-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const testbed = stack.use(await startTestbed(services, options));
  const owned = stack.move();
  let count = 0;
  const write: Bench['write'] = async ({ environment = counter(), agent, kase = {}, faults }) => {
    const parts = { environment, agent, kase, ...(faults && { faults: { wrong: { faults: [...faults] } } }) };
    const suite = await writeOneCaseSuite(folder, `public-${++count}`, parts);
    return { ...suite, ...(faults && { faults: ['wrong'] }) };
  };
  const stored: Bench['stored'] = async (trial) => {
    const [record, verdicts] = await Promise.all([testbed.root.store.record(trial.trial, trial.attempt), testbed.root.store.verdicts(trial.trial)]);
    const verdict = verdicts.find((one) => one.current);
    if (!record || !verdict) throw new Error(`the trial has no record or no verdict: ${JSON.stringify(trial)}`);
    return { trial, record, verdict };
  };
  return {
    testbed,
    folder,
    write,
    stored,
    async play(tried) {
      const { trials } = await testbed.run({ ...(await write(tried)), keep: 'never' });
      const [trial] = trials;
      if (!trial) throw new Error('the batch has no trial');
      return stored(trial);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Of each call: its tool, what the agent was told, what the systems of record know, and the code of its problem. */
export const told = (record: TrialRecord) => record.operations.map(({ tool, told, known, problem }) => [tool, told, known, problem?.code ?? null]);

/** Mails that the inbox keeps. */
export const mails = (record: TrialRecord): readonly MailEffect[] =>
  record.effects.filter((effect) => effect.kind === 'mail' && effect.accepted) as MailEffect[];

export const rows = (record: TrialRecord, table: string): readonly RowEffect[] =>
  record.effects.filter((effect) => effect.kind === 'row' && effect.table === table) as RowEffect[];

/** Findings that fail the trial. */
export const failures = (verdict: Verdict): readonly Finding[] =>
  [verdict.outcome, verdict.constraints, verdict.effects].flatMap(({ findings }) => findings.filter(({ judgement }) => judgement === 'fail'));

export const codes = (verdict: Verdict): readonly string[] => [...new Set(failures(verdict).map(({ code }) => code))].sort();
