import type { CommonFlags, Host } from './host.ts';

/** The folders that a command line names, for the readers of the configuration. */
export function placeOf(host: Host, flags: CommonFlags): { readonly cwd: string; readonly home?: string } {
  return { cwd: host.cwd, ...(flags.home === undefined ? {} : { home: flags.home }) };
}

/** A database URL without what is secret in it. */
export function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return '(a URL that cannot be read)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
