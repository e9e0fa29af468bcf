import { activityEvidence, activityName, gatewayEvidence } from './evidence.ts';
import { type Found, said } from './found.ts';
import { ago, secondsBetween, since, until } from './times.ts';
import type { TrialFacts } from './trial-facts.ts';
import type { WorkflowLook } from './workflow-look.ts';

type Activity = WorkflowLook['activities'][number];

/** A sign of life comes every two seconds, and is passed on as often; what has given none for longer may be lost. */
const SILENT_SECONDS = 6;
const CONVERSES = 'converse';
const ASKS_MODELS: ReadonlySet<string> = new Set(['callModel', 'askUserModel']);
const MODEL_UNAVAILABLE = 'ModelUnavailable';

/** What a trial waits for that has activities under way: of several, the one that says the most. Null: it has none. */
export function explainActivity(facts: TrialFacts, { activities }: WorkflowLook): Found | null {
  const found = activities.toSorted((a, b) => rank(facts, a) - rank(facts, b)).map((activity) => explained(facts, activity));
  return found[0] ?? null;
}

/** An agent that converses waits for its calls, so they say more than it does. */
function rank({ now }: TrialFacts, activity: Activity): number {
  if (isModelWait(activity) || activity.lastFailure !== null) return 0;
  if (isSilent(now, activity)) return 1;
  return activity.activity === CONVERSES ? 3 : 2;
}

function explained(facts: TrialFacts, activity: Activity): Found {
  const { now, gateways, standing, trial } = facts;
  const evidence = [activityEvidence(now, activity)];
  const { attempt, state, startedAt, scheduledAt, lastHeartbeatAt, nextTryAt, lastFailure } = activity;
  const name = activityName(activity);
  const failed = lastFailure === null ? '' : `; the last failure was ${lastFailure.type}: ${said(lastFailure.message)}`;
  const next = nextTryAt !== null && Date.parse(nextTryAt) > now.getTime() ? `is tried again in ${until(now, nextTryAt)}` : 'is being tried again';
  const wait = standing?.modelWaitUntil ?? null;
  if (isModelWait(activity) || (wait !== null && (ASKS_MODELS.has(activity.activity) || activity.activity === CONVERSES))) {
    const limit = wait === null ? '' : `, and its worker waits for the rate limit for ${until(now, wait)} more`;
    const model = wait === null ? [] : [{ kind: 'model' as const, until: wait, text: `rate limit of a model until ${wait}` }];
    const tried = isModelWait(activity) ? `, attempt ${attempt}, ${next}` : '';
    return { cause: 'model', sentence: `it waits for a model: ${name}${tried}${limit}${failed}`, evidence: [...evidence, ...model], next: null };
  }
  const lost = activity.activity === CONVERSES ? gateways.find(({ problem }) => problem !== null) : undefined;
  if (lost && state === 'started') {
    return {
      cause: 'gateway',
      sentence: `it waits for its gateway: ${lost.url}, by which its agent calls tools, does not answer from here (${lost.problem}); ${name} runs for ${since(now, startedAt ?? scheduledAt ?? now.toISOString())}`,
      evidence: [gatewayEvidence(lost), ...evidence],
      next: 'Make the address of the gateway reachable again (a worker listens there), and the agent goes on; see `trialbed doctor`',
    };
  }
  if (lastFailure !== null || (attempt > 1 && state === 'scheduled')) {
    const tooLarge = /exceeds size limit|PAYLOADS_TOO_LARGE|TMPRL1103/i.test(`${lastFailure?.type} ${lastFailure?.message}`);
    return {
      cause: tooLarge ? 'payload_too_large' : 'failing_activity',
      sentence: `it waits for ${name}, which failed and ${next} (attempt ${attempt})${failed}`,
      evidence,
      next: null,
    };
  }
  if (state === 'scheduled') {
    const lasts = scheduledAt === null ? '' : ` for ${since(now, scheduledAt)}`;
    return { cause: 'activity', sentence: `it waits for a free place of a worker: ${name} has been due${lasts}`, evidence, next: null };
  }
  if (isSilent(now, activity)) {
    const began = startedAt === null ? '' : `, begun ${ago(now, startedAt)}`;
    const sign = lastHeartbeatAt === null ? 'has given no sign of life' : `has given no sign of life since ${ago(now, lastHeartbeatAt)}`;
    return {
      cause: 'silent_activity',
      sentence: `it waits for ${name} (attempt ${attempt}${began}), which ${sign}: it may hang, or its worker is lost`,
      evidence,
      next: `It is given up when its time is over; \`trialbed requeue ${trial.id} --force\` gives the attempt up now`,
    };
  }
  const lasts = startedAt === null ? '' : ` for ${since(now, startedAt)}`;
  const beat = lastHeartbeatAt === null ? '' : `, last heartbeat ${ago(now, lastHeartbeatAt)}`;
  const who = activity.activity === CONVERSES ? 'it waits for its agent, which acts' : `it waits for ${name}, which runs`;
  return { cause: 'activity', sentence: `${who}${lasts} (attempt ${attempt}${beat})`, evidence, next: null };
}

function isModelWait({ activity, lastFailure }: Activity): boolean {
  return ASKS_MODELS.has(activity) && lastFailure?.type === MODEL_UNAVAILABLE;
}

function isSilent(now: Date, { state, startedAt, lastHeartbeatAt }: Activity): boolean {
  if (state !== 'started' || startedAt === null) return false;
  return secondsBetween(lastHeartbeatAt ?? startedAt, now) > SILENT_SECONDS;
}
