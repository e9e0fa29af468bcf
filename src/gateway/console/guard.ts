import { createMiddleware } from 'hono/factory';
import { secureHeaders } from 'hono/secure-headers';

/** Where the console may be reached. */
export interface ConsolePlace {
  /** Hosts with ports, as the header Host has them. */
  readonly hosts: ReadonlySet<string>;
  /** It is reached by HTTPS. */
  readonly secure: boolean;
}

/** Sends no request on that was led here under another name, or that another page made. */
export function fromHere({ hosts, secure }: ConsolePlace) {
  return createMiddleware(async (c, next) => {
    const host = c.req.header('host')?.toLowerCase() ?? '';
    if (!hosts.has(host)) return c.text('The console is not reached under this name.\n', 421);
    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    const ours = origin === undefined ? site === undefined || site === 'same-origin' || site === 'none' : origin === `http${secure ? 's' : ''}://${host}`;
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && (!ours || (origin === undefined && site !== 'same-origin')))
      return c.text('This request was not made by a page of the console.\n', 403);
    return next();
  });
}

/** Nothing but our own two files is loaded, nobody frames a page, and no page is kept. */
export function closedPages({ secure }: Pick<ConsolePlace, 'secure'>) {
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    // Forms say from which origin they come only where pages may.
    referrerPolicy: 'same-origin',
    xFrameOptions: 'DENY',
    strictTransportSecurity: secure ? 'max-age=31536000' : false,
    crossOriginOpenerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    permissionsPolicy: { camera: [], geolocation: [], microphone: [] },
  });
  return createMiddleware(async (c, next) => {
    const answer = await headers(c, next);
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
    return answer;
  });
}
