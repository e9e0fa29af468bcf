/** A process that holds services until it is killed: settings as JSON on standard input, `ready` on standard output. */
import { text } from 'node:stream/consumers';
import { acquireServices } from '../../src/infra/services.ts';

const lease = await acquireServices(JSON.parse(await text(process.stdin)));
process.stdout.write('ready\n');
setInterval(() => lease.notes, 60_000);
