import { type ApprovalNeed, APPROVER_PATIENCE_MS, dueMs, NOBODY } from '../domain/approval.ts';
import type { Case } from '../domain/case.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { approvalDigest, previewQueries } from './approvals.ts';

/** A call of a reference that waits for the case's approver. */
export interface Waiting {
  readonly operation: string;
  readonly tool: string;
  /** World time of the decision, milliseconds since 1970. */
  readonly due: number;
  /** What an approval is bound to. */
  readonly digest: string;
}

interface Stage {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly kase: Case;
}

/** Puts a call before the case's approver as a trial does, and lets the world's time pass for which a client waits. */
export async function ask(
  stage: Stage & { readonly operation: string; readonly tool: string; readonly need: ApprovalNeed },
  waiting: Waiting[],
): Promise<void> {
  const { world, kase, operation, tool, need } = stage;
  const digest = await digestNow(stage, operation);
  await world.ledger.awaitApproval(operation);
  const { now } = await world.clock();
  const wait = dueMs(kase.approver ?? NOBODY, need);
  waiting.push({ operation, tool, due: now.getTime() + wait, digest });
  await world.faults.advance(`approval ${operation}`, { to: new Date(now.getTime() + Math.min(wait, APPROVER_PATIENCE_MS)) });
}

/** Those whose decision has come by the world's clock; they are taken off the list. */
export async function takeDue(world: World, waiting: Waiting[]): Promise<readonly Waiting[]> {
  if (waiting.length === 0) return [];
  const { now } = await world.clock();
  const due = waiting.filter((one) => one.due <= now.getTime());
  for (const one of due) waiting.splice(waiting.indexOf(one), 1);
  return due;
}

/** What the approver decides: the digest of what is approved; null: the call is not sent. */
export async function decided(stage: Stage, { operation, digest }: Waiting): Promise<string | null> {
  const { world, kase } = stage;
  const { decides, afterMs, changes = [] } = kase.approver ?? NOBODY;
  const row = await world.ledger.read(operation);
  const expired = decides === 'expire' || afterMs >= (row?.approval?.expiresMs ?? 0);
  if (changes.length > 0) await world.faults.changeWhileWaiting(operation, changes);
  if (decides === 'deny' || expired) {
    await world.ledger.deny(operation, { code: expired ? 'approval_expired' : 'approval_refused', message: 'The call was not approved; it was not sent.' });
    return null;
  }
  await world.ledger.grant(operation, digest);
  return digest;
}

async function digestNow({ world, environment }: Stage, operation: string): Promise<string> {
  const row = await world.ledger.read(operation);
  if (!row) throw new Error(`operation ${operation} is not in the ledger`);
  return approvalDigest(environment, row, await world.preview(previewQueries(environment, row)));
}
