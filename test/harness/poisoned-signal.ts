import type { Client } from '@temporalio/client';

/** Sends a trial the signal `approve` with half of a JSON text, which no workflow can take: its workflow task fails from then on, again and again. */
export async function sendPoisonedSignal({ workflowService, options }: Pick<Client, 'workflowService' | 'options'>, trial: string): Promise<void> {
  const metadata = { encoding: new TextEncoder().encode('json/plain') };
  const input = { payloads: [{ metadata, data: new TextEncoder().encode('{"operation": ') }] };
  await workflowService.signalWorkflowExecution({ namespace: options.namespace, workflowExecution: { workflowId: trial }, signalName: 'approve', input });
}
