import { hostname } from 'node:os';

const OF_A_COMMAND = 'of-a-command:';

/** How a worker names itself to Temporal. One `ofACommand` ends with the command that started it. */
export function workerIdentity(ofACommand: boolean): string {
  return `${ofACommand ? OF_A_COMMAND : ''}${process.pid}@${hostname()}`;
}

export interface WorkerPlace {
  readonly ofACommand: boolean;
  /** False: it was a process of this machine, and is gone. True where that cannot be told. */
  readonly mayLive: boolean;
}

/** What a name tells of the worker that gave it to itself. */
export function workerPlace(identity: string): WorkerPlace {
  const ofACommand = identity.startsWith(OF_A_COMMAND);
  const [, pid, host] = /^(\d+)@(.+)$/.exec(ofACommand ? identity.slice(OF_A_COMMAND.length) : identity) ?? [];
  return { ofACommand, mayLive: pid === undefined || host !== hostname() || isAlive(Number(pid)) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // There, and of somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
