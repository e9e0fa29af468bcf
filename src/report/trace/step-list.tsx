import { isList, isObject } from '../../domain/text/bounded.ts';
import { Foreign } from '../html/text.tsx';
import type { Trace, TraceStep } from './trace.ts';
import { changesText, clockText, isMisled, stateOf, stepTitle, stepTone } from './words.ts';

/** All steps, one line each, with what is remarkable in words. */
export function StepList({ trace }: { readonly trace: Trace }) {
  return (
    <ol class="steps">
      {trace.steps.map((step) => (
        <li>
          {step.clockMovedMs > 0 && <span class="clock">{clockText(step.clockMovedMs)}</span>}
          <a href={`#step-${step.n}`} class={`s-${stepTone(step)}`}>
            <span class="n">{step.n}</span>
            <span class="what">
              <b>
                <Foreign text={stepTitle(step, trace.head.ending)} max={60} />
              </b>{' '}
              {step.operation && (
                <span class="dim">
                  <Foreign text={step.operation.id} max={24} />
                  {step.operation.actor !== undefined && (
                    <>
                      {' '}
                      by <Foreign text={step.operation.actor} max={40} />
                    </>
                  )}
                </span>
              )}
              <span class="hint">
                <Foreign text={hintOf(step, trace)} max={90} />
              </span>
              <Marks trace={trace} step={step} />
            </span>
          </a>
        </li>
      ))}
    </ol>
  );
}

function Marks({ trace, step }: { readonly trace: Trace; readonly step: TraceStep }) {
  const { operation, faults, findings, n } = step;
  const changed = changesText(step);
  const caused = findings.map((place) => trace.findings[place]).filter((finding) => finding !== undefined);
  const worst = caused[0];
  return (
    <span class="marks">
      {worst && (
        <span class={`badge ${worst.judgement === 'fail' ? 'bad' : 'wait'}`}>
          {worst.cause === n ? `cause: ${worst.code.replaceAll('_', ' ')}` : 'part of a finding'}
        </span>
      )}
      {operation && operation.told !== 'committed' && (
        <span class={`badge ${operation.told === 'unknown' ? 'wait' : 'plain'}`}>told {operation.told.replaceAll('_', ' ')}</span>
      )}
      {operation && isMisled(step) && <span class="badge wait">really {operation.known}</span>}
      {faults.length > 0 && step.kind === 'operation' && <span class="badge wait">fault</span>}
      {step.recalled && <span class="badge plain">from the record</span>}
      {operation?.approval && <span class="badge busy">approval</span>}
      {changed !== '' && <span class="badge plain">{changed}</span>}
    </span>
  );
}

/** What tells calls of one tool apart: their arguments; of a message its words. */
function hintOf({ operation, messages, kind, changes, late, lateRequests, handOver }: TraceStep, trace: Trace): string {
  if (handOver) return `to ${handOver.to}`;
  if (operation) {
    if (!isObject(operation.args)) return JSON.stringify(operation.args);
    return Object.values(operation.args)
      .map((value) =>
        typeof value === 'string' ? value : isList(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value),
      )
      .join(', ');
  }
  if (kind === 'said') return messages[0]?.text.trim() ?? '';
  if (kind === 'outside') return changes.map(({ key }) => Object.values(key).join(' ')).join(', ');
  if (kind === 'late') return `${late.length + lateRequests.length} after the door was closed`;
  if (kind === 'end') return trace.head.ending?.replaceAll('_', ' ') ?? '';
  return kind === 'verdict' ? stateOf(trace).word : '';
}
