import { InvalidArgumentError } from 'commander';
import { newKey } from '../../keys/key-ring.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { columnsOf, type CommonFlags, note, print, printJson } from '../host.ts';
import { positiveInteger } from '../options.ts';
import { textTable } from '../table.ts';

/** `trialbed keys new|list|rotate`. */
export const addKeys: AddCommand = (program, { host, action }) => {
  const keys = program
    .command('keys')
    .summary('encrypt what is kept, and change the key')
    .description('Work with the keys of TRIALBED_KEYS, by which what was said and done is encrypted in the store and in Temporal.');

  const making = keys
    .command('new')
    .summary('make a key')
    .description('Print a new key as TRIALBED_KEYS takes it. It is kept nowhere: put it where your secrets are. Without it, what is encrypted with it is lost.')
    .option('--id <name>', 'its name: lower-case letters, digits and dashes (default: the date)', keyId)
    .action(
      action(async (flags: CommonFlags & { readonly id?: string }) => {
        const { id, secret } = newKey(flags.id ?? new Date().toISOString().slice(0, 10));
        if (flags.json) printJson(host, { type: 'key', id, key: `${id}=${secret}` });
        else print(host, `${id}=${secret}`);
        return EXIT.ok;
      }),
    );
  common(making, ['keys new', 'keys new --id 2026-12']);

  const list = keys
    .command('list')
    .summary('list what is encrypted with which key')
    .description(
      'List how many values of the store each key opens, the current one first, and how many are not encrypted. Histories in Temporal are not counted.',
    )
    .action(
      action(async (flags: CommonFlags) => {
        const uses = await withClient(host, flags, (client) => client.keys.list());
        if (flags.json) {
          for (const use of uses) printJson(host, { type: 'key_use', ...use });
          return EXIT.ok;
        }
        const rows = uses.map(({ key, current, known, values, retiredAt }) => [
          key === null ? '(in clear)' : plainText(key),
          current ? 'current' : key === null ? '' : retiredAt !== null ? `not needed since ${retiredAt.slice(0, 10)}` : known ? 'reads' : 'missing here',
          String(Object.values(values).reduce((sum, count) => sum + count, 0)),
          Object.entries(values)
            .map(([table, count]) => `${table} ${count}`)
            .join(', '),
        ]);
        if (rows.length === 0) note(host, 'nothing is kept yet, and no key is set');
        else for (const line of textTable(['KEY', 'STATE', 'VALUES', 'IN'], rows, { columns: columnsOf(host.out) })) print(host, line);
        return EXIT.ok;
      }),
    );
  common(list, ['keys list', 'keys list --json']);

  const rotate = keys
    .command('rotate')
    .summary('encrypt what is kept with the current key')
    .description(
      'Encrypt everything in the store with the current key, the first of TRIALBED_KEYS, that is in clear or under another one. It works in small transactions beside whatever runs, and may be broken ' +
        'off and repeated. Add a new key everywhere behind the current one and restart workers first, then make it current everywhere: a worker that lacks it cannot read what it encrypts. ' +
        'Histories in Temporal stay under the key they were written with: keep it behind the current one until they have expired.',
    )
    .option('--batch <n>', 'rows in one transaction (default: 200)', positiveInteger)
    .action(
      action(async (flags: CommonFlags & { readonly batch?: number }) => {
        const rotated = await withClient(host, flags, (client) => client.keys.rotate(flags.batch === undefined ? {} : { batch: flags.batch }));
        if (flags.json) printJson(host, { type: 'key_rotation', ...rotated });
        else {
          print(host, plainText(`${rotated.changed} values were encrypted with the key ${rotated.key}; ${rotated.left} are left`));
          if (rotated.left > 0) note(host, 'somebody held on to those: repeat the command');
        }
        return EXIT.ok;
      }),
    );
  common(rotate, ['keys rotate', 'keys rotate --batch 50']);
};

function keyId(value: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(value)) throw new InvalidArgumentError('It must be up to 40 lower-case letters, digits and dashes.');
  return value;
}
