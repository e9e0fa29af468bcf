import type { ModelRoute } from '../domain/model.ts';
import { printable } from '../domain/text/bounded.ts';
import { ModelError } from './errors.ts';

/** Statuses of trouble that passes by itself. */
const PASSING = new Set([408, 409, 425, 429]);
/** Statuses of a wrong key, account, address or model. */
const SETUP = new Set([401, 402, 403, 404, 405, 407]);
/** Longest wait that a provider may ask for; a longer one counts as this. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** What a reply with an error's status means. `text`: its body, without secrets. */
export function failureOf({ name, key }: Pick<ModelRoute, 'name' | 'key'>, response: Pick<Response, 'status' | 'headers'>, text: string): ModelError {
  const { status } = response;
  const { message, code } = errorOf(text);
  const said = `${name} answered ${status}${message === '' ? '' : `: ${message}`}`;
  // An empty account does not fill while somebody waits.
  if (code === 'insufficient_quota') return new ModelError('setup', 'model_quota', said, { status });
  if (PASSING.has(status) || status >= 500) {
    const limited = status === 429 || status === 529;
    return new ModelError('passing', limited ? 'model_rate_limited' : 'model_unavailable', said, { status, retryAfterMs: retryAfter(response.headers) });
  }
  if (SETUP.has(status)) {
    const hint = status === 401 || status === 403 ? (key === null ? '; the route names no key' : `; the key is that of the variable ${key}`) : '';
    return new ModelError('setup', 'model_setup', `${said}${hint}`, { status });
  }
  if (status < 400)
    return new ModelError('setup', 'model_setup', `${name} answered ${status}, which leads elsewhere; give the route the address itself`, { status });
  return new ModelError('refused', 'model_refused', said, { status });
}

/** Seconds, milliseconds, or a date. */
function retryAfter(headers: Headers): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (exact >= 0) return Math.min(exact, MAX_RETRY_AFTER_MS);
  const value = headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** Both formats put it under `error`; some servers give a text. */
function errorOf(text: string): { readonly message: string; readonly code: string } {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string') return { message: printable(error, 400), code: '' };
    const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown };
    return { message: typeof message === 'string' ? printable(message, 400) : '', code: typeof code === 'string' ? code : '' };
  } catch {
    return { message: printable(text.trim(), 200), code: '' };
  }
}
