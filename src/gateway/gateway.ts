import type { Logger } from 'pino';
import { listen } from '../environments/listen.ts';
import { gatewayApp } from './http.ts';
import { type SessionOptions, TrialSession } from './session.ts';
import { Tokens } from './tokens.ts';

/** The door for agents that are programs of their own: one HTTP server for all trials of a worker. */
export interface Gateway {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  /** Opens the door to one attempt, until the session is closed. */
  open(options: SessionOptions): OpenSession;
}

export interface OpenSession {
  /** Bearer token; goes to the agent alone. */
  readonly token: string;
  /** Waits until no call is in flight or waits. */
  idle(): Promise<void>;
  /** The token opens nothing any more: what comes with it is refused, and noted as a late attempt. */
  close(): void;
}

export interface GatewayOptions {
  /** Address: loopback, or a network of one's own (there is no TLS). */
  readonly listen: string;
  /** Default 0: a free one. */
  readonly port?: number;
  readonly log: Logger;
}

/** Starts the gateway: `/tools`, `/openapi.json` and `/mcp`. @throws when the address cannot be listened on. */
export async function startGateway(options: GatewayOptions): Promise<Gateway & AsyncDisposable> {
  const log = options.log.child({ service: 'gateway' });
  const tokens = new Tokens();
  const server = await listen(gatewayApp(tokens, log), options);
  log.info({ url: server.url }, 'gateway listens');
  return {
    url: server.url,
    open(session) {
      const opened = new TrialSession(session);
      const token = tokens.issue(opened);
      return {
        token,
        idle: () => opened.idle(),
        close() {
          if (opened.closed) return;
          opened.close();
          tokens.end(token);
        },
      };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
