import { Foreign } from '../html/text.tsx';
import type { ChangedSide, ChangedTrial, Comparison } from './comparison.ts';
import type { TimelineStep } from './timeline.ts';
import { namesOf } from './wording.ts';

/** What came out otherwise, and the two timelines of those that were read, side by side. `id`: what addresses in it begin with. */
export function Changed({
  comparison,
  rows = MOST_ROWS,
  timelines = Number.POSITIVE_INFINITY,
  id = 'changed',
}: {
  readonly comparison: Comparison;
  /** Rows of the table, and trials whose timelines are shown, at most. */
  readonly rows?: number;
  readonly timelines?: number;
  readonly id?: string;
}) {
  const names = namesOf(comparison);
  const read = new Set(comparison.changed.filter(({ timeline }) => timeline !== null).slice(0, timelines));
  const shown = comparison.changed.slice(0, rows);
  const left = comparison.changes - shown.length;
  if (shown.length === 0) return <p>No trial came out otherwise.</p>;
  return (
    <>
      <section class="scroll" tabindex={0} aria-label="Changed trials">
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
                  {read.has(one) ? (
                    <a href={`#${id}-${at + 1}`}>
                      <Foreign text={one.case} max={120} />
                    </a>
                  ) : (
                    <Foreign text={one.case} max={120} />
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
      {shown.map((one, at) => read.has(one) && <Timelines changed={one} id={`${id}-${at + 1}`} names={names} />)}
    </>
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
  id,
  names,
}: {
  readonly changed: ChangedTrial;
  readonly id: string;
  readonly names: { readonly a: string; readonly b: string };
}) {
  return (
    <article id={id}>
      <h3>
        <Foreign text={changed.title ?? changed.case} max={160} />
      </h3>
      <p class="dim">
        <Foreign text={changed.case} max={120} />, under <Foreign text={changed.schedule} max={120} />, repetition {changed.repetition}: {changed.change}
      </p>
      <section class="scroll" tabindex={0} aria-label="Both timelines">
        <table class="timelines">
          <thead>
            <tr>
              <th scope="col">
                <Foreign text={names.a} max={120} />{' '}
                <span class="id">
                  <Foreign text={changed.a.trial} max={120} />
                </span>
              </th>
              <th scope="col">
                <Foreign text={names.b} max={120} />{' '}
                <span class="id">
                  <Foreign text={changed.b.trial} max={120} />
                </span>
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
