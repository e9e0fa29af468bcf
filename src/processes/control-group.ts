import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, readlink, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Processes and threads that one agent or tool server may have at once, where the system counts them. */
export const MAX_TASKS = 1_024;
/** How long the kernel may take to end what is killed. */
const END_MS = 2_000;
const CHECK_MS = 20;

/** What this machine lets us do with a program that wants to get away. */
export interface ProcessHold {
  /** All that a program started ends with it, whatever it has made of its environment, session and group. */
  readonly ends: boolean;
  /** It has at most {@link MAX_TASKS} processes and threads, also where we are root. */
  readonly bounds: boolean;
}

/**
 * A control group (cgroup v2 of Linux) for one program: what is started in it stays in it. Only a program that may write control groups itself, as root or in a
 * delegated tree, and sets out to, can leave it.
 */
export class ControlGroup {
  /** Folders of it, one in each hierarchy; the first can kill. */
  readonly folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.folders = folders;
  }

  /** Takes a process in that has started nothing yet. One that has ended meanwhile needs none. */
  enter(pid: number): void {
    for (const folder of this.folders) {
      try {
        writeFileSync(join(folder, 'cgroup.procs'), String(pid));
      } catch {
        // It has ended, or it is held by its group and its environment alone.
      }
    }
  }

  /** Ends all that is in it, and the group itself. Never throws. */
  async end(): Promise<void> {
    for (const folder of this.folders) await writeFile(join(folder, 'cgroup.kill'), '1', { flag: constants.O_WRONLY }).catch(() => {});
    for (let waited = 0; waited < END_MS; waited += CHECK_MS) {
      const left = await Promise.all(this.folders.map((folder) => rmdir(folder).then(done, (error: NodeJS.ErrnoException) => error.code === 'EBUSY')));
      if (!left.includes(true)) return;
      await sleep(CHECK_MS);
    }
  }
}

const done = () => false;

/** Null: none can be made here. A program is then held by its process group, and by its environment, as long as it leaves these alone. */
export async function makeControlGroup(): Promise<ControlGroup | null> {
  hierarchies ??= usable();
  const parents = await hierarchies;
  return parents.length === 0 ? null : groupUnder(parents);
}

/** Tries it out. */
export async function processHold(): Promise<ProcessHold> {
  hierarchies ??= usable();
  const parents = await hierarchies;
  return parents.length === 0 ? { ends: false, bounds: false } : holdUnder(parents);
}

/** Of this process: asked for once, since nothing changes it. */
let hierarchies: Promise<readonly string[]> | null = null;
let count = 0;

async function groupUnder(parents: readonly string[]): Promise<ControlGroup | null> {
  const name = `${await ours()}${process.pid}-${++count}`;
  const folders = parents.map((parent) => join(parent, name));
  const group = new ControlGroup(folders);
  try {
    for (const folder of folders) {
      await mkdir(folder);
      // Not there where the hierarchy does not count processes.
      await access(join(folder, 'pids.max')).then(
        () => writeFile(join(folder, 'pids.max'), String(MAX_TASKS)),
        () => {},
      );
    }
    await access(join(folders[0] ?? '', 'cgroup.kill'), constants.W_OK);
    return group;
  } catch {
    await group.end();
    return null;
  }
}

/**
 * Folders in which groups can be made and entered, one in each hierarchy: such that processes are counted there, or else any. In version 2 a group that has processes of
 * its own counts those of no group in it, so a group beside ours comes first; version 1 counts on its own. Without version 2 nothing is killed, and there are none.
 */
async function usable(): Promise<readonly string[]> {
  const [mounts = '', own = ''] = await Promise.all(['mountinfo', 'cgroup'].map((name) => readFile(`/proc/self/${name}`, 'utf8').catch(() => '')));
  const [unified] = placeOf(mounts, own, { type: 'cgroup2', option: '', controller: '' });
  if (unified === undefined) return [];
  const counting = placeOf(mounts, own, { type: 'cgroup', option: 'pids', controller: 'pids' });
  const candidates = [[dirname(unified)], [unified, ...counting], [unified]].filter(
    ([parent]) => parent !== undefined && existsSync(join(parent, 'cgroup.procs')),
  );
  await Promise.all([...new Set(candidates.flat())].map(endForgotten));
  let any: readonly string[] = [];
  for (const parents of candidates) {
    const held = await holdUnder(parents);
    if (held.bounds) return parents;
    if (held.ends && any.length === 0) any = parents;
  }
  return any;
}

/** Folder of this process in a hierarchy; none where it is not mounted, or only a part of it. */
function placeOf(mounts: string, own: string, { type, option, controller }: { readonly type: string; readonly option: string; readonly controller: string }) {
  const mount = mounts.split('\n').find((line) => {
    const [, kind, , options = ''] = line.split(' - ')[1]?.match(/^(\S+) (\S+) (\S+)/) ?? [];
    return kind === type && (option === '' || options.split(',').includes(option));
  });
  const [, , , root, at = ''] = mount?.split(' ') ?? [];
  const path = own.split('\n').find((line) => line.split(':')[1] === controller);
  const folder = path === undefined ? '' : join(at, path.split(':').slice(2).join(':'));
  // In the shell's script it stands between quotes.
  return root === '/' && /^\/[^'\n]*$/.test(folder) ? [folder] : [];
}

async function holdUnder(parents: readonly string[]): Promise<ProcessHold> {
  const group = await groupUnder(parents);
  if (group === null) return { ends: false, bounds: false };
  const enters = promisify(execFile)('/bin/sh', ['-c', `set -e; ${enterScript(group)}`]);
  const ends = await enters.then(() => true, done);
  const limits = await Promise.all(group.folders.map((folder) => readFile(join(folder, 'pids.max'), 'utf8').catch(() => 'max')));
  await group.end();
  return { ends, bounds: ends && limits.some((limit) => Number(limit) === MAX_TASKS) };
}

/** For a shell that is to become the program. */
export function enterScript({ folders }: ControlGroup): string {
  return folders.map((folder) => `echo 0 >'${folder}/cgroup.procs'; `).join('');
}

/** For a shell outside of the group. */
export function killScript({ folders }: ControlGroup): string {
  return `echo 1 >'${folders[0]}/cgroup.kill'; `;
}

/** Beginning of the names of our groups: process ids mean something in one namespace of them only. */
async function ours(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return `trialbed-${namespace.replace(/\D/g, '')}-`;
}

/** Groups of a process that was killed: it could not end what is in them. */
async function endForgotten(parent: string): Promise<void> {
  const prefix = await ours();
  const names = await readdir(parent).catch(() => []);
  const dead = names.filter((name) => name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length).split('-')[0])));
  await Promise.all(dead.map((name) => new ControlGroup([join(parent, name)]).end()));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
