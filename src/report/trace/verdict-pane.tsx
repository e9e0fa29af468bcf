import { Foreign, Time } from '../html/text.tsx';
import { Finding } from './finding.tsx';
import { Pane } from './panes.tsx';
import { Recovery } from './recovery.tsx';
import type { Room } from './room.ts';
import type { Trace } from './trace.ts';
import { stateOf } from './words.ts';

/** Findings of one view that are shown. */
const MOST_FINDINGS = 100;

/** What the attempt was judged, with the evidence, and where it came from. */
export function VerdictPane({ trace, room }: { readonly trace: Trace; readonly room: Room }) {
  const { verdict, problem } = trace.head;
  const state = stateOf(trace);
  return (
    <Pane id="verdict" title="Verdict">
      <p>
        <span class={`badge ${state.tone}`}>{state.word}</span>{' '}
        {verdict === null ? (
          <>There is none: the attempt was not graded. {problem && <Foreign text={`${problem.code}: ${problem.message}`} max={room.value} />}</>
        ) : (
          <>
            {verdict.reached !== null && (
              <>
                reached “<Foreign text={verdict.reached} max={120} />
                ”,{' '}
              </>
            )}
            <span class="dim">
              graded <Time at={verdict.gradedAt} /> by grader <Foreign text={verdict.graderVersion} max={40} />
            </span>
          </>
        )}
      </p>
      {verdict !== null &&
        (['outcome', 'constraints', 'effects'] as const).map((view) => {
          const { judgement } = verdict[view];
          const of = trace.findings.filter((finding) => finding.view === view);
          return (
            <section class="view">
              <h3>
                {VIEWS[view]} <span class={`badge ${judgement === 'pass' ? 'good' : judgement === 'fail' ? 'bad' : 'wait'}`}>{judgement}</span>
              </h3>
              {of.slice(0, MOST_FINDINGS).map((finding) => (
                <Finding finding={finding} trace={trace} here={null} room={room} />
              ))}
              {of.length > MOST_FINDINGS && <p class="dim">and {of.length - MOST_FINDINGS} more</p>}
            </section>
          );
        })}
      {trace.recovery.length > 0 && (
        <section class="view">
          <h3>After writes of unknown outcome</h3>
          <ul>
            {trace.recovery.map((note) => (
              <li>
                <Recovery trace={trace} note={note} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </Pane>
  );
}

const VIEWS = {
  outcome: 'Outcome: is the world as the case accepts it, and was the user told the truth?',
  constraints: 'Constraints: was it done in a way that is permitted?',
  effects: 'Effects: did nothing else change?',
} as const;
