import type { HttpBindings } from '@hono/node-server';
import type { TrialSession } from './session.ts';

/** What each request of the gateway carries once its token is known. */
export interface App {
  Bindings: HttpBindings;
  Variables: { session: TrialSession };
}
