import type { NightSchedule } from '../../client/nights/schedules.ts';
import { INVARIANTS } from '../../domain/night.ts';
import { STATES } from '../../report/nights/night-markdown.ts';
import { plainText } from '../../report/plain-text.ts';
import type { NightRow } from '../../store/nights.ts';
import { type AddCommand, type CommandContext, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, type Host, note, print, printJson } from '../host.ts';
import { collect, concurrency, duration, faultNames, positiveInteger } from '../options.ts';
import { textTable } from '../table.ts';
import type { Command } from 'commander';

const NAME = 'name of the schedule, as "trialbed schedule list" tells it';

/** `trialbed schedule nightly|list|show|pause|resume|trigger|delete`. */
export const addSchedule: AddCommand = (program, context) => {
  const schedule = program
    .command('schedule')
    .summary('run a suite every night')
    .description(
      'Run a suite every night by a Schedule of Temporal, and look at what has to hold whatever the agents achieve. A "trialbed worker" has to run when a night is due.',
    );
  addNightly(schedule, context);
  addList(schedule, context);
  addShow(schedule, context);
  addSteering(schedule, context);
};

interface NightlyFlags extends CommonFlags {
  readonly at: string;
  readonly timezone?: string;
  readonly name?: string;
  readonly agent?: readonly string[];
  readonly case?: readonly string[];
  readonly tag?: readonly string[];
  readonly faults?: readonly string[];
  readonly trials?: number;
  readonly concurrency?: number;
  readonly contract?: true;
  readonly catchUp?: number;
  readonly webhook?: string;
  readonly mail?: string;
}

function addNightly(schedule: Command, { host, action }: CommandContext): void {
  const command = schedule
    .command('nightly')
    .summary('make a schedule')
    .description(
      'Run a suite every night at a time of day. While a night runs, the next one does not begin; a night that could not begin in time begins later, up to --catch-up; after a night that failed the ' +
        'schedule is paused. Each night first removes what an earlier one left that was killed.',
    )
    .argument('<suite>', 'name of a built-in suite, or path of a suite folder')
    .requiredOption('--at <time>', 'time of day, for example 02:00')
    .option('--timezone <name>', 'whose clocks tell the time, for example Europe/Berlin (default: UTC)')
    .option('--name <name>', "name of the schedule (default: the suite's)")
    .option('--agent <name>', 'as of "trialbed run" (repeatable)', collect)
    .option('--case <glob>', 'only cases whose id matches (repeatable: any may match)', collect)
    .option('--tag <tag>', 'only cases with this tag (repeatable: any may match)', collect)
    .option('--faults <names>', 'as of "trialbed run" (repeatable)', faultNames)
    .option('--trials <n>', 'repetitions of each case and agent', positiveInteger)
    .option('--concurrency <n>', 'trials in flight', concurrency)
    .option('--contract', "also hold the suite's cassettes against what the tools take and answer")
    .option('--catch-up <duration>', 'how long after its time a night may still begin, such as 30m (default: 1h)', duration)
    .option('--webhook <url>', 'tell failures, changes of versions and nights that did not run there; $NAME: the URL is in that variable of the worker')
    .option('--mail <address>', 'tell them by mail, through the server that TRIALBED_NIGHT_SMTP of the worker names')
    .action(
      action(async (suite: string, flags: NightlyFlags) => {
        const { at, timezone, name, agent, case: cases, tag, faults, trials, concurrency: inFlight, contract, catchUp, webhook, mail } = flags;
        const made = await withClient(host, flags, (client) =>
          client.schedules.nightly({
            ...{ suite, at },
            ...(timezone !== undefined && { timezone }),
            ...(name !== undefined && { name }),
            ...(agent && { agents: agent }),
            ...(cases && { cases }),
            ...(tag && { tags: tag }),
            ...(faults && { faults }),
            ...(trials !== undefined && { trials }),
            ...(inFlight !== undefined && { concurrency: inFlight }),
            ...(contract && { contract }),
            ...(catchUp !== undefined && { catchUpMs: catchUp }),
            ...(webhook !== undefined && { webhook }),
            ...(mail !== undefined && { mail }),
          }),
        );
        if (flags.json) printJson(host, { type: 'schedule', ...made });
        else {
          print(
            host,
            `schedule ${plainText(made.name)} runs ${plainText(made.suite)} every night at ${made.at} ${made.timezone}, next ${made.next ?? 'never'}`,
          );
          const hint = hintsFor(host, flags);
          note(host, `"${hint('worker')}" has to run then; "${hint(`schedule trigger ${made.name}`)}" begins a night now`);
        }
        return EXIT.ok;
      }),
    );
  common(command, ['schedule nightly support-desk --at 02:00', "schedule nightly ./my-suite --at 03:30 --timezone Europe/Berlin --webhook '$NIGHT_HOOK'"]);
}

function addList(schedule: Command, { host, action }: CommandContext): void {
  const command = schedule
    .command('list')
    .summary('list schedules')
    .description('List schedules of nights, when each is due next, and how its newest night ended.')
    .action(
      action(async (flags: CommonFlags) => {
        const series = await withClient(host, flags, async (client) => {
          const schedules = await client.schedules.list();
          return Promise.all(schedules.map(({ name }) => client.schedules.show(name, { limit: 1 })));
        });
        if (flags.json) for (const { schedule: one, nights } of series) printJson(host, { type: 'schedule', ...one, newest: nights[0] ?? null });
        else if (series.length === 0) note(host, 'there is no schedule; "trialbed schedule nightly SUITE --at 02:00" makes one');
        else {
          const rows = series.map(({ schedule: one, nights }) => [
            plainText(one.name),
            plainText(one.suite),
            `${one.at} ${one.timezone}`,
            nextOf(one),
            nights[0] ? STATES[nights[0].state] : '',
          ]);
          for (const line of textTable(['NAME', 'SUITE', 'AT', 'NEXT', 'NEWEST'], rows, { columns: columnsOf(host.out) })) print(host, line);
        }
        return EXIT.ok;
      }),
    );
  common(command, ['schedule list', 'schedule list --json']);
}

function addShow(schedule: Command, { host, action }: CommandContext): void {
  const command = schedule
    .command('show')
    .summary('show the nights of a schedule')
    .description(
      'Show the nights of a schedule, the newest first, with what each met and where something became another version. No rate of success is told: a night measures no agent.',
    )
    .argument('<name>', NAME)
    .option('--limit <n>', 'nights (default: 30)', positiveInteger)
    .action(
      action(async (name: string, flags: CommonFlags & { readonly limit?: number }) => {
        const { schedule: one, nights } = await withClient(host, flags, (client) =>
          client.schedules.show(name, flags.limit === undefined ? {} : { limit: flags.limit }),
        );
        if (flags.json) printJson(host, { type: 'schedule', ...one, nights });
        else for (const line of seriesLines(one, nights, columnsOf(host.out))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(command, ['schedule show support-desk', 'schedule show support-desk --limit 7 --json']);
}

function addSteering(schedule: Command, { host, action }: CommandContext): void {
  const pausing = schedule
    .command('pause')
    .summary('let no night begin')
    .description('Let no night begin until "trialbed schedule resume". One that runs goes on. Nights that are due meanwhile are not missed.')
    .argument('<name>', NAME)
    .option('--note <text>', 'why')
    .action(
      action(async (name: string, flags: CommonFlags & { readonly note?: string }) => {
        const one = await withClient(host, flags, (client) => client.schedules.pause(name, flags.note ?? 'paused by a person'));
        return said(host, flags, one, `schedule ${plainText(one.name)} is paused`);
      }),
    );
  common(pausing, ['schedule pause support-desk', 'schedule pause support-desk --note "the ticket system moves"']);
  const resuming = schedule
    .command('resume')
    .summary('let nights begin again')
    .description('Let nights begin again, after a pause or after a night that failed.')
    .argument('<name>', NAME)
    .action(
      action(async (name: string, flags: CommonFlags) => {
        const one = await withClient(host, flags, (client) => client.schedules.resume(name));
        return said(host, flags, one, `schedule ${plainText(one.name)} goes on, next ${one.next ?? 'never'}`);
      }),
    );
  common(resuming, ['schedule resume support-desk']);
  const triggering = schedule
    .command('trigger')
    .summary('begin a night now')
    .description('Begin a night now, unless one of this schedule runs. It is not waited for.')
    .argument('<name>', NAME)
    .action(
      action(async (name: string, flags: CommonFlags) => {
        await withClient(host, flags, (client) => client.schedules.trigger(name));
        if (flags.json) printJson(host, { type: 'schedule', name, triggered: true });
        else print(host, `a night of ${plainText(name)} begins where a "trialbed worker" runs; "${hintsFor(host, flags)(`schedule show ${name}`)}" shows it`);
        return EXIT.ok;
      }),
    );
  common(triggering, ['schedule trigger support-desk']);
  const deleting = schedule
    .command('delete')
    .summary('delete a schedule')
    .description('Delete a schedule. What its nights have shown stays in the store and in their reports.')
    .argument('<name>', NAME)
    .action(
      action(async (name: string, flags: CommonFlags) => {
        await withClient(host, flags, (client) => client.schedules.remove(name));
        if (flags.json) printJson(host, { type: 'schedule', name, deleted: true });
        else print(host, `schedule ${plainText(name)} is deleted`);
        return EXIT.ok;
      }),
    );
  common(deleting, ['schedule delete support-desk']);
}

function said(host: Host, flags: CommonFlags, schedule: NightSchedule, line: string): number {
  if (flags.json) printJson(host, { type: 'schedule', ...schedule });
  else print(host, line);
  return EXIT.ok;
}

function seriesLines(schedule: NightSchedule, nights: readonly NightRow[], columns: number): readonly string[] {
  const { name, suite, at, timezone, missed, skipped } = schedule;
  const rows = nights.flatMap(({ due, state, why, body: { trials, faults, changes = [], findings = [] } }) => [
    [
      due.toISOString().slice(0, 16).replace('T', ' '),
      STATES[state],
      trials ? `${trials.ended}/${trials.planned}` : '',
      faults ? `${faults.rateLimited} / ${faults.unavailable} / ${faults.timedOut}` : '',
      plainText(why ?? findings.map(({ invariant }) => INVARIANTS[invariant]).join(', ')),
    ],
    ...changes.map(({ what, before, now }) => ['', 'changed', '', '', plainText(`${what}: ${before ?? 'not there'} -> ${now ?? 'not there'}`)]),
  ]);
  return [
    `${plainText(name)}: ${plainText(suite)} at ${at} ${timezone}, ${nextOf(schedule)}`,
    ...(missed + skipped > 0 ? [`Temporal let ${missed} times pass that were too old, and ${skipped} at which a night still ran`] : []),
    ...(rows.length === 0 ? ['there was no night yet'] : textTable(['DUE (UTC)', 'INVARIANTS', 'ENDED', '429 / AWAY / NO ANSWER', 'WHY'], rows, { columns })),
  ];
}

function nextOf({ paused, note: why, next }: NightSchedule): string {
  return paused ? `paused${why === null ? '' : `: ${plainText(why)}`}` : `next ${next?.slice(0, 16).replace('T', ' ') ?? 'never'}`;
}
