import type { HttpBindings } from '@hono/node-server';
import type { TrialSession } from './session.ts';

/** The operators' console, as pages that another server may serve below `/console`. */
export interface ConsolePages {
  /** `bindings`: what the server knows of the connection. */
  fetch(request: Request, bindings: object): Response | Promise<Response>;
}

/** What each request of the gateway carries once its token is known. */
export interface App {
  Bindings: HttpBindings;
  Variables: { session: TrialSession };
}
