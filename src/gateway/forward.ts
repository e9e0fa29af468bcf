/** Marks a request that another gateway has passed on: it is passed on once. */
export const FORWARDED = 'trialbed-forwarded';

/** Headers of one connection, and what the next one says anew. */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-authenticate',
  'host',
  'content-length',
  'content-encoding',
];

/** Passes a request on to the gateway at `place`, and its answer back as it comes. Null: nobody answers there. */
export async function forward(request: Request, place: string): Promise<Response | null> {
  const { pathname, search } = new URL(request.url);
  const headers = withoutConnection(request.headers);
  headers.set(FORWARDED, '1');
  // What is unpacked here would have to be packed again.
  headers.set('accept-encoding', 'identity');
  try {
    const answer = await fetch(`${place}${pathname}${search}`, {
      method: request.method,
      headers,
      redirect: 'manual',
      signal: request.signal,
      ...(request.body && { body: request.body, duplex: 'half' }),
    });
    return new Response(answer.body, { status: answer.status, headers: withoutConnection(answer.headers) });
  } catch {
    return null;
  }
}

function withoutConnection(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of OF_A_CONNECTION) kept.delete(name);
  return kept;
}
