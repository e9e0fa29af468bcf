import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** Answers with a page. */
export function page(c: Context, view: unknown, status: ContentfulStatusCode = 200): Response | Promise<Response> {
  return c.html(`<!doctype html>${String(view)}`, status);
}
