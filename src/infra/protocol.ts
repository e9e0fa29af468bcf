import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServicePlan } from './plan.ts';

/** What the supervisor made, as far as it made it. */
export interface StartedServices {
  readonly storeUrl: string | null;
  readonly worlds: { readonly name: string; readonly kind: 'container' | 'embedded'; readonly adminUrl: string } | null;
  readonly temporal: { readonly address: string; readonly uiUrl: string } | null;
  /** What a person should know about how it was done: a fall-back, a folder elsewhere. */
  readonly notes: readonly string[];
}

export interface ServiceStatus {
  readonly name: string;
  readonly state: 'starting' | 'running' | 'restarting' | 'stopped';
  /** Process id, or the container's short id. */
  readonly id: string | null;
  readonly restarts: number;
}

export interface SupervisorStatus {
  readonly pid: number;
  readonly pinned: boolean;
  /** Process ids of the live users. */
  readonly users: readonly number[];
  readonly services: readonly ServiceStatus[];
  readonly started: StartedServices | null;
}

/** A line from a user to the supervisor. A connection that acquired is a user until it ends, however it ends. */
export type ToSupervisor =
  | { readonly type: 'acquire'; readonly pid: number; readonly plan: ServicePlan }
  | { readonly type: 'release' }
  | { readonly type: 'status' }
  /** Keep the services when no user is left, or no longer. */
  | { readonly type: 'pin'; readonly pinned: boolean }
  /** End everything, whoever uses it. */
  | { readonly type: 'stop' };

/** A line from the supervisor. */
export type FromSupervisor =
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'ready'; readonly pid: number; readonly services: StartedServices }
  | { readonly type: 'failed'; readonly pid: number; readonly code: string; readonly message: string }
  /** It stops and takes no new user; the connection ends when everything has stopped. */
  | { readonly type: 'stopping' }
  | { readonly type: 'released' }
  | { readonly type: 'status'; readonly status: SupervisorStatus };

/** Sends one message. */
export function send(socket: Socket, message: ToSupervisor | FromSupervisor): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls back for each message; both ends are of the same version of this program, so their shape is not checked. */
export function onMessage<M extends ToSupervisor | FromSupervisor>(socket: Socket, listener: (message: M) => void): void {
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => listener(JSON.parse(line) as M));
  // The interface repeats the socket's error, which its owner handles where it hears of the end.
  lines.on('error', () => undefined);
}

/**
 * Path of the home's control socket. It lies in the home; where that path is longer than the system allows for sockets
 * (104 bytes on macOS), in a folder of this user's below the system's temporary folder.
 */
export async function socketPath(home: string): Promise<string> {
  const inHome = join(home, 'supervisor.sock');
  if (Buffer.byteLength(inHome) < 100) return inHome;
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `trialbed-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = await stat(folder);
  if (owner !== uid || (mode & 0o077) !== 0)
    throw new Error(`${folder} must belong to this user and be closed to others, because the services are controlled through it; remove it`);
  return join(folder, `${createHash('sha256').update(home).digest('hex').slice(0, 24)}.sock`);
}
