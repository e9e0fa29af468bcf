import { Foreign } from '../html/text.tsx';
import { StepLink } from './finding.tsx';
import { Recovery } from './recovery.tsx';
import type { Room } from './room.ts';
import type { Trace, TraceFinding } from './trace.ts';
import { endingText, stateOf, wrongIn } from './words.ts';

/** Findings that stand above everything. */
const MOST_TOLD = 3;

/** What it is, how it was judged, and what went wrong where: all that somebody with ten seconds reads. */
export function Overview({ trace, room }: { readonly trace: Trace; readonly room: Room }) {
  const { head } = trace;
  const state = stateOf(trace);
  const wrong = wrongIn(trace);
  const [worst] = wrong;
  // What somebody has to know to see why the rest went wrong: outcomes that the agent could not know, and mistook.
  const story = trace.recovery.filter(({ committed, learned }) => committed !== 1 || !learned);
  return (
    <>
      <div class="headline">
        <span class={`badge big ${state.tone}`}>{state.word}</span>
        <h1>
          <Foreign text={head.case} max={120} /> by <Foreign text={head.agent} max={80} />
        </h1>
        <span class="dim">
          repetition {head.repetition}
          {head.origin && `, goes on from ${head.origin.trial} after ${head.origin.calls} ${head.origin.calls === 1 ? 'call' : 'calls'}`}
          {!head.counts && `, attempt ${head.attempt}, which does not count`}
        </span>
      </div>
      <p class="lead">
        <Foreign text={head.title} max={300} />{' '}
        <span class="dim">
          {head.schedule === null ? 'Without faults.' : <>Fault schedule {<Foreign text={`${head.schedule.name}: ${head.schedule.title}`} max={200} />}</>}
        </span>{' '}
        {trace.missing.length > 0 && <a href="#pane-about">What this page cannot tell ({trace.missing.length})</a>}
      </p>
      {worst ? (
        <section
          class={`wrong ${worst.judgement === 'fail' ? 'bad' : 'wait'}`}
          aria-label={worst.judgement === 'fail' ? 'What went wrong' : 'What cannot be decided'}
        >
          <h2>{worst.judgement === 'fail' ? 'What went wrong' : 'What cannot be decided'}</h2>
          {story.slice(0, 2).map((note) => (
            <p>
              <Recovery trace={trace} note={note} />
            </p>
          ))}
          <ol>
            {wrong.slice(0, MOST_TOLD).map((finding) => (
              <li>
                <Foreign text={finding.message} max={Math.min(400, room.text)} /> <Whence trace={trace} finding={finding} />
              </li>
            ))}
          </ol>
          {wrong.length > MOST_TOLD && (
            <p>
              <a href="#pane-verdict">and {wrong.length - MOST_TOLD} more</a>
            </p>
          )}
        </section>
      ) : (
        <section class={`wrong ${state.tone}`} aria-label="How it ended">
          <p>
            {head.verdict !== null
              ? 'Nothing went wrong: the world is as the case accepts it, and nothing else changed.'
              : head.ending !== null && endingText(head.ending)}{' '}
            {head.verdict === null && head.problem && <Foreign text={`${head.problem.code}: ${head.problem.message}`} max={600} />}
            {head.verdict === null && head.ending === null && 'The trial has not ended.'}
          </p>
        </section>
      )}
    </>
  );
}

function Whence({ trace, finding: { cause, steps } }: { readonly trace: Trace; readonly finding: TraceFinding }) {
  if (cause === null) return <span class="dim">(no step did it)</span>;
  const others = steps.length - 1;
  return (
    <span class="whence">
      <StepLink trace={trace} n={cause} />
      {others > 0 && ` and ${others} before`}
    </span>
  );
}
