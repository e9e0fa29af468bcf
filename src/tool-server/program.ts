import { delimiter, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceAddresses } from '../environments/services.ts';
import type { ToolServer, WorldValue } from '../environments/tool-server.ts';
import type { World } from '../environments/world.ts';
import { findProgram } from '../processes/find-program.ts';
import { ToolServerError } from './errors.ts';
import type { ServerOptions } from './server.ts';

const DEFAULT_START_SECONDS = 30;
/** Shorter texts are no secrets, and taking them out would make a sentence unreadable. */
const MIN_SECRET_LENGTH = 8;

/** Values of variables of our environment; unset ones are left out. */
export type EnvironmentOf = (names: readonly string[]) => { readonly [name: string]: string };

/** How the tool server of a world is started: its program, and what its environment tells it of the world. @throws {ToolServerError} */
export async function serverOptions(server: ToolServer, world: World, addresses: ServiceAddresses, environmentOf: EnvironmentOf): Promise<ServerOptions> {
  const folder = server.folder instanceof URL ? fileURLToPath(server.folder) : server.folder;
  const [{ user, server: access }, clock] = await Promise.all([world.credentials(), world.clock()]);
  if (access === null) throw new ToolServerError([`has no access to world ${world.ref.id}, which was made without one`]);
  // Neither the program nor what it starts is found without a PATH.
  const ours = environmentOf(['PATH', ...(server.env ?? [])]);
  const path = ours['PATH'] ?? '';
  const file = await findProgram(server.command, folder, path);
  if (file === null) {
    const where = server.command.includes('/') ? folder : `PATH (${path.split(delimiter).length} folders)`;
    throw new ToolServerError([`cannot be started: there is no program ${server.command} in ${where} that can be executed`]);
  }
  const values = valuesOf({ user, ...access }, addresses, clock);
  const told = Object.entries(server.environment ?? {}).map(([name, value]) => [name, typeof value === 'string' ? values[value] : value.text]);
  const { PATH: _path, ...named } = ours;
  return {
    program: { file, args: server.args ?? [], folder: resolve(folder), env: { ...ours, ...(Object.fromEntries(told) as { [name: string]: string }) } },
    startMs: (server.startSeconds ?? DEFAULT_START_SECONDS) * 1000,
    secrets: [access.secret, encodeURIComponent(access.secret), ...Object.values(named)].filter(({ length }) => length >= MIN_SECRET_LENGTH),
  };
}

function valuesOf(
  { user, secret, sqlUrl }: { readonly user: string; readonly secret: string; readonly sqlUrl: string },
  { smtp, tickets }: ServiceAddresses,
  clock: Awaited<ReturnType<World['clock']>>,
): { readonly [value in WorldValue]: string } {
  const sql = new URL(sqlUrl);
  return {
    'database.url': sqlUrl,
    'database.host': sql.hostname.replace(/^\[|\]$/g, ''),
    'database.port': sql.port || '5432',
    'database.name': decodeURIComponent(sql.pathname.slice(1)),
    'database.user': decodeURIComponent(sql.username),
    'database.password': secret,
    'smtp.url': `smtp://${encodeURIComponent(user)}:${encodeURIComponent(secret)}@${smtp.host}:${smtp.port}`,
    'smtp.host': smtp.host,
    'smtp.port': String(smtp.port),
    'smtp.user': user,
    'smtp.password': secret,
    'tickets.url': tickets,
    'tickets.token': `${user}.${secret}`,
    'clock.now': clock.now.toISOString(),
    'clock.timezone': clock.timezone,
  };
}
