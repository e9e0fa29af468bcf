import type { Trialbed, WatchedBatch } from '../../client/api.ts';
import { type AddCommand, common } from '../command.ts';
import { displayFor } from '../display.ts';
import { followEvents, type FollowFlags, showEnd } from '../follow.ts';
import { type Hint, hintsFor } from '../hint.ts';
import { type Host, note, settingsOf } from '../host.ts';
import { Interruption } from '../interruption.ts';
import { gates } from '../options.ts';

/** `trialbed watch [BATCH]`. */
export const addWatch: AddCommand = (program, { host, action }) => {
  const command = program
    .command('watch')
    .summary('watch a batch that somebody else runs, or that lost its command')
    .description(
      'Show a batch as the command that began it does, to its end: the same view, the same summary, report and exit code. Where nobody works on it, because its command is dead, and pack and agents ' +
        'are here as it was made with, a worker is started and the batch goes on. Ctrl-C only ends the watching.',
    )
    .argument('[batch]', 'id of a batch (default: the newest)')
    .option('--report <dir>', 'folder for the report (default: reports/BATCH in the home folder)')
    .option(
      '--gate <gate>',
      'what the batch has to reach, such as "pass>=0.9" or "forbidden[critical]==0" (repeatable: all must hold; default: as the batch was run with)',
      gates,
    )
    .option('--no-gate', 'exit 0 whatever the verdicts are; infrastructure errors still exit 3')
    .action(action((batch: string | undefined, flags: FollowFlags) => watch(host, async () => batch, flags)));
  common(command, ['watch', 'watch ksu672m9bf', 'watch ksu672m9bf --json']);
};

/** Follows the batch that is chosen (the newest where none is) to its end, and gives the exit code. */
export async function watch(host: Host, choose: (client: Trialbed) => Promise<string | undefined>, flags: FollowFlags): Promise<number> {
  const hint = hintsFor(host, flags);
  using interruption = new Interruption(host, flags, 'the watching ends');
  const display = displayFor(host, flags);
  try {
    await using client = await interruption.over(host.connect(settingsOf(host, flags, (line) => display.log(line))));
    if (interruption.signal !== null) return interruption.exit;
    const watched = await interruption.over(choose(client).then((batch) => client.watch(batch)));
    for (const line of workLines(watched, hint)) note(host, line);
    const finished = await followEvents(watched, interruption, (event) => display.event(event));
    if (finished !== null) return await showEnd({ host, flags, client, display }, finished);
    watched.leave();
    display.close();
    note(host, leftLine(watched, hint));
    return interruption.exit;
  } finally {
    display.close();
  }
}

/** Who works on it, where that is not as it was left. */
function workLines({ id, work, why }: WatchedBatch, hint: Hint): readonly string[] {
  if (work === 'ours') return [`nobody worked on batch ${id}: a worker was started, and it goes on`];
  if (work !== 'nobody') return [];
  return [
    `nobody works on batch ${id}: no worker takes its trials, and none can be started here (${why})`,
    `where suite, pack and agents are as it was made with, the command that began it goes on with it, or "${hint(`watch ${id}`)}"; "${hint('worker')}" ends what is under way`,
  ];
}

function leftLine({ id, work }: WatchedBatch, hint: Hint): string {
  if (work === 'ours') return `batch ${id} is not watched any more, and its worker ended with the watching: "${hint(`watch ${id}`)}" goes on from here`;
  return `batch ${id} is not watched any more${work === 'others' ? ', and goes on' : ''}: "${hint(`watch ${id}`)}" attaches again`;
}
