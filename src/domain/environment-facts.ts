import type { ToolEffect } from './operation.ts';

/** What a report says of an environment, kept with the batch so that it needs no pack on disk. */
export interface EnvironmentFacts {
  /** Beside the tables themselves. */
  readonly services: readonly EnvironmentService[];
  readonly tools: readonly { readonly name: string; readonly effect: ToolEffect /** sha256 of what an agent is told of it. */; readonly schema: string }[];
  /** sha256 of the policy's text; null: there is none. */
  readonly policy: string | null;
}

export interface EnvironmentService {
  readonly name: string;
  /** Ours, in the world; or a real one, with an account for tests. */
  readonly kind: 'fixture' | 'live';
  /** What it keeps to. */
  readonly contract: string;
  /** When that was last compared with the real service, ISO 8601; null: never. */
  readonly checkedAt: string | null;
  /** Properties of the real one that it cannot show. */
  readonly cannotShow: readonly string[];
}
