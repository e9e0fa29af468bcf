import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { TracedPart } from '../../workflows/attempt-trace.ts';
import { type PartName, spanContextOf } from './ids.ts';

/** The span of a part of an attempt that has ended. */
export function spanOf(part: TracedPart, resource: Resource): ReadableSpan {
  const { name, title, parent, attributes, failed } = describe(part);
  // The workflow's clock may stand still for a while, and never goes back.
  const endMs = Math.max(part.startMs, part.endMs);
  return {
    name: title,
    kind: SpanKind.INTERNAL,
    spanContext: () => spanContextOf(part, name),
    ...(parent !== null && { parentSpanId: spanContextOf(part, parent).spanId }),
    startTime: millisToHrTime(part.startMs),
    endTime: millisToHrTime(endMs),
    duration: millisToHrTime(endMs - part.startMs),
    ended: true,
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: {
      'trialbed.trial': part.trial,
      'trialbed.batch': part.batch,
      'trialbed.case': part.case,
      'trialbed.agent': part.agent,
      'trialbed.attempt': part.attempt,
      ...attributes,
    },
    links: [],
    events: [],
    resource,
    instrumentationLibrary: { name: 'trialbed' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

interface Description {
  readonly name: PartName;
  readonly title: string;
  readonly parent: PartName | null;
  readonly attributes: Attributes;
  readonly failed: boolean;
}

function describe(part: TracedPart): Description {
  switch (part.kind) {
    case 'attempt': {
      const { ending, verdict, calls, disturbed } = part;
      const attributes = { 'trialbed.ending': ending, 'trialbed.verdict': verdict ?? 'none', 'trialbed.calls': calls, 'trialbed.disturbed': disturbed };
      return { name: 'attempt', title: 'trial attempt', parent: null, attributes, failed: ending === 'infra_error' };
    }
    case 'phase':
      return { name: `phase ${part.phase}`, title: part.phase, parent: 'attempt', attributes: { 'trialbed.phase': part.phase }, failed: false };
    case 'operation': {
      const { operation, tool, state, position, disturbed } = part;
      const attributes = {
        'trialbed.operation': operation,
        'trialbed.tool': tool,
        'trialbed.state': state,
        'trialbed.disturbed': disturbed,
        ...(position !== null && { 'trialbed.position': position }),
      };
      return { name: `operation ${operation}`, title: `operation ${tool}`, parent: 'phase drive', attributes, failed: state === 'unknown' };
    }
  }
}
