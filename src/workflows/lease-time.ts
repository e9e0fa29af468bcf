import type { AttemptPlan } from '../activities/contract.ts';
import { MAX_EXPIRY_MS } from '../domain/approval.ts';

/** Beyond the agent's own time: what queues, retries and tools may take before a conversation is given up as the harness's trouble. */
export const CONVERSATION_GRACE_MS = 15 * 60_000;
/** The same of a model: what rate limits, a provider's trouble and queues may take. */
export const MODEL_GRACE_MS = 2 * 60 * 60_000;
/** A lease outlives everything that an attempt may take. */
const LEASE_GRACE_MS = 30 * 60_000;

/** How long an attempt's world is leased, in milliseconds. */
export function leaseMs(plan: AttemptPlan): number {
  return plan.budget.wallMs + graceMs(plan) + LEASE_GRACE_MS;
}

/** What a conversation may take beyond the agent's own time. */
export function graceMs(plan: AttemptPlan): number {
  return (plan.model || plan.user === 'model' ? MODEL_GRACE_MS : CONVERSATION_GRACE_MS) + approvalMs(plan);
}

/** What people may take to decide lies outside the agent's own time. */
export function approvalMs({ approver }: AttemptPlan): number {
  return approver?.by === 'people' ? MAX_EXPIRY_MS : 0;
}
