import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { startTestbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck, WRITING } from './batch.ts';

/** After it was told: longer than a call is tried again at once. */
const LONGER_MS = 2_000;

test('Temporal says nothing, then is not there: the batch waits, says so, and goes on, and no agent is blamed', { timeout: 600_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const { postgresUrl, temporalAddress } = inject('services');
  const proxy = stack.use(await startTcpProxy(temporalAddress));
  const testbed = stack.use(await startTestbed({ postgresUrl, temporalAddress: proxy.address }));
  const struck = await runStruck(testbed, { ...WRITING, keep: 'never' }, 2, async (told) => {
    proxy.cut('is silent');
    await told;
    proxy.cut('refuses');
    await sleep(LONGER_MS);
    proxy.mend();
  });
  await expectAllCounted(testbed, struck);
  expect(struck.outages.map((outage) => outage?.service ?? null)).toEqual(['Temporal', null]);
  expect(struck.outages[0]?.reason).toMatch(/cannot be reached|does not answer/);
});
