import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { validate } from '../../src/client/validate.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');

/** A sample; all of them: `trialbed validate` on the imported suite. */
describe.skipIf(!datasets.met)(skipTitle('mutants of retail solutions', datasets), () => {
  let testbed: Testbed;
  let folder: string;
  let suite: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-mutants-'));
    ({ suite } = await importTauBench({ data: join(DATASETS, 'tau-bench-retail'), out: folder }));
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  // A write that is refused (12), one that a later call overwrites (22), one of what is there already (111); and one task with texts to say (2).
  it('fail, or the case explains them; a write made twice ends as the solution does and fails by the ledger alone', { timeout: 300_000 }, async () => {
    const cases = ['test-2', 'test-12', 'test-22', 'test-111'];
    const work = async () => ({ taskQueue: testbed.config.taskQueue, broken: new Promise<never>(() => {}) });
    const report = await validate(testbed.root, suite, { cases }, work);
    expect(report.results.filter((result) => !result.ok)).toEqual([]);
    const survivors = report.results
      .filter((result) => result.explained !== null && result.verdict === 'pass')
      .map((result) => `${result.case} ${result.variant}`);
    expect(survivors.filter((name) => name.includes(' drop:'))).toEqual(['test-111 drop:2', 'test-12 drop:5', 'test-22 drop:2']);
    expect(survivors.filter((name) => name.includes(' repeat:'))).toEqual(['test-12 repeat:5']);
    const repeat = report.kinds.find((kind) => kind.kind === 'repeat');
    expect(repeat?.survived).toBe(0);
    expect(repeat?.explained).toBe(1);
    // Address changes may be made twice in silence; other writes are refused the second time.
    const { findings, made } = repeat?.sameEnd ?? { findings: {}, made: 0 };
    expect(made).toBe(repeat?.made);
    expect(findings).toEqual({ refused_repeat: expect.any(Number), repeated_write: expect.any(Number) });
    expect((findings['refused_repeat'] ?? 0) + (findings['repeated_write'] ?? 0)).toBe(repeat?.killed);
  });
});
