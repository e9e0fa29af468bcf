import { scopeDigest } from '../../cassettes/digests.ts';
import { recordedModelReply } from '../../cassettes/model-shelf.ts';
import type { ChatMessage } from '../../domain/chat.ts';
import { priceOf } from '../../domain/model.ts';
import type { OperationProblem } from '../../domain/operation.ts';
import type { ToolSchema, World } from '../../environments/world.ts';
import { startHash } from '../../suite/cassette-file.ts';
import { NOT_AS_RECORDED } from '../contract.ts';
import type { TrialContext } from '../trial-context.ts';
import type { ModelAgent } from './model-plan.ts';
import type { RecordedReply } from './recorded-reply.ts';

/**
 * The model's reply on a cassette that holds such, by everything that it may depend on. No model is asked in its stead: what is not there ends the trial. Null: the trial has a
 * world, or its cassette holds what tools answered alone.
 */
export async function replayedReply(
  { kase, pack }: Pick<TrialContext, 'kase' | 'pack'>,
  { route, name }: Pick<ModelAgent, 'route' | 'name'>,
  world: Pick<World, 'observe'>,
  asked: { readonly id: string; readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolSchema[]; readonly at: string },
): Promise<RecordedReply | { readonly problem: OperationProblem } | null> {
  const { cassette: played } = kase;
  const models = played?.cassette.models;
  if (!models || played?.liveModels) return null;
  const { effects } = await world.observe();
  const found = recordedModelReply(
    { variant: played.cassette.variant, models },
    {
      ...{ route, messages: asked.messages, tools: asked.tools, effects },
      ...{ scope: scopeDigest(kase.permission), generation: pack.generation, start: startHash(kase) },
    },
  );
  if ('miss' in found) return { problem: { code: NOT_AS_RECORDED, message: found.miss } };
  const { usage, reported } = found.entry;
  const { url, model, parameters, seed } = route;
  return {
    reply: found.reply,
    // Budgets of tokens and money are kept as when it was recorded; nothing is paid, and it takes no time.
    call: {
      ...{ id: asked.id, who: 'agent', agent: name, source: 'loop', route: route.name, url, model, reported, parameters, seed, usage },
      ...{ price: priceOf(usage, route.prices), latencyMs: 0, tries: 0, end: 'replied', problem: null, at: asked.at },
    },
  };
}
