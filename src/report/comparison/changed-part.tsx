import { Foreign } from '../html/text.tsx';
import type { ChangedSide, ChangedTrial, Comparison } from './comparison.ts';
import type { TimelineStep } from './timeline.ts';
import { namesOf } from './wording.ts';

/** What came out otherwise, and the two timelines of those that were read, side by side. */
export function Changed({ comparison }: { readonly comparison: Comparison }) {
  const names = namesOf(comparison);
  const shown = comparison.changed.slice(0, MOST_ROWS);
  const left = comparison.changes - shown.length;
  if (shown.length === 0)
    return (
      <section>
        <h2>What changed</h2>
        <p>No trial came out otherwise.</p>
      </section>
    );
  return (
    <section>
      <h2>What changed</h2>
      <section class="wide" tabindex={0} aria-label="Changed trials">
        <table>
          <thead>
            <tr>
              <th scope="col">case</th>
              <th scope="col">faults</th>
              <th scope="col" class="number">
                repetition
              </th>
              <th scope="col">change</th>
              <th scope="col">
                <Foreign text={names.a} max={120} />
              </th>
              <th scope="col">
                <Foreign text={names.b} max={120} />
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one, at) => (
              <tr>
                <th scope="row">
                  {one.timeline === null ? (
                    <Foreign text={one.case} max={120} />
                  ) : (
                    <a href={`#changed-${at + 1}`}>
                      <Foreign text={one.case} max={120} />
                    </a>
                  )}
                </th>
                <td>
                  <Foreign text={one.schedule} max={120} />
                </td>
                <td class="number">{one.repetition}</td>
                <td>
                  <span class={`change ${one.change}`}>{one.change}</span>
                  {one.severity !== 'medium' && <span class="tag">{one.severity}</span>}
                </td>
                <Side side={one.a} />
                <Side side={one.b} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {left > 0 && <p class="dim">And {left} more.</p>}
      {shown.map((one, at) => one.timeline !== null && <Timelines changed={one} at={at + 1} names={names} />)}
    </section>
  );
}

/** Rows of the table; programs have more in the JSON. */
const MOST_ROWS = 200;

function Side({ side }: { readonly side: ChangedSide }) {
  return (
    <td>
      <span class={`state ${side.pass ?? 'missing'}`}>{side.pass ?? side.ending ?? 'not ended'}</span>{' '}
      {side.why !== null && <Foreign text={side.why} max={240} />}
    </td>
  );
}

function Timelines({
  changed,
  at,
  names,
}: {
  readonly changed: ChangedTrial;
  readonly at: number;
  readonly names: { readonly a: string; readonly b: string };
}) {
  return (
    <article id={`changed-${at}`}>
      <h3>
        <Foreign text={changed.title ?? changed.case} max={160} />
      </h3>
      <p class="dim">
        <Foreign text={changed.case} max={120} />, under <Foreign text={changed.schedule} max={120} />, repetition {changed.repetition}: {changed.change}
      </p>
      <section class="wide" tabindex={0} aria-label="Both timelines">
        <table class="timelines">
          <thead>
            <tr>
              <th scope="col">
                <Foreign text={names.a} max={120} /> <span class="id">{changed.a.trial}</span>
              </th>
              <th scope="col">
                <Foreign text={names.b} max={120} /> <span class="id">{changed.b.trial}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {changed.timeline?.map(({ a, b }) => (
              <tr class={a !== null && b !== null ? 'both' : 'one'}>
                <Step step={a} />
                <Step step={b} />
              </tr>
            ))}
            <tr class="end">
              <Side side={changed.a} />
              <Side side={changed.b} />
            </tr>
          </tbody>
        </table>
      </section>
    </article>
  );
}

function Step({ step }: { readonly step: TimelineStep | null }) {
  if (step === null) return <td class="nothing">–</td>;
  return (
    <td>
      {step.kind === 'answer' ? <em>answered: </em> : null}
      <Foreign text={step.text} max={300} />
      {step.state !== null && <span class={`told ${step.state.split(' ')[0] ?? ''}`}>{step.state}</span>}
      {step.fault !== null && <span class="fault">fault: {step.fault}</span>}
    </td>
  );
}
