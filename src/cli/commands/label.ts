import { resolve } from 'node:path';
import type { Labelling } from '../../client/labels/labelling.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, type Host, note, print, printJson } from '../host.ts';
import { type LabelHost, labelInTerminal } from '../label-session.ts';

interface LabelFlags extends CommonFlags {
  readonly rubric: string;
  readonly as?: string;
  readonly from?: string;
}

/** `trialbed label BATCH`. */
export const addLabel: AddCommand = (program, { host, action }) => {
  const command = program
    .command('label')
    .summary('label trials by a rubric, blind and in random order')
    .description(
      'Label the trials of a batch by a rubric of its suite, as a judge does: one trial after the other, with what the rubric shows of it and without verdict, scores, names of agents and models, or the labels of others. ' +
        'The order is random, another one for each person. Each label is stored at once, so that Ctrl-C loses nothing, and the same command goes on where it stopped. Keys: one for each category, n for a note, s to skip, b to go back, q to stop.',
    )
    .argument('<batch>', 'id of the batch')
    .requiredOption('--rubric <name>', 'name of the rubric: of its file in the rubrics folder of the suite')
    .option('--as <person>', 'whose labels these are: a name, and no mail address (default: your user name)')
    .option('--from <file>', 'take labels from this file instead, one JSON object a line: item (or trial), category, note, rater')
    .action(
      action(async (batch: string, flags: LabelFlags) => {
        const request = { batch, rubric: flags.rubric, ...(flags.as !== undefined && { rater: flags.as }) };
        if (flags.from !== undefined) {
          const file = resolve(host.cwd, flags.from);
          const imported = await withClient(host, flags, (client) => client.labels.import({ ...request, file }), { temporal: 'optional' });
          if (flags.json) printJson(host, { type: 'labels', ...imported });
          else
            for (const { rater, labels, replaced } of imported.raters)
              print(
                host,
                plainText(`${rater}: ${labels} labels by rubric ${imported.rubric} stored${replaced === 0 ? '' : `, ${replaced} in place of earlier ones`}`),
              );
          return EXIT.ok;
        }
        if (!flags.json && !canLabel(host))
          throw new UsageError('there is no terminal to label at; give labels by --from FILE, and get what is to be labelled by --json');
        return await withClient(
          host,
          flags,
          async ({ labels }) => {
            const labelling = await labels.open(request);
            if (flags.json) return printItems(host, labelling);
            return labelAll(host as LabelHost, labelling, flags);
          },
          { temporal: 'optional' },
        );
      }),
    );
  common(command, [
    'label ksu672m9bf --rubric tone',
    'label ksu672m9bf --rubric tone --as petra',
    'label ksu672m9bf --rubric tone --as petra --json > to-label.jsonl',
    'label ksu672m9bf --rubric tone --as petra --from labels.jsonl',
  ]);
};

function canLabel(host: Host): host is LabelHost {
  return host.keys !== undefined && host.ask !== undefined;
}

/** What is still to be labelled, a line for each, in the person's order. */
async function printItems(host: Host, labelling: Labelling): Promise<number> {
  const { batch, rater, items, stored } = labelling;
  const { name, version, question, scale } = stored.rubric;
  const open = items.filter(({ label }) => label === null);
  printJson(host, { type: 'labelling', batch, rater, rubric: name, version, question, scale, items: items.length, open: open.length });
  for (const { item } of open) printJson(host, { type: 'label_item', item, shown: await labelling.material(item) });
  return EXIT.ok;
}

async function labelAll(host: LabelHost, labelling: Labelling, flags: LabelFlags): Promise<number> {
  const { items, rater, stored } = labelling;
  if (items.length === 0) {
    note(host, 'no trial of this batch has a verdict, so there is nothing to label');
    return EXIT.ok;
  }
  note(host, `${rater} labels by rubric ${stored.rubric.name}, version ${stored.rubric.version}: ${items.length} trials, in an order of their own`);
  const { end, labelled, left } = await labelInTerminal(host, labelling);
  note(host, `${labelled} labelled now, ${left} of ${items.length} left${left === 0 ? '' : `; the same command goes on`}`);
  if (left === 0) note(host, `how raters agree: ${hintsFor(host, flags)(`agreement ${labelling.batch} --rubric ${stored.rubric.name}`)}`);
  return end === 'interrupted' ? EXIT.interrupted : EXIT.ok;
}
