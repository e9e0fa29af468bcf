import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, note, print, printJson } from '../host.ts';
import { placeOf, withoutSecrets } from '../place.ts';

/** `trialbed up`. */
export const addUp: AddCommand = (program, { host, action }) => {
  const command = program
    .command('up')
    .summary('start the services and keep them')
    .description(
      'Start what is missing of PostgreSQL and Temporal, and keep it until "trialbed down". Without it, services stop with the last command that uses them.',
    )
    .action(
      action(async (flags: CommonFlags) => {
        const { up } = await import('../../client/services.ts');
        const { endpoints, temporalUi, notes } = await up({ ...placeOf(host, flags), env: host.env, log: (line) => note(host, line) });
        const worlds = endpoints.worldHosts.map(({ name, kind, adminUrl }) => ({ name, kind, url: withoutSecrets(adminUrl) }));
        const { address, namespace } = endpoints.temporal;
        if (flags.json) {
          printJson(host, { type: 'up', store: withoutSecrets(endpoints.storeUrl), worlds, temporal: { address, namespace, ui: temporalUi }, notes });
          return EXIT.ok;
        }
        for (const line of notes) note(host, line);
        print(host, `store      ${withoutSecrets(endpoints.storeUrl)}`);
        for (const world of worlds) print(host, plainText(`worlds     ${world.url} (${world.kind})`));
        print(host, plainText(`temporal   ${address}, namespace ${namespace}`));
        if (temporalUi !== null) print(host, `           ${temporalUi}`);
        print(host, `the services stay until "${hintsFor(host, flags)('down')}"`);
        return EXIT.ok;
      }),
    );
  common(command, ['up', 'up --json']);
};
