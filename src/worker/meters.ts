import type { MetricMeter } from '@temporalio/common';
import type { Meters } from '../activities/trial-activities.ts';

/** By histogram: bounds of its buckets. Those of the SDK end at ten seconds. */
export const BUCKETS = { trialbed_attempt_duration: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000] };

/** What attempts come to, as metrics of a worker beside those of the SDK. A step that is repeated after a lost worker counts again: reports count from the store. */
export function createMeters(meter: MetricMeter): Meters {
  const attempts = meter.createCounter('trialbed_attempts', undefined, 'Attempts of trials that ended, by agent, ending and verdict.');
  const disturbed = meter.createCounter('trialbed_disturbed_attempts', undefined, 'Attempts in which the test bed lost a reply or a worker.');
  const calls = meter.createCounter('trialbed_calls', undefined, 'Calls that agents made, refused ones included.');
  const duration = meter.createHistogram('trialbed_attempt_duration', 'int', 'ms', 'From the start of an attempt to its end in the store.');
  return {
    attemptEnded({ agent, ending, pass, calls: made, durationMs, disturbed: lost }) {
      const labels = { agent, ending };
      attempts.add(1, { ...labels, verdict: pass ?? 'none' });
      calls.add(made, { agent });
      duration.record(durationMs, labels);
      if (lost) disturbed.add(1, { agent });
    },
  };
}
