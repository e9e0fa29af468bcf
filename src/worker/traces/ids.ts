import { createHash } from 'node:crypto';
import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import type { AttemptRef } from '../../activities/contract.ts';

/** Part of an attempt that has a span of a known id. */
export type PartName = 'attempt' | `phase ${string}` | `operation ${string}`;

/**
 * The span of a part of an attempt. Its ids follow from the attempt alone, so that parts fit together that are told by different workers, before and after one was lost, and
 * nothing has to travel through histories.
 */
export function spanContextOf(ref: AttemptRef, part: PartName): SpanContext {
  return { traceId: traceIdOf(ref), spanId: digest(ref, part).slice(0, 16), traceFlags: TraceFlags.SAMPLED };
}

/** Whether an attempt is among the share that is traced; every worker says the same. */
export function isTraced(ref: AttemptRef, share: number): boolean {
  return share >= 1 || Number.parseInt(traceIdOf(ref).slice(0, 8), 16) / 2 ** 32 < share;
}

function traceIdOf(ref: AttemptRef): string {
  return digest(ref, 'trace').slice(0, 32);
}

function digest({ trial, attempt }: AttemptRef, part: string): string {
  return createHash('sha256').update(`${trial}\0${attempt}\0${part}`).digest('hex');
}
