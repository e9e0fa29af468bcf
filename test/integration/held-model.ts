import type { JsonObject } from '../../src/domain/json.ts';
import { calls, type Provider, says, startProvider } from '../harness/provider.ts';

/** A provider whose model adds a note and then, while it is held, thinks until it is let go. */
export interface HeldModel extends AsyncDisposable {
  readonly provider: Provider;
  /** A suite's agent that asks it, and a case in which it passes. */
  readonly agent: JsonObject;
  readonly kase: JsonObject;
  hold(): void;
  letGo(): void;
  /** How many trials wait for it. */
  waiting(): number;
}

/** `text`: what it notes, what it is asked and what it answers. */
export async function heldModel(text: string): Promise<HeldModel> {
  let gate: PromiseWithResolvers<void> | null = null;
  let waiting = 0;
  const provider = await startProvider(async ({ body }) => {
    if (!body.messages.some(({ role }) => role === 'tool')) return calls(['add_note', { body: text }]);
    waiting += 1;
    await gate?.promise;
    waiting -= 1;
    return says(`I noted: ${text}`);
  });
  return {
    provider,
    agent: { kind: 'model', prompt: 'Be brief.', route: { name: 'held', url: provider.url, model: 'held' } },
    kase: {
      request: `Note this: ${text}`,
      expects_nothing: false,
      expect: { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert', where: { body: text } }] }] },
    },
    hold: () => {
      gate = Promise.withResolvers();
    },
    letGo: () => gate?.resolve(),
    waiting: () => waiting,
    async [Symbol.asyncDispose]() {
      gate?.resolve();
      await provider[Symbol.asyncDispose]();
    },
  };
}
