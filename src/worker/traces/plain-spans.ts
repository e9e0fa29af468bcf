import type { ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/** Attributes that leave the process: ours, and the ids of Temporal's own interceptors. */
const TOLD = /^(trialbed\.[a-z_]+|temporalActivityId|temporalWorkflowId|run_id)$/;

/**
 * Sends spans without whatever somebody said: no messages and stacks of errors, which quote arguments, answers and rows, and no attributes but those that are known to be names
 * and numbers.
 */
export class PlainSpans implements SpanExporter {
  private readonly to: SpanExporter;

  constructor(to: SpanExporter) {
    this.to = to;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.to.export(spans.map(plain), done);
  }

  shutdown(): Promise<void> {
    return this.to.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.to.forceFlush?.();
  }
}

function plain(span: ReadableSpan): ReadableSpan {
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    ended: span.ended,
    status: { code: span.status.code },
    attributes: Object.fromEntries(Object.entries(span.attributes).filter(([name]) => TOLD.test(name))),
    links: [],
    events: [],
    resource: span.resource,
    instrumentationLibrary: span.instrumentationLibrary,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
