import type { Effect } from '../domain/effect.ts';
import { contentHash } from '../suite/identity.ts';
import { perform, type Stage } from './perform.ts';
import type { RecordedCall } from './run.ts';

/** End states of solutions: each is reached once in a world of its own, and then kept in the store by generation and content. */
export class GoldStates {
  readonly #stage: Stage;
  readonly #owner: string;
  readonly #known = new Map<string, Promise<readonly Effect[]>>();

  /** `owner`: prefix of the owners of the worlds that it makes. */
  constructor(stage: Stage, owner: string) {
    this.#stage = stage;
    this.#owner = owner;
  }

  /** What the calls change, in journal order. */
  effectsOf(calls: readonly RecordedCall[]): Promise<readonly Effect[]> {
    const { kase } = this.#stage;
    const key = contentHash({
      recorded: calls.map(({ tool, args }) => ({ tool, args })),
      start: { clock: kase.clock, timezone: kase.timezone, state: kase.state, permission: kase.permission },
    });
    const known = this.#known.get(key) ?? this.#find(key, calls);
    this.#known.set(key, known);
    return known;
  }

  async #find(key: string, calls: readonly RecordedCall[]): Promise<readonly Effect[]> {
    const { services, environment } = this.#stage;
    const stored = await services.store.referenceEffects(environment.generation, key);
    if (stored) return stored;
    const { effects } = await perform(this.#stage, `${this.#owner}-gold-${key.slice(0, 16)}`, calls, { error: '', referenceEffects: null });
    await services.store.putReferenceEffects(environment.generation, key, effects);
    return effects;
  }
}
