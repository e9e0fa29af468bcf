import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { startTestbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck, WRITING } from './batch.ts';

/** Real milliseconds: longer than a call is tried again by the client itself. */
const OUTAGE_MS = Number(process.env['TRIALBED_CHAOS_OUTAGE_MS'] ?? 12_000);

test.each(['refuses', 'is silent'] as const)(
  'Temporal %s: the batch waits, says so, and goes on, and no agent is blamed',
  { timeout: 600_000 },
  async (how) => {
    await using stack = new AsyncDisposableStack();
    const { postgresUrl, temporalAddress } = inject('services');
    const proxy = stack.use(await startTcpProxy(temporalAddress));
    const testbed = stack.use(await startTestbed({ postgresUrl, temporalAddress: proxy.address }));
    const request = { ...WRITING, keep: 'never' } as const;
    const struck = await runStruck(testbed, request, 2, async () => {
      proxy.cut(how);
      await sleep(OUTAGE_MS);
      proxy.mend();
    });
    await expectAllCounted(testbed, struck);
    expect(struck.outages.map((outage) => outage?.service ?? null)).toEqual(['Temporal', null]);
    expect(struck.outages[0]?.reason).toMatch(/cannot be reached|does not answer/);
  },
);
