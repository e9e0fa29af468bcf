import { readFileSync } from 'node:fs';
import { context, diag, DiagLogLevel, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { Resource } from '@opentelemetry/resources';
import { AlwaysOffSampler, BasicTracerProvider, BatchSpanProcessor, ParentBasedSampler } from '@opentelemetry/sdk-trace-base';
import { ApplicationFailure } from '@temporalio/common';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { AttemptRef } from '../../activities/contract.ts';
import { batchOf } from '../../domain/trial.ts';
import type { TracesConfig } from './config.ts';
import { isTraced, type PartName, spanContextOf } from './ids.ts';
import { PlainSpans } from './plain-spans.ts';
import { spanOf } from './spans.ts';
import type { Traces } from './traces.ts';

/** Spans that wait to be sent; more are dropped, so that a receiver that is away costs no memory. */
const MAX_WAITING_SPANS = 16_384;
const SEND_EVERY_MS = 2_000;
const SEND_LIMIT_MS = 5_000;
const COMPLAIN_EVERY_MS = 60_000;

/** Traces by OpenTelemetry, sent over OTLP/HTTP in protobuf. */
export function openTelemetry(config: TracesConfig, log: Logger): Traces {
  const complain = complainer(log);
  // For the whole process; a second worker in it finds them there.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const resource = new Resource({ 'service.name': config.service, 'service.version': version() });
  const exporter = new PlainSpans(new OTLPTraceExporter({ url: config.url, headers: { ...config.headers }, timeoutMillis: SEND_LIMIT_MS }));
  const processor = new BatchSpanProcessor(exporter, {
    maxQueueSize: MAX_WAITING_SPANS,
    scheduledDelayMillis: SEND_EVERY_MS,
    exportTimeoutMillis: SEND_LIMIT_MS,
  });
  // What belongs to no attempt that is traced has no span to belong to.
  const provider = new BasicTracerProvider({ resource, sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }), spanProcessors: [processor] });
  const tracer = provider.getTracer('trialbed');
  const takes = (ref: AttemptRef) => isTraced(ref, config.share);
  return {
    takes,
    activities: [withinItsPart(takes), (ctx) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(ctx, { tracer }) }), described],
    sinks: { traces: { span: { fn: (_info, part) => processor.onEnd(spanOf(part, resource)) } } },
    async [Symbol.asyncDispose]() {
      await provider.shutdown().catch(complain);
    },
  };
}

/** Activities of an operation belong to it, all others to the phase in which they run. */
function withinItsPart(takes: Traces['takes']): ActivityInterceptorsFactory {
  return (ctx) => ({
    inbound: {
      execute(input, next) {
        const request = input.args[0] as Partial<AttemptRef & { operation: unknown }> | undefined;
        const { trial, attempt } = request ?? {};
        if (trial === undefined || attempt === undefined || !takes({ trial, attempt })) return next(input);
        const part: PartName = typeof request?.operation === 'string' ? `operation ${request.operation}` : partOf(ctx.info.activityType);
        return context.with(trace.setSpanContext(ROOT_CONTEXT, spanContextOf({ trial, attempt }, part)), () => next(input));
      },
    },
  });
}

const PARTS: { readonly [activity: string]: PartName } = {
  beginAttempt: 'attempt',
  startAttempt: 'attempt',
  setPhase: 'attempt',
  finishAttempt: 'attempt',
  provision: 'phase provision',
  fence: 'phase fence',
  gradeTrial: 'phase grade',
  keepWorld: 'phase grade',
  releaseWorld: 'phase release',
};

function partOf(activity: string): PartName {
  return PARTS[activity] ?? 'phase drive';
}

/** Names what the activity is about, on the span that Temporal's interceptor has begun. */
const described: ActivityInterceptorsFactory = (ctx) => ({
  inbound: {
    async execute(input, next) {
      const span = trace.getActiveSpan();
      if (!span?.isRecording()) return next(input);
      const { trial, attempt, operation, tool } = input.args[0] as AttemptRef & { readonly operation?: string; readonly tool?: string };
      span.setAttributes({
        'trialbed.trial': trial,
        'trialbed.batch': batchOf(trial),
        'trialbed.attempt': attempt,
        'trialbed.activity': ctx.info.activityType,
        'trialbed.activity_attempt': ctx.info.attempt,
        ...(operation && { 'trialbed.operation': operation }),
        // Only a call of a tool that there is comes so far.
        ...(operation && tool && { 'trialbed.tool': tool }),
      });
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof ApplicationFailure && CODE.test(error.type ?? '')) span.setAttribute('trialbed.failure', error.type ?? '');
        else span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      }
    },
  },
});

const CODE = /^[A-Za-z][\w.-]{0,63}$/;

/** A receiver that is away is told once a minute, not once a batch of spans. */
function complainer(log: Logger): () => void {
  let told = Number.NEGATIVE_INFINITY;
  const complain = () => {
    if (performance.now() - told < COMPLAIN_EVERY_MS) return;
    told = performance.now();
    // What the receiver answered, and its address, may hold a secret.
    log.warn('traces are not taken by their receiver (OTEL_EXPORTER_OTLP_ENDPOINT); spans are dropped until it takes them');
  };
  const nothing = () => undefined;
  diag.setLogger(
    { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return complain;
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return String((manifest as { version?: unknown }).version);
}
