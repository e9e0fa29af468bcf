import { ServiceError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { throughOutages } from '../../src/activities/through-outages.ts';

const away = () => new ServiceError('Workflow Update failed', { cause: Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'no connection' }) });

test('what Temporal did not answer is asked again, and nothing else', async () => {
  let asked = 0;
  const answer = await throughOutages(async () => {
    if (++asked < 3) throw away();
    return 'carried';
  });
  expect([answer, asked]).toEqual(['carried', 3]);
  let refused = 0;
  const refuse = async () => {
    refused++;
    throw new Error('refused');
  };
  await expect(throughOutages(refuse)).rejects.toThrow('refused');
  expect(refused).toBe(1);
});

test('patience ends with the last error', async () => {
  await expect(throughOutages(() => Promise.reject(away()), { patienceMs: 0 })).rejects.toThrow('Workflow Update failed');
});
