import type { Case } from '../domain/case.ts';
import type { Effect } from '../domain/effect.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { ToolFailure } from '../environments/define.ts';
import { operate, WITHOUT_FAULTS } from './operate.ts';
import { playStep } from './play-script.ts';
import type { ActivityServices } from './services.ts';
import { SCRIPT_START } from './contract.ts';

const LEASE_MS = 10 * 60_000;

/**
 * The end state that a case's reference solution reaches, as its effects: played once in a world of its own by the same tools, then kept in the
 * store by generation and case.
 */
export async function referenceEffects(
  services: ActivityServices,
  request: {
    readonly environment: LoadedEnvironment;
    readonly kase: Case;
    readonly caseHash: string;
    readonly owner: string;
    readonly workflowId: string;
    readonly signal: AbortSignal;
  },
): Promise<readonly Effect[]> {
  const { environment, kase, caseHash } = request;
  const known = await services.store.referenceEffects(environment.generation, caseHash);
  if (known) return known;
  const { worlds } = services;
  const ref = await worlds.provision(environment, { owner: request.owner, workflowId: request.workflowId, isolation: 'schema', leaseMs: LEASE_MS, kase });
  const world = await worlds.open(ref);
  try {
    const stage = { world, environment, kase, rules: [], solution: kase.reference, say: async () => {} };
    let cursor = SCRIPT_START;
    for (;;) {
      const move = await playStep(stage, cursor);
      if (move.kind === 'end') break;
      cursor = move.cursor;
      if (move.kind === 'say' || move.call.refusal) continue;
      const { id: operation, tool } = move.call;
      const call = { world, environment, permission: kase.permission, operation, tool, dispatch: 1, signal: request.signal };
      await operate(services, { ...call, ...WITHOUT_FAULTS }).catch((error: unknown) => {
        // A refusal is part of what the reference does; it changes nothing.
        if (!(error instanceof ToolFailure)) throw error;
      });
    }
    const { effects } = await world.observe();
    await services.store.putReferenceEffects(environment.generation, caseHash, effects);
    return effects;
  } finally {
    await world.release();
  }
}
