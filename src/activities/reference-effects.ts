import { isDeepStrictEqual } from 'node:util';
import type { Case } from '../domain/case.ts';
import type { Effect } from '../domain/effect.ts';
import type { Message } from '../domain/record.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { ToolFailure } from '../environments/define.ts';
import { answerUser, type Conversation, type Respond, scripted } from './answer-user.ts';
import { operate, WITHOUT_FAULTS } from './operate.ts';
import { playStep } from './play-script.ts';
import type { ActivityServices } from './services.ts';
import { ask, decided, takeDue, type Waiting } from './reference-approvals.ts';
import { SCRIPT_START } from './contract.ts';

const LEASE_MS = 10 * 60_000;

/**
 * The end state that a case's reference solution reaches, as its effects: played once in a world of its own by the same tools, then kept in the
 * store by generation and case.
 */
export async function referenceEffects(
  services: ActivityServices,
  request: {
    /** As the case offers it, and as worlds are made of it. */
    readonly environment: LoadedEnvironment;
    readonly pack: LoadedEnvironment;
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
  const ref = await worlds.provision(request.pack, { owner: request.owner, workflowId: request.workflowId, isolation: 'schema', leaseMs: LEASE_MS, kase });
  const world = await worlds.open(ref);
  try {
    const conversation = notStored();
    // A model is not asked for what the solution does anyway.
    const respond: Respond = kase.conversation?.user === 'script' ? scripted(kase) : async () => ({ kind: 'say', text: '', end: false });
    const answer = (operation: string | null) => {
      const asked = { trial: '', attempt: 1, world: ref, turn: cursor.turn + 1, operation, last: false };
      return answerUser({ store: conversation, failpoint: () => {} }, world, kase, asked, respond);
    };
    const say = (message: Message) => conversation.addMessage('', 1, message);
    const stage = { world, environment, kase, rules: [], solution: kase.reference, say };
    const waiting: Waiting[] = [];
    const send = async (operation: string, tool: string, approved: string | null) => {
      const call = { world, environment, permission: kase.permission, operation, tool, dispatch: 1, signal: request.signal };
      await operate(services, { ...call, ...WITHOUT_FAULTS, approved }).catch((error: unknown) => {
        // A refusal is part of what the reference does; it changes nothing.
        if (!(error instanceof ToolFailure)) throw error;
      });
    };
    let cursor = SCRIPT_START;
    for (;;) {
      const move = await playStep(stage, cursor);
      if (move.kind === 'end') break;
      const asks = move.kind === 'call' && !move.call.refusal && environment.environment.tools.find(({ name }) => name === move.call.tool)?.builtin === 'ask';
      if (kase.conversation && (asks || move.kind === 'say')) {
        const { kind } = await answer(move.kind === 'call' ? move.call.id : null);
        cursor = { ...move.cursor, turn: cursor.turn + (kind === 'said' ? 1 : 0) };
        continue;
      }
      cursor = move.cursor;
      if (move.kind === 'say' || move.call.refusal) continue;
      const { id: operation, tool, approval } = move.call;
      if (approval) await ask({ ...stage, operation, tool, need: approval }, waiting);
      else await send(operation, tool, null);
      for (const due of await takeDue(world, waiting)) {
        const approved = await decided(stage, due);
        if (approved !== null) await send(due.operation, due.tool, approved);
      }
    }
    const { effects } = await world.observe();
    await services.store.putReferenceEffects(environment.generation, caseHash, effects);
    return effects;
  } finally {
    await services.toolServers.end(ref.id);
    await world.release();
  }
}

/** What the solution and the user say to each other is nobody's result. */
function notStored(): Conversation {
  const messages: Message[] = [];
  return {
    messages: async () => messages,
    async addMessage(_trial, _attempt, message) {
      if (!messages.some((one) => isDeepStrictEqual(one, message))) messages.push(message);
    },
  };
}
