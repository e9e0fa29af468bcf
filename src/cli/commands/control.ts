import type { CancelReceipt, ControlReceipt, Trialbed } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { MAX_CONCURRENCY } from '../../domain/trial.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, type Host, note, print, printJson } from '../host.ts';
import { concurrency, priority } from '../options.ts';
import { trialLine } from '../trial-line.ts';

const BATCH = 'id of the batch, as "trialbed ps" lists it';

/** `trialbed pause BATCH`. */
export const addPause: AddCommand = (program, { host, action }) => {
  const command = program
    .command('pause')
    .summary('launch nothing more of a batch until it is resumed')
    .description(
      'Launch nothing more of a batch that runs, until "trialbed resume". Trials in flight go on to their ends, and the command that follows the batch stays.',
    )
    .argument('<batch>', BATCH)
    .action(action((batch: string, flags: CommonFlags) => steer(host, flags, (client) => client.pause(batch))));
  common(command, ['pause ksu672m9bf', 'pause ksu672m9bf --json'], REFUSED);
};

/** `trialbed resume BATCH`. */
export const addResume: AddCommand = (program, { host, action }) => {
  const command = program
    .command('resume')
    .summary('go on with a batch that was paused or interrupted')
    .description(
      'Go on with a batch that was paused, or interrupted by Ctrl-C. An interrupted one goes on where a "trialbed worker" serves it; its own command brings a worker along and is as good.',
    )
    .argument('<batch>', BATCH)
    .option('--priority <n>', 'from now on, where batches share workers: 1 is served first, 5 last (default: as it was)', priority)
    .action(
      action((batch: string, flags: CommonFlags & { readonly priority?: number }) =>
        steer(host, flags, (client) => (flags.priority === undefined ? client.resume(batch) : client.resume(batch, { priority: flags.priority }))),
      ),
    );
  common(command, ['resume ksu672m9bf', 'resume ksu672m9bf --priority 1'], REFUSED);
};

/** `trialbed concurrency BATCH N`. */
export const addConcurrency: AddCommand = (program, { host, action }) => {
  const command = program
    .command('concurrency')
    .summary('change how many trials of a batch are in flight')
    .description(
      'Change how many trials of a batch that runs may be in flight. Where more are in flight already, none is stopped, and none is launched until they are fewer.',
    )
    .argument('<batch>', BATCH)
    .argument('<n>', `trials in flight, at most ${MAX_CONCURRENCY}`, concurrency)
    .action(action((batch: string, n: number, flags: CommonFlags) => steer(host, flags, (client) => client.setConcurrency(batch, n))));
  common(command, ['concurrency ksu672m9bf 50'], REFUSED);
};

/** `trialbed cancel BATCH|TRIAL`. */
export const addCancel: AddCommand = (program, { host, action }) => {
  const command = program
    .command('cancel')
    .summary('end a batch, or one trial of it')
    .description(
      'End a batch: nothing more of it is launched, its trials in flight end "cancelled", their worlds are given back, and it is never taken up again. ' +
        'Or end one trial, whose batch goes on. Waits until it has happened; where nobody runs the batch, a worker is started for that.',
    )
    .argument('<id>', 'id of a batch, or of a trial (the beginning is enough where only one has it)')
    .action(
      action(async (id: string, flags: CommonFlags) => {
        const receipt = await withClient(host, flags, (client) => client.cancel(id));
        if (flags.json) printJson(host, { type: 'cancel', ...receipt });
        else showCancelled(host, receipt);
        return EXIT.ok;
      }),
    );
  common(command, ['cancel ksu672m9bf', 'cancel ksu672m9bf-1f2a09c4b7d81e60'], REFUSED);
};

const REFUSED = 'Ends with 2 where it would change nothing, and says why.';

async function steer(host: Host, flags: CommonFlags, request: (client: Trialbed) => Promise<ControlReceipt>): Promise<number> {
  const receipt = await withClient(host, flags, request);
  if (flags.json) {
    printJson(host, { type: 'control', ...receipt });
    return EXIT.ok;
  }
  const inFlight = receipt.inFlight === null ? '' : `, ${receipt.inFlight} in flight now`;
  const state = receipt.hold === 'paused' ? 'paused' : receipt.state;
  print(host, `batch ${plainText(receipt.batch)} is ${state}, with at most ${receipt.concurrency} trials in flight${inFlight}`);
  if (!receipt.served && receipt.state === 'running') note(host, `no process works on it: run its own command again, or "${hintsFor(host, flags)('worker')}"`);
  return EXIT.ok;
}

function showCancelled(host: Host, receipt: CancelReceipt): void {
  if (receipt.what === 'trial')
    print(
      host,
      trialLine(receipt.summary, 1000, (_format, text) => text),
    );
  else if (receipt.state === 'cancelled') print(host, `batch ${plainText(receipt.batch)} is cancelled`);
  else print(host, `batch ${plainText(receipt.batch)} is being cancelled: trials in flight have not ended yet`);
}
