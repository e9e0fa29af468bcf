import type { ConfirmAbove } from '../domain/confirmation.ts';
import { requireGateLabels } from '../domain/gates/gate-labels.ts';
import { loadEnvironment } from '../environments/load.ts';
import { requireAccess } from './agent-access.ts';
import type { RegradeRunsRequest, RunRequest } from './api.ts';
import { requireFinishedCassettes } from './cassettes/draft-problems.ts';
import { casesOnCassettes, requireNoAccess } from './cassettes/play.ts';
import { planRecording, type RecordRequest } from './cassettes/record.ts';
import { type RecordedRuns, readRecordedRuns } from './recorded-runs.ts';
import { readSuite, suiteRequestOf } from './read-suite.ts';
import { selectCases, selectShard, tagsOf, trialsOf } from './select.ts';
import { selectSchedules } from './select-schedules.ts';

/**
 * What can be said of a request before any service is there: each of these throws as the client's call of the same request would, and does nothing
 * else. What only a database or a store knows (tables and columns, batches) is told by the call itself.
 */
export const checks: Checks = {
  async run(request) {
    const { suite, agents } = await readSuite(suiteRequestOf(request), { loadEnvironment });
    requireAccess(agents, request.isolation ?? 'schema');
    requireGateLabels(request.gates ?? [], tagsOf(suite.cases));
    const selected = selectCases(suite.cases, request);
    if (request.cassettes) requireNoAccess(agents);
    const cases = request.cassettes ? await casesOnCassettes(suite, selected, request.cassettes) : selected;
    const schedules = request.cassettes ? [null] : selectSchedules(suite, cases, request);
    const trials = trialsOf(cases, schedules, agents, request.trials ?? suite.defaults.trials);
    // What failed last is known to the store alone.
    if (request.lastFailed !== true) selectShard(trials, request.shard);
    return { confirmAbove: suite.defaults.confirmAbove ?? {} };
  },
  async validation(suite, options = {}) {
    const read = await readSuite({ suite, environmentOptions: {}, agents: 'every' }, { loadEnvironment });
    await requireFinishedCassettes(read.suite, selectCases(read.suite.cases, options));
  },
  async recording(request) {
    await planRecording({ loadEnvironment }, request);
  },
  async recordedRuns(request) {
    const read = await readRecordedRuns(request);
    await loadEnvironment(read.format.environment(read.data));
    return read;
  },
};

export interface Checks {
  /** @throws {SuiteFileError} @throws {NothingToRunError} @throws {GateSyntaxError} */
  run(request: RunRequest): Promise<{ readonly confirmAbove: ConfirmAbove }>;
  /** @throws {SuiteFileError} @throws {NothingToRunError} */
  validation(suite: string, options?: { readonly cases?: readonly string[] }): Promise<void>;
  /** @throws {CassetteError} @throws {SuiteFileError} @throws {NothingToRunError} */
  recording(request: RecordRequest): Promise<void>;
  /** Gives what it has read, as the request's `read`. @throws {RecordedRunsError} */
  recordedRuns(request: RegradeRunsRequest): Promise<RecordedRuns>;
}
