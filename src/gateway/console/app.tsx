import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Logger } from 'pino';
import { StoreUnavailableError } from '../../store/errors.ts';
import { Access, actorOf, maySee } from './access.ts';
import { actRoutes } from './acting.tsx';
import type { ConsoleBackend } from './backend.ts';
import { closedPages, type ConsolePlace, fromHere } from './guard.ts';
import { isFormToken, newKey } from './keys.ts';
import { Desk, type DeskApp } from './desk.ts';
import { labelRoutes } from './labelling.tsx';
import { ProblemPage, SignInPage } from './pages/plain.tsx';
import { styleSheet } from '../../report/html/document.tsx';
import { readRoutes } from './reading.tsx';
import { page } from './respond.ts';

/** Bytes of a form. */
const MAX_FORM_BYTES = 64 * 1024;
/** Sign-ins that failed and are written to the audit log, in a minute: a flood of them says nothing more. */
const MAX_FAILED = 10;

export interface ConsoleAppOptions {
  readonly backend: ConsoleBackend;
  readonly place: ConsolePlace;
  /** Tells cookies of consoles of one host apart. */
  readonly cookie: string;
  /** Told to whoever asks whether a console is here. */
  readonly instance: string;
  readonly now?: () => Date;
  readonly log: Logger;
}

/** The operators' console, below `/console`. */
export function consoleApp({ backend, place, cookie: name, instance, now = () => new Date(), log }: ConsoleAppOptions): Hono<DeskApp> {
  const app = new Hono<DeskApp>();
  const access = new Access(backend.store, now);
  const desk = new Desk(backend, now);
  const failed = new PerMinute(MAX_FAILED, now);
  const settings = { httpOnly: true, sameSite: 'Strict', secure: place.secure, path: '/console' } as const;
  const formCookie = `${name}_form`;

  // Whoever looks for it may know it by another name than browsers do.
  app.get('/console/health', (c) => c.json({ console: instance }));
  app.use('/console/*', closedPages(place));
  app.use('/console/*', fromHere(place));
  app.use('/console/*', bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => c.text('The form is too large.\n', 413) }));
  app.onError((error, c) => {
    log.warn({ err: error, request: `${c.req.method} ${c.req.routePath}` }, 'a page of the console failed');
    const away = error instanceof StoreUnavailableError;
    const text = away ? 'The store is out of reach. Load the page again in a moment.' : 'The console could not do this; its log tells why.';
    return page(c, ProblemPage({ context: null, title: away ? 'Out of reach' : 'Something failed', text }), away ? 503 : 500);
  });
  app.get('/', (c) => c.redirect('/console/batches', 303));
  for (const [file, type] of ASSETS) {
    app.get(`/console/assets/${file}`, async (c) => {
      const body = await asset(file);
      return c.body(body, 200, { 'content-type': type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    });
  }

  app.get('/console/sign-in', (c) => {
    const cookie = getCookie(c, formCookie) ?? newKey().key;
    setCookie(c, formCookie, cookie, settings);
    return page(c, SignInPage({ cookie, link: c.req.query('link') ?? null, problem: null }));
  });
  app.post('/console/sign-in', async (c) => {
    const form = await c.req.parseBody();
    const cookie = getCookie(c, formCookie);
    const again = (problem: string, status: 400 | 401) => {
      const next = cookie ?? newKey().key;
      setCookie(c, formCookie, next, settings);
      return page(c, SignInPage({ cookie: next, link: null, problem }), status);
    };
    if (cookie === undefined || !isFormToken(cookie, form['form'])) return again('This form is too old. Sign in again.', 400);
    const visitor = await access.signIn(typeof form['key'] === 'string' ? form['key'] : '');
    if (visitor === null) {
      const act = { by: 'nobody', via: 'console', roles: [], action: 'sign-in', target: 'console', detail: null } as const;
      if (failed.take()) await backend.store.audit(act, { outcome: 'refused', problem: 'the token or link is not valid, has expired or was used' });
      return again('This token or link is not valid, has expired, or was used already.', 401);
    }
    await backend.store.audit({ ...actorOf(visitor), action: 'sign-in', target: 'console', detail: null }, { outcome: 'done', problem: null });
    deleteCookie(c, formCookie, settings);
    setCookie(c, name, visitor.key, settings);
    return c.redirect('/console/batches', 303);
  });

  app.use('/console/*', async (c, next) => {
    const visitor = await access.visitor(getCookie(c, name));
    if (visitor === null) {
      if (c.req.method === 'GET') return c.redirect('/console/sign-in', 303);
      return page(
        c,
        ProblemPage({ context: null, title: 'Signed out', text: 'Nobody is signed in here any more, and nothing was done. Sign in and try again.' }),
        401,
      );
    }
    c.set('visitor', visitor);
    if (c.req.method === 'GET') return next();
    const form = await c.req.parseBody();
    if (!isFormToken(visitor.key, form['form'])) {
      const act = { ...actorOf(visitor), action: 'form', target: c.req.path, detail: null };
      await backend.store.audit(act, { outcome: 'refused', problem: 'the form carried no valid token' });
      return page(c, ProblemPage({ context: null, title: 'Refused', text: 'This form did not come from a page of this session, and nothing was done.' }), 403);
    }
    c.set('form', form);
    return next();
  });
  app.get('/console', (c) => c.redirect('/console/batches', 303));
  app.post('/console/sign-out', async (c) => {
    const visitor = c.get('visitor');
    await access.signOut(visitor);
    await backend.store.audit({ ...actorOf(visitor), action: 'sign-out', target: 'console', detail: null }, { outcome: 'done', problem: null });
    deleteCookie(c, name, settings);
    return c.redirect('/console/sign-in', 303);
  });
  labelRoutes(app, desk);
  app.use('/console/*', (c, next) => (maySee(c.get('visitor')) ? next() : Promise.resolve(c.redirect('/console/labels', 303))));
  readRoutes(app, desk);
  actRoutes(app, desk);
  app.notFound((c) => page(c, ProblemPage({ context: null, title: 'Not found', text: 'There is no such page.' }), 404));
  return app;
}

const ASSETS = [
  ['console.css', 'text/css; charset=utf-8'],
  ['console.js', 'text/javascript; charset=utf-8'],
  ['label.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
] as const;

const assets = new Map<string, Promise<string>>();

/** Read once. The sheet is that of all pages with what the console has beside it. */
function asset(file: string): Promise<string> {
  const url = new URL(`./assets/${file}`, import.meta.url);
  const known = assets.get(file) ?? (file.endsWith('.css') ? Promise.resolve(styleSheet([url])) : readFile(url, 'utf8'));
  assets.set(file, known);
  return known;
}

/** Takes so many in a minute. */
class PerMinute {
  private readonly most: number;
  private readonly now: () => Date;
  private minute = -1;
  private taken = 0;

  constructor(most: number, now: () => Date) {
    this.most = most;
    this.now = now;
  }

  take(): boolean {
    const minute = Math.floor(this.now().getTime() / 60_000);
    if (minute !== this.minute) this.taken = 0;
    this.minute = minute;
    return this.taken++ < this.most;
  }
}
