import { Foreign } from '../html/text.tsx';
import { evidenceText } from './evidence-text.ts';
import type { Room } from './room.ts';
import type { Trace, TraceFinding } from './trace.ts';
import { stepTitle } from './words.ts';

/** A finding with its evidence and the steps that it came from. `here`: the step that shows it. */
export function Finding({
  finding: f,
  trace,
  here,
  room,
}: {
  readonly finding: TraceFinding;
  readonly trace: Trace;
  readonly here: number | null;
  readonly room: Room;
}) {
  const others = f.steps.filter((n) => n !== here);
  // In its step the finding stands above the call: the whole evidence has the pane Verdict.
  const max = here === null ? room.text : Math.min(160, room.text);
  const tone = f.judgement === 'fail' ? 'bad' : f.judgement === 'pass' ? 'good' : 'wait';
  return (
    <section class={`finding ${tone}`}>
      <p>
        <span class={`badge ${tone}`}>{f.judgement}</span> <strong>{f.code.replaceAll('_', ' ')}</strong>: <Foreign text={f.message} max={room.text} />
      </p>
      {(f.expected !== undefined || f.found !== undefined) && (
        <dl class="evidence">
          {f.expected !== undefined && (
            <div>
              <dt>Expected</dt>
              <dd>
                <Foreign text={evidenceText(f.expected)} max={max} />
              </dd>
            </div>
          )}
          {f.found !== undefined && (
            <div>
              <dt>Found</dt>
              <dd>
                <Foreign text={evidenceText(f.found)} max={max} />
              </dd>
            </div>
          )}
        </dl>
      )}
      <p class="dim whereabouts">
        {f.view}, <Foreign text={f.rule} max={120} />
        {others.length > 0 && (
          <>
            {here === null ? '; came from ' : '; together with '}
            <StepLinks trace={trace} steps={others} />
          </>
        )}
        {here === null && f.steps.length === 0 && '; no step caused it'}
      </p>
    </section>
  );
}

/** In a step that took part in what another one caused. */
export function PartOf({ findings, trace }: { readonly findings: readonly TraceFinding[]; readonly trace: Trace }) {
  if (findings.length === 0) return null;
  return (
    <section class={`finding ${findings[0]?.judgement === 'fail' ? 'bad' : 'wait'}`}>
      {findings.map(({ code, cause }) => (
        <p>
          It took part in what was found: <strong>{code.replaceAll('_', ' ')}</strong>
          {cause !== null && (
            <>
              , caused in <StepLink trace={trace} n={cause} />
            </>
          )}
          .
        </p>
      ))}
    </section>
  );
}

/** Links to steps, the last ones where there are many. */
export function StepLinks({ trace, steps }: { readonly trace: Trace; readonly steps: readonly number[] }) {
  const shown = steps.slice(-8);
  return (
    <>
      {steps.length > shown.length && `${steps.length - shown.length} steps before, and `}
      {shown.map((n, at) => (
        <>
          {at > 0 && ', '}
          <StepLink trace={trace} n={n} />
        </>
      ))}
    </>
  );
}

/** A link to a step, named. */
export function StepLink({ trace, n }: { readonly trace: Trace; readonly n: number }) {
  const step = trace.steps[n - 1];
  return (
    <a href={`#step-${n}`}>
      step {n}
      {step && (
        <>
          : <Foreign text={stepTitle(step)} max={60} />
        </>
      )}
    </a>
  );
}
