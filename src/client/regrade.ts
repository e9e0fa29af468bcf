import { firstFinding } from '../domain/verdict.ts';
import { gradeInTime } from '../activities/grade-in-time.ts';
import { loadSuite } from '../suite/load-suite.ts';
import type { Root } from '../worker/root.ts';
import { NotFoundError, type RegradeReport } from './api.ts';

/** Grades a batch's stored records by the case files as they are now. Runs no agent; old verdicts stay. @throws {NotFoundError} @throws {GraderTimeoutError} */
export async function regrade(root: Root, batchId: string): Promise<RegradeReport> {
  const { store } = root;
  const batch = await store.batch(batchId);
  if (!batch) throw new NotFoundError(`there is no batch ${batchId}; \`trialbed ps\` lists them`);
  const suite = await loadSuite(batch.suiteFile, { environmentOptions: batch.environment.options });
  const cases = new Map(suite.cases.map((one) => [one.kase.id, one]));
  await store.putDocuments({ cases: suite.cases.map(({ hash, kase }) => ({ hash, kase })), agents: [] });
  const changed: RegradeReport['changed'][number][] = [];
  let regraded = 0;
  let skipped = 0;
  for (const trial of await store.trials(batchId)) {
    const kase = cases.get(trial.caseId);
    const record = trial.summary && (await store.record(trial.id, trial.attempt));
    // What was removed from a record cannot be graded.
    if (!kase || !record || record.removed !== undefined || !trial.summary) {
      skipped++;
      continue;
    }
    const verdict = gradeInTime(kase.kase, kase.hash, record);
    const before = (await store.verdicts(trial.id)).find((one) => one.current);
    await store.addVerdict(trial.id, trial.attempt, verdict);
    regraded++;
    const from = before?.pass ?? 'none';
    if (from !== verdict.pass)
      changed.push({ trial: trial.id, case: trial.caseId, agent: trial.agentName, from, to: verdict.pass, why: firstFinding(verdict) });
  }
  return { batch: batchId, regraded, unchanged: regraded - changed.length, changed, skipped };
}
