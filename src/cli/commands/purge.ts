import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PurgedRecords, SubjectReport } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type CommonFlags, note, print, printJson } from '../host.ts';

interface PurgeFlags extends CommonFlags {
  readonly dryRun?: true;
  readonly subject?: string;
  readonly histories?: true;
  readonly settings: string;
}

/** `trialbed purge`. */
export const addPurge: AddCommand = (program, { host, action }) => {
  const command = program
    .command('purge')
    .summary('remove what has been kept for long enough, or what there is of one person')
    .description(
      'Remove what is older than the project keeps it, class by class: snapshots, raw_mail, conversation, ledger, verdicts. The times stand in trialbed.yaml (retention: { snapshots: 14d }); without it nothing is removed. ' +
        'With --subject, remove what there is of the person with that mail address, however old. Nothing of a trial that may still run is touched, nor what it was forked or reset from.',
    )
    .option('--dry-run', 'only tell what would be removed')
    .option('--subject <address>', 'remove what names this mail address, and what stands beside it')
    .option('--histories', 'with --subject: delete the histories of those trials in Temporal as well')
    .option('--settings <file>', 'file that says for how long what is kept', 'trialbed.yaml')
    .action(
      action(async (flags: PurgeFlags) => {
        const dryRun = flags.dryRun === true;
        const { subject } = flags;
        if (flags.histories && subject === undefined)
          throw new UsageError('--histories is for --subject: other histories end by the retention of their namespace');
        if (subject !== undefined) {
          const report = await withClient(host, flags, (client) => client.purgeSubject(subject, { dryRun, histories: flags.histories === true }));
          if (flags.json) printJson(host, { type: 'purge_subject', dryRun, ...report });
          else for (const line of subjectLines(report, dryRun)) print(host, line);
          return EXIT.ok;
        }
        const settingsFile = resolve(host.cwd, flags.settings);
        const there = existsSync(settingsFile);
        if (!there && command.getOptionValueSource('settings') === 'cli')
          throw new UsageError(`there is no file ${flags.settings}; nothing was removed. --settings names the file that says for how long what is kept`);
        const purged = await withClient(host, flags, (client) => client.purge({ dryRun, settingsFile }));
        if (flags.json) for (const one of purged) printJson(host, { type: 'purge', dryRun, ...one });
        else for (const line of purgedLines(purged, dryRun)) print(host, line);
        if (!flags.json && purged.every(({ days }) => days === null))
          note(host, `everything is kept for ever: ${there ? `${flags.settings} sets no retention` : `there is no ${flags.settings} in this folder`}`);
        return EXIT.ok;
      }),
    );
  common(command, ['purge --dry-run', 'purge', 'purge --subject sofia@example.org --dry-run', 'purge --subject sofia@example.org --histories']);
};

function purgedLines(purged: readonly PurgedRecords[], dryRun: boolean): readonly string[] {
  return purged.map(({ class: name, days, count, needed }) => {
    const of = name === 'verdicts' ? 'batches' : 'attempts';
    return days === null
      ? `${name.padEnd(12)}  kept for ever`
      : `${name.padEnd(12)}  older than ${days} days: ${count} ${of} ${dryRun ? 'to be removed' : 'removed'}${needed === 0 ? '' : `; ${needed} stay, since trials that were forked or reset and have not ended go on from them`}`;
  });
}

function subjectLines({ values, trials, running, cases, histories }: SubjectReport, dryRun: boolean): readonly string[] {
  const found = Object.entries(values).map(([table, count]) => `${table} ${count}`);
  const { namespace, days, kept, deleted } = histories;
  const ends = days === null ? 'by the retention of the namespace' : `${days} days after their end, by the retention of the namespace`;
  return [
    plainText(
      found.length === 0 ? 'the store has nothing of this address' : `${dryRun ? 'to be removed' : 'removed'} in ${trials.length} trials: ${found.join(', ')}`,
    ),
    ...(running.length === 0
      ? []
      : [
          plainText(
            `${running.length} trials may still run; they and what they go on from were left alone. Repeat the command when they have ended: ${running.slice(0, 10).join(', ')}`,
          ),
        ]),
    ...(cases.length === 0
      ? []
      : [plainText(`case files that name it stay, since a case is known by its content; change them in the suite: ${cases.slice(0, 10).join(', ')}`)]),
    plainText(
      `Temporal, namespace ${namespace}: ${kept} histories of these trials${deleted > 0 ? `, ${deleted} of them deleted now` : kept === 0 ? '' : `; they go ${ends}, or now with --histories`}`,
    ),
    'files that were written before (reports, exports, logs, backups) are not reached from here',
  ];
}
