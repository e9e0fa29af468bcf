import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, note, paintFor, print, printJson, settingsOf } from '../host.ts';
import { Interruption } from '../interruption.ts';
import { duration } from '../options.ts';
import { comparisonLines, expectedLines, restoredLines, snapshotLines, snapshotTable } from '../snapshot-lines.ts';

const NAMES = 'id of a snapshot, of its trial or of an attempt (TRIAL.2), the beginning of one, or an exported file or folder';

/** `trialbed snapshot list|show|restore|end|diff|export|delete`. */
export const addSnapshot: AddCommand = (program, context) => {
  const { host, action } = context;
  const snapshot = program
    .command('snapshot')
    .summary('look into worlds that were kept')
    .description('Work with snapshots: what `trialbed run --keep` has kept of the worlds of trials.');

  const list = snapshot
    .command('list')
    .summary('list what was kept')
    .description('List snapshots, the newest first, and which of them are restored now.')
    .argument('[batch]', 'only those of this batch')
    .action(
      action(async (batch: string | undefined, flags: CommonFlags) => {
        const [rows, open] = await withClient(host, flags, (client) =>
          Promise.all([client.snapshots.list(batch === undefined ? {} : { batch }), client.snapshots.open()]),
        );
        if (flags.json)
          for (const row of rows) printJson(host, { type: 'snapshot', ...row, restoredUntil: open.find((one) => one.snapshot === row.id)?.until ?? null });
        else if (rows.length === 0) note(host, 'no snapshot was kept; "trialbed run SUITE --keep failed" keeps the worlds of trials that do not pass');
        else for (const line of snapshotTable(rows, open, columnsOf(host.out))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(list, ['snapshot list', 'snapshot list ksu672m9bf --json | jq -r .id']);

  const show = snapshot
    .command('show')
    .summary('show what a world came to')
    .description('Show a snapshot: where it is from, and the net effects in its world. With --json everything that is in it.')
    .argument('<snapshot>', NAMES)
    .action(
      action(async (name: string, flags: CommonFlags) => {
        const view = await withClient(host, flags, (client) => client.snapshots.show(name));
        if (flags.json) printJson(host, { type: 'snapshot_view', ...view });
        else for (const line of snapshotLines(view, paintFor(host.out))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(show, ['snapshot show ksu672m9bf-1f2a09c4', 'snapshot show ./kept/snapshot.json --json | jq .world.operations']);

  addRestore(snapshot, context);

  const end = snapshot
    .command('end')
    .summary('end a restored world')
    .description('End a world that was restored, with whoever reads in it, and remove the files that were written for it. The snapshot stays.')
    .argument('<snapshot>', NAMES)
    .action(
      action(async (name: string, flags: CommonFlags) => {
        const ended = await withClient(host, flags, (client) => client.snapshots.end(name));
        if (flags.json) printJson(host, { type: 'snapshot_end', snapshot: name, ended });
        else print(host, plainText(ended ? `the restored world of ${name} has ended` : `no restored world of ${name} stands: nothing was changed`));
        return EXIT.ok;
      }),
    );
  common(end, ['snapshot end ksu672m9bf-1f2a09c4']);

  const diff = snapshot
    .command('diff')
    .summary('compare two worlds, or a world with its case')
    .description(
      'Compare the ends of two worlds of one environment: rows, by the columns that count, and mails. With --expected, hold one against the end states that its case accepts. ' +
        'Ends with 1 where they differ.',
    )
    .argument('<snapshot>', NAMES)
    .argument('[other]', 'the other one, unless --expected is given')
    .option('--expected', 'compare with what the case accepts')
    .action(
      action(async (name: string, other: string | undefined, flags: CommonFlags & { readonly expected?: true }) => {
        if ((other === undefined) !== (flags.expected === true)) throw new UsageError('snapshot diff takes either a second snapshot or --expected');
        const paint = paintFor(host.out);
        if (other === undefined) {
          const compared = await withClient(host, flags, (client) => client.snapshots.compareWithExpected(name));
          if (flags.json) printJson(host, { type: 'snapshot_expected', ...compared });
          else for (const line of expectedLines(compared, paint)) print(host, line);
          return compared.findings.length === 0 ? EXIT.ok : EXIT.gateNotMet;
        }
        const compared = await withClient(host, flags, (client) => client.snapshots.compare(name, other));
        if (flags.json) printJson(host, { type: 'snapshot_diff', ...compared });
        else for (const line of comparisonLines(compared, paint)) print(host, line);
        return compared.differences.length === 0 ? EXIT.ok : EXIT.gateNotMet;
      }),
    );
  common(diff, ['snapshot diff ksu672m9bf-1f2a09c4 ksu672m9bf-77aa01b3', 'snapshot diff ksu672m9bf-1f2a09c4 --expected']);

  const exporting = snapshot
    .command('export')
    .summary('write a snapshot to files')
    .description(
      'Write a snapshot so that another machine can restore and compare it: to a file that ends with .json, or to a folder, with the mails as .eml files beside. ' +
        'It is written in clear, readable by you alone.',
    )
    .argument('<snapshot>', NAMES)
    .requiredOption('--out <path>', 'file (.json) or folder')
    .action(
      action(async (name: string, flags: CommonFlags & { readonly out: string }) => {
        const files = await withClient(host, flags, (client) => client.snapshots.export(name, resolve(host.cwd, flags.out)));
        if (flags.json) printJson(host, { type: 'snapshot_export', snapshot: name, files });
        else for (const file of files) print(host, plainText(file));
        return EXIT.ok;
      }),
    );
  common(exporting, ['snapshot export ksu672m9bf-1f2a09c4 --out ./kept', 'snapshot export ksu672m9bf-1f2a09c4 --out ./kept.json']);

  const deleting = snapshot
    .command('delete')
    .summary('delete a snapshot')
    .description('Delete a snapshot for good. Record, conversation and verdict of its trial stay. Deleted again, it changes nothing.')
    .argument('<snapshot...>', NAMES)
    .action(
      action(async (names: readonly string[], flags: CommonFlags) => {
        await withClient(host, flags, async (client) => {
          for (const name of names) {
            const deleted = await client.snapshots.delete(name);
            if (flags.json) printJson(host, { type: 'snapshot_delete', snapshot: name, deleted });
            else print(host, plainText(deleted ? `snapshot ${name} is deleted` : `there is no snapshot ${name} any more: nothing was changed`));
          }
        });
        return EXIT.ok;
      }),
    );
  common(deleting, ['snapshot delete ksu672m9bf-1f2a09c4.1']);
};

interface RestoreFlags extends CommonFlags {
  readonly for?: number;
  readonly suite?: string;
  readonly out?: string;
  readonly detach?: true;
}

const addRestore: AddCommand = (snapshot, { host, action }) => {
  const command = snapshot
    .command('restore')
    .summary('make a world again, to read in it')
    .description(
      'Make the world of a snapshot again in a database of its own, closed to every write, and print how to read it: a psql line of a role that can only read, the inbox as .eml files, ' +
        'tickets as JSON. It ends with this command, at Ctrl-C (exit code 0) or when its time is over. Repeated, it is the same world, for as long anew.',
    )
    .argument('<snapshot>', NAMES)
    .option('--for <duration>', 'how long it stands, such as 90s, 30m, 2h; at most 24h (default: 30m)', duration)
    .option('--detach', 'let it stand when this command has ended; services that commands start for themselves need "trialbed up" then')
    .option('--suite <suite>', 'suite whose environment it is of, where that is not where it was')
    .option('--out <dir>', 'folder for inbox and tickets (default: in the home folder, removed with the world)')
    .action(
      action(async (name: string, flags: RestoreFlags) => {
        const held = flags.detach !== true;
        // Heard from the beginning, so that no world is left behind that nobody was told of.
        using interruption = held ? new Interruption(host, flags, 'the restored world ends') : null;
        await using client = await host.connect(settingsOf(host, flags));
        const restored = await client.snapshots.restore(name, {
          ...(flags.for !== undefined && { forMs: flags.for }),
          ...(flags.suite !== undefined && { suite: flags.suite }),
          ...(flags.out !== undefined && { out: resolve(host.cwd, flags.out) }),
        });
        if (flags.json) printJson(host, { type: 'snapshot_restored', ...restored });
        else for (const line of restoredLines(restored, hintsFor(host, flags), held)) print(host, line);
        if (interruption === null) return EXIT.ok;
        await raisedOr(interruption, Date.parse(restored.until) - Date.now());
        const ended = await client.snapshots.end(restored.snapshot);
        if (ended) note(host, 'the restored world has ended');
        return EXIT.ok;
      }),
    );
  common(command, [
    'snapshot restore ksu672m9bf-1f2a09c4',
    'snapshot restore ksu672m9bf-1f2a09c4 --for 2h --detach --json | jq -r .sqlUrl',
    'snapshot restore ./kept --suite ./my-suite',
  ]);
};

/** Until Ctrl-C or SIGTERM, or for so many milliseconds. */
async function raisedOr({ raised }: Interruption, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([raised, sleep(Math.max(0, ms), undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
