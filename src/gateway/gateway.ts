import type { Logger } from 'pino';
import { isLoopback } from '../domain/loopback.ts';
import { batchOf } from '../domain/trial.ts';
import { printable } from '../domain/text/bounded.ts';
import { type Listening, listen } from '../environments/listen.ts';
import { AWAY } from './answer.ts';
import type { ConsolePages } from './app.ts';
import { gatewayApp } from './http.ts';
import { modelUrls } from './models/routes.ts';
import { type SessionOptions, TrialSession } from './session.ts';
import { type SessionPlace, Tokens, type TokenStore } from './tokens.ts';

/** The door for agents that are programs of their own: one HTTP server for all trials of a worker. */
export interface Gateway {
  /** Base URL as agents are told it, without a slash at the end. */
  readonly url: string;
  /** From now on whoever asks for its health hears that the worker takes no more work. Calls are served as before. */
  drain(): void;
  /**
   * Serves the operators' console below `/console` until it is disposed; before and after, there is nothing under that path. No token of a trial opens it, and what it is opened by opens no
   * door. Its URL is the address that the gateway listens on, whatever agents are told.
   */
  mount(pages: ConsolePages): Listening;
  /**
   * Opens the door to one attempt's agent, until the session is closed. With `resume` by the token that it got from an earlier worker, where there was one.
   * @throws what the store threw
   */
  open(place: SessionPlace, options: SessionOptions & { readonly resume?: boolean }): Promise<OpenSession>;
}

export interface OpenSession {
  /** Bearer token; goes to the agent alone. An agent that still has the token of an earlier worker gets a second one, and both are good. @throws what the store threw */
  token(): Promise<string>;
  /** Calls that were refused since the budget was used up. */
  readonly beyondBudget: number;
  /** Waits until no call is in flight or waits. */
  idle(): Promise<void>;
  /** Base URLs for libraries of providers, with the token as key; of those formats of which the agent's description names a route. */
  readonly models: { readonly openai?: string; readonly anthropic?: string };
  /** After {@link close}: waits until its calls of models are recorded. */
  settled(): Promise<void>;
  /** The token opens nothing any more: what comes with it is refused, and noted as a late attempt. */
  close(): Promise<void>;
  /** This worker takes no more calls, the next one will: whoever asks meanwhile is told to ask again. */
  handOver(): void;
}

/** What the gateway keeps beyond its own process. */
export interface GatewayStore extends TokenStore {
  addLateRequest(trial: string, attempt: number, detail: string): Promise<void>;
}

export interface GatewayOptions {
  /** Address: loopback, or a network of one's own (there is no TLS). */
  readonly listen: string;
  /** 0: a free one. Default 0. */
  readonly port?: number;
  /** Host name or address by which agents and other workers reach it, where that is not the one that it listens on. */
  readonly advertise?: string | null;
  /** Base URL as agents are told it, without a slash at the end, where that is not the address. */
  readonly publicUrl?: string | null;
  readonly store: GatewayStore;
  /** Hears of each request that was answered: the first part of its path, as far as that is known, and the status. */
  readonly answered?: (door: string, status: number) => void;
  readonly log: Logger;
}

/** Starts the gateway: `/tools`, `/openapi.json` and `/mcp`. @throws when the address cannot be listened on. */
export async function startGateway(options: GatewayOptions): Promise<Gateway & AsyncDisposable> {
  const log = options.log.child({ service: 'gateway' });
  const { store } = options;
  const late = async ({ trial, attempt }: SessionPlace, request: string) => {
    await store.addLateRequest(trial, attempt, lateDetail(request));
  };
  let draining = false;
  let mounted: ConsolePages | null = null;
  // Made when the address is known, which nobody has before.
  let tokens = new Tokens(store, null);
  const app = gatewayApp(
    {
      tokens: { find: (token) => tokens.find(token) },
      late,
      local: isLoopback(options.listen) && !options.publicUrl && !options.advertise,
      draining: () => draining,
      console: () => mounted,
      ...(options.answered && { answered: options.answered }),
    },
    log,
  );
  const server = await listen(app, options);
  tokens = new Tokens(store, server.url);
  log.info({ url: server.url }, 'gateway listens');
  return {
    url: options.publicUrl ?? server.url,
    drain: () => {
      draining = true;
    },
    mount(pages) {
      mounted = pages;
      const host = options.listen.includes(':') ? `[${options.listen}]` : options.listen;
      return {
        url: `http://${host}:${new URL(server.url).port}`,
        async [Symbol.asyncDispose]() {
          if (mounted === pages) mounted = null;
        },
      };
    },
    async open(place, session) {
      const opened = new TrialSession(place, {
        ...session,
        async late(request) {
          await late(place, request);
          await session.late(lateDetail(request));
        },
      });
      const resumed = session.resume ? await tokens.resume(opened, place) : null;
      const names = resumed === null ? [] : [resumed];
      const issue = async () => {
        const { name, token } = await tokens.issue(opened, place);
        names.push(name);
        return token;
      };
      // Issued now, so that whoever opens a session knows that it can be used.
      let issued: Promise<string> | null = resumed === null ? issue() : null;
      await issued;
      return {
        token() {
          issued ??= issue();
          return issued;
        },
        get beyondBudget() {
          return opened.beyondBudget;
        },
        models: modelUrls(options.publicUrl ?? server.url, session.models.account.routes),
        idle: () => opened.idle(),
        settled: () => opened.settled(),
        async close() {
          if (opened.closed) return;
          opened.close();
          // With its attempt it ends in any case.
          for (const name of names)
            await tokens
              .end(name)
              .catch((error: unknown) =>
                log.warn({ err: error, trial: place.trial, batch: batchOf(place.trial), attempt: place.attempt }, 'the end of a token could not be stored'),
              );
        },
        handOver() {
          opened.close(AWAY);
          for (const name of names) tokens.forget(name);
        },
      };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function lateDetail(request: string): string {
  return `${printable(request, 200)} with the token of an attempt that has ended`;
}
