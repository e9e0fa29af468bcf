import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/worker/config.ts';
import { isTraced } from '../../src/worker/traces/ids.ts';
import { startTraces } from '../../src/worker/traces/traces.ts';

const ENDPOINTS = { storeUrl: 'postgres://db/trialbed', worldHosts: [], temporal: { address: 'temporal:7233', namespace: 'default' } };
const traces = (env: { readonly [name: string]: string }) => readConfig(env, ENDPOINTS).traces;

describe('where traces go', () => {
  test('nowhere, unless an address is named; and nowhere where they are switched off', () => {
    const at = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(traces({})).toBeNull();
    // Meant for other programs, and of no meaning without an address.
    expect(traces({ OTEL_EXPORTER_OTLP_HEADERS: 'nonsense', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER_ARG: 'all' })).toBeNull();
    expect(traces({ ...at, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
    expect(traces({ ...at, OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toBeNull();
  });

  test('the general variable is a base, that of traces the whole address, which goes first, as do its headers', () => {
    const general = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/otel/', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team=eval' };
    expect(traces(general)).toEqual({
      url: 'http://collector:4318/otel/v1/traces',
      headers: { authorization: 'Bearer abc', 'x-team': 'eval' },
      share: 1,
      service: 'trialbed',
    });
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/in', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'key=a%zz' };
    expect(traces({ ...general, ...own, OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_SERVICE_NAME: 'bed' })).toEqual({
      url: 'https://traces/in',
      headers: { key: 'a%zz' },
      share: 0.25,
      service: 'bed',
    });
  });

  test('all that cannot be used is named, without a value that may be a secret', () => {
    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'sesame',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER_ARG: '2',
    };
    const problems = (() => {
      try {
        traces(wrong);
      } catch (error) {
        return error instanceof ConfigError ? error.problems : [];
      }
      return [];
    })();
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(Object.keys(wrong).toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    expect(problems.join()).not.toContain('sesame');
  });
});

const ORDER = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER_ARG'];

test('a share of attempts is traced, the same ones at every asking', () => {
  const attempts = Array.from({ length: 1_000 }, (_, n) => ({ trial: `batch-${n}`, attempt: 1 }));
  const taken = attempts.filter((attempt) => isTraced(attempt, 0.25));
  expect(taken.length).toBeGreaterThan(200);
  expect(taken.length).toBeLessThan(300);
  expect(taken.every((attempt) => isTraced(attempt, 0.25) && isTraced(attempt, 0.5))).toBe(true);
  expect(attempts.some((attempt) => isTraced(attempt, 0))).toBe(false);
});

test('a receiver that is away holds nobody up, and is told of without address and headers', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const config = { url: 'http://127.0.0.1:9/secret-path/v1/traces', headers: { authorization: 'sesame' }, share: 1, service: 'trialbed' };
  await using started = await startTraces(config, log);
  const part = { trial: 'b-1', batch: 'b', case: 'c', agent: 'a', attempt: 1, startMs: 1, endMs: 2, kind: 'phase', phase: 'drive' } as const;
  for (let n = 0; n < 3; n++) await started.sinks.traces.span.fn(undefined as never, part);
  await started[Symbol.asyncDispose]();
  expect(lines.length).toBeGreaterThanOrEqual(1);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(lines.join()).toContain('traces are not taken');
  expect(lines.join()).not.toMatch(/sesame|secret-path/);
});
