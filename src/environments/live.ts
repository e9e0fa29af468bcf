/** Where a real service is, and with what it is spoken to. What a variable holds is read by each worker for itself, and stands in no history, log or record. */
export interface LiveEndpoint {
  /** An address, such as `https://tickets.example.com`, or the name of the variable that holds it. */
  readonly address: string | { readonly variable: string };
  /** Name of the variable that holds the secret of the account by which accounts of trials are made. */
  readonly secret: { readonly variable: string };
}

/** A real ticket system in place of the fixture. */
export interface LiveTickets extends LiveEndpoint {
  /** Request Tracker 5, by its REST 2.0 interface. */
  readonly server: 'request-tracker';
}

/** A real mail server in place of the inbox. */
export interface LiveMail extends LiveEndpoint {
  /** Any that takes mails by SMTP with a login and gives them out by IMAP, with its accounts in a table of PostgreSQL, of which the secret is the URL: docs/how-to/live.md. */
  readonly server: 'smtp-imap';
}

/** What an environment's services are bound to, by the contract that they fulfil. */
export interface LiveBindings {
  readonly mail?: LiveMail;
  readonly tickets?: LiveTickets & { readonly tables: { readonly tickets: string; readonly comments: string } };
}

interface Bound {
  readonly binding?: string;
  readonly services?: {
    readonly inbox?: { readonly live?: LiveMail };
    readonly tickets?: { readonly tickets: string; readonly comments: string; readonly live?: LiveTickets };
  };
}

/** The real services of an environment; none where all of its services are fixtures. */
export function liveBindings({ services }: Bound): LiveBindings {
  const { live, tickets, comments } = services?.tickets ?? {};
  const mail = services?.inbox?.live;
  return { ...(mail && { mail }), ...(live && tickets !== undefined && comments !== undefined && { tickets: { ...live, tables: { tickets, comments } } }) };
}

export function isLive(environment: Bound): boolean {
  return Object.keys(liveBindings(environment)).length > 0;
}

/** What is wrong with an environment's real services, as far as its definition says; null: nothing. */
export function liveProblem(environment: Bound): string | null {
  for (const [contract, live] of Object.entries(liveBindings(environment)) as [keyof typeof SERVERS, LiveTickets | LiveMail][]) {
    const service = contract === 'mail' ? 'inbox' : contract;
    if (environment.binding !== 'sandbox')
      return `services.${service}.live needs binding "sandbox": worlds make accounts there, write, and clean up, which no system in production is for`;
    const at = `services.${service}.live`;
    const { server, scheme, address } = SERVERS[contract];
    if (live.server !== server) return `${at}.server is ${JSON.stringify(live.server)}; expected ${JSON.stringify(server)}`;
    if (typeof live.address === 'string' ? !address.test(live.address) : !VARIABLE.test(live.address?.variable ?? ''))
      return `${at}.address is ${JSON.stringify(live.address)}; expected an address that begins with ${scheme}:// or ${scheme}s:// and holds no password, or { variable: NAME }`;
    if (!VARIABLE.test(live.secret?.variable ?? '')) return `${at}.secret is to be { variable: NAME }, the variable that holds the secret`;
  }
  return null;
}

const SERVERS = {
  tickets: { server: 'request-tracker', scheme: 'http', address: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/ },
  mail: { server: 'smtp-imap', scheme: 'smtp', address: /^smtps?:\/\/[^\s/?#@]+\/?(\?[^\s#@]*)?$/ },
} as const;
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,127}$/;
