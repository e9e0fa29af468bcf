import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Armed, Failpoint, StormPlan } from './plan.ts';
import { type Command, type Place, startCommand } from './processes.ts';

const RESTART_MS = 300;
/** Failpoints that are armed together, beside the rare ones. */
const AT_ONCE = 2;

/**
 * A `trialbed worker` that is started again whenever it ends, with the next failpoints armed and all rare ones that were not reached. What kills it there is told to `reached`.
 */
export class OwnWorker implements AsyncDisposable {
  private readonly place: Place;
  private readonly usual: Armed[];
  private readonly rare: Armed[];
  private readonly reached: (name: Failpoint, pid: number, at: number) => void;
  private readonly endedByItself: (how: string) => void;
  private command: Command;
  private stopping = false;
  private readonly running: Promise<void>;

  constructor(
    place: Place,
    plan: Pick<StormPlan, 'usual' | 'rare'>,
    told: { reached(name: Failpoint, pid: number, at: number): void; endedByItself(how: string): void },
  ) {
    this.place = place;
    this.usual = [...plan.usual];
    this.rare = [...plan.rare];
    this.reached = told.reached;
    this.endedByItself = told.endedByItself;
    this.command = this.start();
    this.running = this.keep();
  }

  get pid(): number {
    return this.command.pid;
  }

  /** Failpoints that nothing has come to yet. */
  get left(): readonly Failpoint[] {
    return [...this.usual, ...this.rare].map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopping = true;
    this.command.kill('SIGTERM');
    const timer = setTimeout(() => this.command.kill('SIGKILL'), 30_000);
    await this.running;
    clearTimeout(timer);
  }

  private start(): Command {
    const armed = [...this.usual.slice(0, AT_ONCE), ...this.rare].map(({ name, hit }) => `${name}:${hit}`).join(',');
    return startCommand(this.place, 'own-worker', ['worker'], { TRIALBED_FAILPOINTS: armed });
  }

  private async keep(): Promise<void> {
    let read = 0;
    while (!this.stopping) {
      const { pid, ended } = this.command;
      const { code, signal } = await ended;
      const at = Date.now();
      const log = await readFile(join(this.place.home, 'logs', 'own-worker.log'), 'utf8');
      const [, name] = /failpoint (\w+):/.exec(log.slice(read)) ?? [];
      read = log.length;
      if (name !== undefined) this.note(name as Failpoint, pid, at);
      else if (signal === null && !this.stopping) this.endedByItself(`the worker ended with status ${code}`);
      if (this.stopping) return;
      await sleep(RESTART_MS);
      if (this.stopping) return;
      this.command = this.start();
    }
  }

  private note(name: Failpoint, pid: number, at: number): void {
    for (const list of [this.usual, this.rare]) {
      const index = list.findIndex((one) => one.name === name);
      if (index >= 0) list.splice(index, 1);
    }
    this.reached(name, pid, at);
  }
}
