import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, note, printJson } from '../host.ts';
import { placeOf } from '../place.ts';

interface WorkerFlags extends CommonFlags {
  readonly deployment?: string;
  readonly current?: true;
}

/** `trialbed worker`. */
export const addWorker: AddCommand = (program, { host, action }) => {
  const command = program
    .command('worker')
    .summary('run a worker in the foreground')
    .description(
      'Run a worker that takes trials of every batch that is not finished and whose content is the same here, until SIGINT or SIGTERM: then it takes no more, ends what is short, and leaves the rest to other workers.',
    )
    .argument('[suites...]', 'suites on this machine: batches that were made on another find their packs and agents in them, wherever they lie')
    .option(
      '--deployment <name>',
      'belong to this deployment, as the version that its code and suites are: a trial ends on the version on which it began (default: TRIALBED_DEPLOYMENT)',
    )
    .option('--current', 'with a deployment: new trials begin on this version from now on')
    .action(
      action(async (suites: readonly string[], flags: WorkerFlags) => {
        const { work } = await parts();
        const stop = new AbortController();
        using _signals = host.onSignal((signal) => {
          if (stop.signal.aborted) return host.kill(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
          note(host, 'stopping: no more work is taken (the same signal again ends at once)');
          stop.abort();
        });
        await work({
          ...placeOf(host, flags),
          env: host.env,
          log: (line) => note(host, line),
          suites,
          ...(flags.deployment !== undefined && { deployment: flags.deployment }),
          ...(flags.current && { current: true }),
          signal: stop.signal,
          onReady: ({ taskQueue, temporal, version, queues }) => {
            const kind = version ? `version ${version.buildId} of deployment ${version.deploymentName}` : 'unversioned';
            note(host, `worker ready, ${kind}, on task queues ${taskQueue}-${version ? `${version.deploymentName}-CONTENT` : 'BATCH'} of ${temporal}`);
            if (flags.json) printJson(host, { type: 'worker', state: 'ready', taskQueue, temporal, version, queues, pid: process.pid });
          },
        });
        if (flags.json) printJson(host, { type: 'worker', state: 'stopped' });
        return EXIT.ok;
      }),
    );
  common(
    command,
    ['worker', 'worker ./my-suite', 'worker --deployment lab --current ./my-suite'],
    'Where the services are is read from the environment; see "trialbed doctor".',
  );
};

/**
 * What only a worker needs, and takes most of a second to load. In a function of its own, because TypeScript leaves the `.ts` of such imports as it
 * is in a function that has a `using`.
 */
async function parts() {
  return await import('../../client/index.ts');
}
