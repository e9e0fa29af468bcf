import type { z } from 'zod';

/** A Postgres server that was named. */
export interface NamedUrl {
  readonly name: string;
  readonly url: string;
}

/** How a URL of a Postgres begins. */
export const POSTGRES_URL = /^postgres(ql)?:\/\/[^/]+/;

/** Connections of a process to one Postgres server for worlds. */
const WORLD_CONNECTIONS = 40;
/** Below it no call could be carried while another is cleaned up. */
const LEAST_WORLD_CONNECTIONS = 8;

/** Name of the one server for worlds whose URL has none. */
const EXTERNAL = 'external';

/** One URL, or several that are named: `east=postgres://... west=postgres://...`. */
export function worldServers(text: string, context: z.core.$RefinementCtx<string>): readonly NamedUrl[] {
  const found = text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, name, url = ''] = /^(?:([a-z][a-z0-9-]{0,30})=)?(.*)$/.exec(part) ?? [];
      return { name: name ?? null, url };
    });
  const names = found.map(({ name }) => name ?? EXTERNAL);
  const wrong =
    found.length === 0 || found.some(({ url }) => !POSTGRES_URL.test(url))
      ? 'a URL such as postgres://user:password@host:5432/database, or several as east=postgres://... west=postgres://...'
      : found.length > 1 && found.some(({ name }) => name === null)
        ? 'a name before each of several URLs, as in east=postgres://... west=postgres://...'
        : new Set(names).size < names.length
          ? 'another name for each URL'
          : null;
  if (wrong !== null) context.addIssue({ code: 'custom', message: wrong, input: text });
  return found.map(({ name, url }) => ({ name: name ?? EXTERNAL, url }));
}

export interface Budgets {
  /** For servers that are not named. */
  readonly all: number;
  readonly by: ReadonlyMap<string, number>;
}

/** A number for every server, numbers for some (`east:60 west:20`), or both. */
export function budgets(text: string, context: z.core.$RefinementCtx<string>): Budgets {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const found = parts.map((part) => {
    const [, name = null, number = ''] = /^(?:([a-z][a-z0-9-]{0,30}):)?(\d{1,5})$/.exec(part) ?? [];
    return { name, number: Number(number) };
  });
  if (found.some(({ number }) => number < LEAST_WORLD_CONNECTIONS) || found.filter(({ name }) => name === null).length > 1) {
    const message = `a whole number of ${LEAST_WORLD_CONNECTIONS} or more, or one for each server as in east:60 west:20`;
    context.addIssue({ code: 'custom', message, input: text });
  }
  return {
    all: found.find(({ name }) => name === null)?.number ?? WORLD_CONNECTIONS,
    by: new Map(found.flatMap(({ name, number }) => (name === null ? [] : [[name, number] as const]))),
  };
}
