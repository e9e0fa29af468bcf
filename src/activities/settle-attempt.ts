import type { TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { SettleRequest, TrialActivities } from './contract.ts';
import type { ActivityServices } from './services.ts';

export interface SettleServices extends Pick<ActivityServices, 'failpoint' | 'log'> {
  readonly phase: (phase: TrialPhase) => Promise<void>;
  /** Raised where the workflow has given this try up: another goes over the same steps, and must not find its world taken away by this one. */
  readonly signal: AbortSignal;
}

/**
 * Ends an attempt by the steps that otherwise are activities of their own, in their order. Each is idempotent, so that whoever finds that this failed repeats them one by one.
 *
 * @throws what failed before the verdict stood. A snapshot that cannot be kept, or a world that cannot be released, decides nothing.
 */
export async function settleAttempt(
  steps: Pick<TrialActivities, 'fence' | 'gradeTrial' | 'keepWorld' | 'releaseWorld' | 'finishAttempt'>,
  { phase, failpoint, log, signal }: SettleServices,
  { keep, calls, durationMs, agentMs, disturbed, reportTo, ...request }: SettleRequest,
): Promise<TrialSummary> {
  const { trial, attempt, world, ending, problem } = request;
  const at = { trial, attempt, world };
  const startedAt = performance.now();
  failpoint('entered_fence');
  await steps.fence(at);
  signal.throwIfAborted();
  await phase('grade');
  failpoint('entered_grade');
  const grade = await steps.gradeTrial(request);
  const wanted = keep === 'always' || (keep === 'failed' && grade.pass !== 'pass');
  const snapshot = wanted
    ? await steps.keepWorld(at).catch((error: unknown) => {
        log.warn({ trial, attempt, err: error }, 'the snapshot could not be kept');
        return null;
      })
    : null;
  signal.throwIfAborted();
  failpoint('entered_release');
  await steps.releaseWorld(at).catch((error: unknown) => log.warn({ trial, attempt, err: error }, 'the world could not be released; the sweeper will find it'));
  const took = durationMs + Math.round(performance.now() - startedAt);
  return steps.finishAttempt({
    trial,
    attempt,
    ending,
    grade,
    problem,
    calls,
    durationMs: took,
    ...(agentMs !== undefined && { agentMs }),
    disturbed,
    snapshot,
    ...(reportTo !== undefined && { reportTo }),
  });
}
