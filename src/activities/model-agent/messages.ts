import type { ChatMessage } from '../../domain/chat.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { PermissionContext } from '../../domain/case.ts';
import type { Message } from '../../domain/record.ts';
import type { World } from '../../environments/world.ts';
import type { CallOutcome } from '../contract.ts';
import { heardMessage } from '../heard-message.ts';
import { instructionsOf } from '../instructions.ts';
import type { ModelStep } from '../model-contract.ts';
import type { TrialContext } from '../trial-context.ts';
import type { ModelAgent } from './model-plan.ts';

/** Longest result of a tool that a model is shown, in UTF-16 units: what a provider takes has an end as well. */
const MAX_RESULT = 400_000;

/** Messages that come between the call before and this one: the outcomes of what it called, or the user's next message. */
export async function messagesOf(
  context: TrialContext,
  { prompt }: ModelAgent,
  world: World,
  {
    seq,
    answers,
    said,
    permission,
  }: Pick<ModelStep, 'seq' | 'answers'> & { readonly said: string | null; readonly permission?: PermissionContext | undefined },
  before: readonly ChatMessage[],
): Promise<readonly ChatMessage[]> {
  const head = [prompt, instructionsOf(context, permission)].filter((part) => part !== '').join('\n\n');
  const system: ChatMessage[] = seq === 1 ? [{ role: 'system', text: head }] : [];
  const user: ChatMessage[] = said === null ? [] : [{ role: 'user', text: said }];
  const last = before.at(-1);
  const asked = last?.role === 'assistant' ? last.calls : [];
  const told = await Promise.all(answers.map((answer) => toldOf(world, answer)));
  return [
    ...system,
    ...asked.flatMap(({ id }, index): ChatMessage[] => (told[index] === undefined ? [] : [{ role: 'tool', call: id, text: told[index] }])),
    ...user,
  ];
}

/** The message with which a member of a team gets the conversation: what it has not seen of it, and what the other says. */
export function handedOver({ from, text }: { readonly from: string; readonly text: string }, said: readonly Message[]): string {
  const seen = said.length === 0 ? [] : [`What was said: ${printable(JSON.stringify(said.map(heardMessage)), MAX_RESULT)}`];
  return [...seen, `${from} hands the conversation over to you: ${text}`].join('\n\n');
}

/** How a call ended, in the form in which every other agent is told. */
async function toldOf(world: World, { operation, state, problem }: CallOutcome): Promise<string> {
  const row = state === 'committed' ? await world.ledger.read(operation) : null;
  return printable(JSON.stringify({ operation, state, result: row?.result ?? null, problem }), MAX_RESULT);
}
