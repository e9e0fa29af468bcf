import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServicePlan } from './plan.ts';
import { startMark } from './process.ts';
import { type FromSupervisor, onMessage, type StartedServices, type SupervisorStatus, send, socketPath, type ToSupervisor } from './protocol.ts';

/** The services that a command needs could not be started. */
export class ServicesError extends Error {
  override readonly name = 'ServicesError';
  /** That of the error that stopped the start, such as `postgres_start`; `services_differ`; `supervisor`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A connection that counts as a user of the services until it ends. */
export interface SupervisorConnection {
  readonly services: StartedServices;
  /** Settles when the connection has ended, by whomever. */
  readonly ended: Promise<void>;
  pin(): Promise<void>;
  /** Resolves when others use the services or everything has stopped. */
  release(): Promise<void>;
}

/** Longest time from a cold start to running services; pulling an image is in it. */
const START_MS = 660_000;

/**
 * Connects to the home's supervisor as a user, starting one when there is none. Of many that start one at the same time, the lock of
 * the home lets one through, and all end up with that one. @throws {ServicesError}
 */
export async function useSupervisor(plan: ServicePlan, progress: (text: string) => void): Promise<SupervisorConnection> {
  const path = await socketPath(plan.home);
  const deadline = Date.now() + START_MS;
  let starting: StartedSupervisor | null = null;
  while (Date.now() < deadline) {
    const socket = await open(path);
    if (socket === null) {
      if (starting === null || starting.exited()) {
        // Nothing listens and what we started has ended: it failed, or it met one that was just stopping.
        if (starting?.failed() === true)
          throw new ServicesError('supervisor', `the process that runs the services ended at its start; its log ends with\n${await logTail(plan.home)}`);
        starting = startSupervisor(plan);
      }
      await sleep(50);
      continue;
    }
    const outcome = await acquire(socket, plan, progress);
    if (outcome !== 'stopped') return outcome;
    starting = null;
  }
  throw new ServicesError('supervisor', `the services did not start within ${START_MS / 60_000} minutes; their logs are in ${join(plan.home, 'logs')}`);
}

/** What the home's supervisor says of itself; null when there is none. */
export async function supervisorStatus(home: string): Promise<SupervisorStatus | null> {
  const socket = await open(await socketPath(home));
  if (socket === null) return null;
  const status = await ask(socket, { type: 'status' });
  socket.destroy();
  return status;
}

/**
 * Takes back the wish to keep the services, and with `force` ends them under their users. Resolves when they have stopped,
 * or with the process ids of the users that they now go on for. Null when there is no supervisor.
 */
export async function endSupervisor(home: string, force: boolean): Promise<readonly number[] | null> {
  const socket = await open(await socketPath(home));
  if (socket === null) return null;
  const ended = endOf(socket);
  const status = await ask(socket, force ? { type: 'stop' } : { type: 'pin', pinned: false });
  if (status !== null && status.users.length > 0 && !force) {
    socket.destroy();
    return status.users;
  }
  await (status === null ? ended : gone(ended, status.pid));
  return [];
}

async function acquire(socket: Socket, plan: ServicePlan, progress: (text: string) => void): Promise<SupervisorConnection | 'stopped'> {
  const ended = endOf(socket);
  const answer = Promise.withResolvers<FromSupervisor>();
  let pinned: () => void = () => undefined;
  let released: () => void = () => undefined;
  onMessage<FromSupervisor>(socket, (message) => {
    if (message.type === 'progress') progress(message.text);
    else if (message.type === 'released') released();
    else if (message.type === 'status') pinned();
    else if (message.type !== 'stopping') answer.resolve(message);
  });
  send(socket, { type: 'acquire', pid: process.pid, plan });
  const first = await Promise.race([answer.promise, ended]);
  if (first === undefined) return 'stopped';
  if (first.type === 'failed') {
    // What it started is being stopped; a caller that ends now leaves nothing behind.
    if (first.code === 'services_differ') socket.destroy();
    else await gone(ended, first.pid);
    throw new ServicesError(first.code, first.message);
  }
  if (first.type !== 'ready') throw new ServicesError('supervisor', `the supervisor answered ${first.type} to a request for services`);
  // A command that forgets to release must still be able to end.
  socket.unref();
  return {
    services: first.services,
    ended,
    async pin() {
      socket.ref();
      const done = new Promise<void>((resolve) => {
        pinned = resolve;
      });
      send(socket, { type: 'pin', pinned: true });
      await Promise.race([done, ended]);
      socket.unref();
    },
    async release() {
      socket.ref();
      const done = new Promise<void>((resolve) => {
        released = resolve;
      });
      send(socket, { type: 'release' });
      await Promise.race([done, gone(ended, first.pid)]);
      socket.destroy();
    },
  };
}

async function ask(socket: Socket, question: ToSupervisor): Promise<SupervisorStatus | null> {
  const answer = new Promise<SupervisorStatus | null>((resolve) => {
    onMessage<FromSupervisor>(socket, (message) => {
      if (message.type === 'status') resolve(message.status);
    });
    socket.once('close', () => resolve(null));
  });
  send(socket, question);
  return answer;
}

interface StartedSupervisor {
  exited(): boolean;
  failed(): boolean;
}

/** In a session of its own, so that Ctrl-C in the terminal reaches the command and not its services. */
function startSupervisor(plan: ServicePlan): StartedSupervisor {
  const logs = join(plan.home, 'logs');
  mkdirSync(logs, { recursive: true });
  const log = openSync(join(logs, 'supervisor.log'), 'a');
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './supervisor-main.ts' : './supervisor-main.js', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], { cwd: plan.home, detached: true, stdio: ['pipe', log, log] });
  closeSync(log);
  child.on('error', () => undefined);
  // Standard input, not an argument: arguments can be seen by every user of the machine.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(JSON.stringify(plan));
  child.unref();
  return { exited: () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined, failed: () => child.exitCode !== 0 };
}

async function logTail(home: string): Promise<string> {
  const lines = (await readFile(join(home, 'logs', 'supervisor.log'), 'utf8').catch(() => '')).trim().split('\n');
  return lines.slice(-5).join('\n');
}

/** Resolves when the connection and then the process behind it have ended, so that a command that ends next leaves nothing. */
async function gone(ended: Promise<undefined>, pid: number): Promise<void> {
  await ended;
  for (let waited = 0; waited < 5_000 && (await startMark(pid)) !== null; waited += 10) await sleep(10);
}

function endOf(socket: Socket): Promise<undefined> {
  return new Promise((resolve) => socket.once('close', () => resolve(undefined)));
}

async function open(path: string): Promise<Socket | null> {
  const socket = connect(path);
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', () => resolve(null));
  });
}
