import type { MetricMeter } from '@temporalio/common';
import type { Meters } from '../activities/meters.ts';
import { ModelError } from '../models/errors.ts';
import type { ModelClient, ModelTurn } from '../models/client.ts';

/** By histogram: bounds of its buckets, in seconds. Those of the SDK end at ten. */
export const BUCKETS = {
  trialbed_attempt_duration: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600],
  trialbed_world_wait: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  trialbed_model_call_duration: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
};

/** What the worker counts beside what its activities tell. */
export interface WorkerMeters extends Meters {
  /** A request to the gateway was answered. */
  gatewayAnswered(door: string, status: number): void;
  /** The same client, each of whose calls is counted. */
  counting(models: ModelClient): ModelClient;
  /** How things stand now. */
  readonly gauges: Gauges;
}

export interface Gauges {
  trials(phase: string, count: number): void;
  worlds(host: string, state: string, count: number): void;
  connections(pool: string, state: 'in_use' | 'idle' | 'awaited', count: number): void;
}

/** Metrics of a worker beside those of the SDK. A step that is repeated after a lost worker counts again: reports count from the store. */
export function createMeters(meter: MetricMeter): WorkerMeters {
  const counter = (name: string, description: string) => meter.createCounter(name, undefined, description);
  const seconds = (name: string, description: string) => meter.createHistogram(name, 'float', 'seconds', description);
  const gauge = (name: string, description: string) => meter.createGauge(name, 'int', undefined, description);
  const attempts = counter('trialbed_attempts', 'Attempts of trials that ended, by agent, ending and verdict.');
  const disturbed = counter('trialbed_disturbed_attempts', 'Attempts in which the test bed lost a reply or a worker.');
  const calls = counter('trialbed_calls', 'Calls that agents made, refused ones included.');
  const duration = seconds('trialbed_attempt_duration', 'From the start of an attempt to its end in the store.');
  const operations = counter('trialbed_operations', 'Calls of graded attempts, by tool and by what the agent was told.');
  const wait = seconds('trialbed_world_wait', 'From asking for a world to having it, by how that went.');
  const released = counter('trialbed_worlds_released', 'Worlds that trials gave back: reset for the next, or dropped.');
  const modelCalls = counter('trialbed_model_calls', 'Tries of calls of models, by route and by how they ended.');
  const modelTime = seconds('trialbed_model_call_duration', 'Of one try of a call of a model, without waiting for its rate.');
  const requests = counter('trialbed_gateway_requests', 'Requests to the gateway, by door and by HTTP status.');
  const trials = gauge('trialbed_trials', 'Trials under way in the whole store, by phase.');
  const worlds = gauge('trialbed_worlds', 'Worlds on a server, by state.');
  const connections = gauge('trialbed_connections', 'Connections of this worker, by pool: in use, idle; and how many are waited for.');
  const modelCall = (route: string, outcome: string, startedAt: number) => {
    modelCalls.add(1, { route, outcome });
    modelTime.record((performance.now() - startedAt) / 1000, { route });
  };
  return {
    attemptEnded({ agent, ending, pass, calls: made, durationMs, disturbed: lost }) {
      const labels = { agent, ending };
      attempts.add(1, { ...labels, verdict: pass ?? 'none' });
      calls.add(made, { agent });
      duration.record(durationMs / 1000, labels);
      if (lost) disturbed.add(1, { agent });
    },
    operationsGraded(told) {
      for (const { tool, state } of told) operations.add(1, { tool, state });
    },
    worldLeased: (ms, outcome) => wait.record(ms / 1000, { outcome }),
    worldReleased: (how) => released.add(1, { how }),
    gatewayAnswered: (door, status) => requests.add(1, { door, status: String(status) }),
    counting: (models) => ({
      async ask(route, request, options) {
        const startedAt = performance.now();
        try {
          const reply = await models.ask(route, request, options);
          modelCall(route.name, 'replied', performance.now() - reply.latencyMs);
          return reply;
        } catch (error) {
          modelCall(route.name, error instanceof ModelError ? error.code : 'stopped', startedAt);
          throw error;
        }
      },
      take(route, signal, work, waits) {
        const counted = async (turn: ModelTurn) => {
          const startedAt = performance.now();
          try {
            const value = await work(turn);
            modelCall(route.name, 'passed_on', startedAt);
            return value;
          } catch (error) {
            modelCall(route.name, error instanceof ModelError ? error.code : 'stopped', startedAt);
            throw error;
          }
        };
        return models.take(route, signal, counted, waits);
      },
    }),
    gauges: {
      trials: (phase, count) => trials.set(count, { phase }),
      worlds: (host, state, count) => worlds.set(count, { host, state }),
      connections: (pool, state, count) => connections.set(count, { pool, state }),
    },
  };
}
