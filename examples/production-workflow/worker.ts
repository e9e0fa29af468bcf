import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from './activities.ts';
import { Service } from './services.ts';

/** A worker with both services beside it, until Ctrl-C. Each name in the arguments makes a refund go wrong: `lose reply`, `stay silent`, `refuse`, ... */
await using payments = await Service.payments();
await using helpdesk = await Service.helpdesk();
payments.provoke(...(process.argv.slice(2) as Parameters<Service['provoke']>));

const connection = await NativeConnection.connect();
const worker = await Worker.create({
  connection,
  taskQueue: 'refunds',
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: createActivities({ payments: payments.url, helpdesk: helpdesk.url }),
});
await worker.run();
await connection.close();
process.stdout.write(`${JSON.stringify({ refunds: payments.book, tickets: helpdesk.book }, null, 2)}\n`);
