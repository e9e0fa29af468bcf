import { ApplicationFailure } from '@temporalio/common';
import type { ApprovalSubject, PreviewRows } from '../domain/approval.ts';
import type { Json } from '../domain/json.ts';
import { type PreviewQuery, type Tool, ToolFailure } from '../environments/define.ts';
import type { LedgerRow, LoadedEnvironment } from '../environments/world.ts';
import { contentHash } from '../suite/identity.ts';
import { accepted } from './check-call.ts';
import { APPROVAL_VOID, type ApprovalAsked, type TrialActivities } from './contract.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContexts } from './trial-context.ts';

type ApprovalActivities = Pick<TrialActivities, 'requestApproval' | 'awaitApprover' | 'settleApproval'>;

/** The side effects of asking for an approval. */
export function createApprovalActivities(services: ActivityServices, contexts: TrialContexts): ApprovalActivities {
  const { store, worlds, failpoint } = services;
  return {
    async requestApproval({ trial, attempt, world: ref, operation, need, expiresMs, people }): Promise<ApprovalAsked> {
      const [{ environment }, world] = await Promise.all([contexts.get(trial), worlds.open(ref)]);
      const row = await world.ledger.read(operation);
      if (!row) throw ApplicationFailure.nonRetryable(`operation ${operation} is not in the ledger of world ${ref.id}`, 'LedgerMissing');
      const { tool, args } = row;
      const rows = await world.preview(previewQueries(environment, row));
      const { now } = await world.clock();
      const requestedAt = services.now();
      const from = people ? requestedAt : now;
      const subject: ApprovalSubject = {
        ...{ tool, args, rows, rule: need.rule, people },
        digest: approvalDigest(environment, row, rows),
        requestedAt: requestedAt.toISOString(),
        expiresAt: new Date(from.getTime() + expiresMs).toISOString(),
      };
      // What was written first stands: the approver may have seen it.
      const stored = await store.requestApproval(trial, attempt, operation, { ...subject, worldTime: now.toISOString() });
      await world.ledger.awaitApproval(operation);
      failpoint('approval_requested_before_told');
      return { digest: stored.digest, now: stored.worldTime };
    },

    async awaitApprover({ trial, world: ref, operation, until, acts }) {
      const world = await worlds.open(ref);
      const now = until === null ? (await world.clock()).now : await world.faults.advance(`approval ${operation} ${until}`, { to: new Date(until) });
      if (acts) await world.faults.changeWhileWaiting(operation, (await contexts.get(trial)).kase.approver?.changes ?? []);
      return { now: now.toISOString() };
    },

    async settleApproval({ trial, attempt, world: ref, operation, end, problem }) {
      const world = await worlds.open(ref);
      if (end.outcome === 'approved') {
        const subject = await store.approval(trial, attempt, operation);
        if (!subject) throw ApplicationFailure.nonRetryable(`nobody was asked to approve operation ${operation}`, 'ApprovalMissing');
        await world.ledger.grant(operation, subject.digest);
      } else if (problem) await world.ledger.deny(operation, problem);
      await store.endApproval(trial, attempt, operation, end);
      failpoint('approval_settled_before_dispatch');
    },
  };
}

/** Keeps a call to what was approved. */
export interface Bound {
  readonly queries: readonly PreviewQuery[];
  /** @throws {ToolFailure} `approval_void` where the rows, the arguments or the tool are not those that were approved. */
  readonly check: (rows: readonly PreviewRows[]) => void;
}

/** What an approved call is bound to when it is sent; null: it needed no approval. @throws {ApplicationFailure} where it needs one and has none. */
export function boundOf(environment: LoadedEnvironment, row: LedgerRow, approved: string | null): Bound | null {
  if (row.approval === undefined) return null;
  if (approved === null || row.granted === null)
    throw ApplicationFailure.nonRetryable(`operation ${row.id} (${row.tool}) needs an approval and has none`, 'ApprovalMissing');
  return {
    queries: previewQueries(environment, row),
    check(rows) {
      if (approvalDigest(environment, row, rows) !== approved)
        throw new ToolFailure(APPROVAL_VOID, 'What was approved has changed since; the call was not carried out.');
    },
  };
}

/** What an approval of a call is bound to: the tool as it is, its arguments, and the rows that the approver is shown. */
export function approvalDigest({ toolSchemas }: LoadedEnvironment, { tool, args }: Pick<LedgerRow, 'tool' | 'args'>, rows: readonly PreviewRows[]): string {
  const schema = toolSchemas.find(({ name }) => name === tool) ?? null;
  return contentHash({ tool, schema: schema && { ...schema }, args, rows: rows.map((part) => ({ ...part })) } as unknown as Json);
}

export function previewQueries({ environment }: LoadedEnvironment, { tool: name, args }: Pick<LedgerRow, 'tool' | 'args'>): readonly PreviewQuery[] {
  const tool: Tool | undefined = environment.tools.find((candidate) => candidate.name === name);
  return tool?.preview?.(accepted(tool).parse(args)) ?? [];
}
