import type { Finding, Judgement } from '../../../domain/verdict.ts';
import type { StoredVerdict } from '../../../store/store.ts';
import { Badge, type Tone } from './layout.tsx';
import { Foreign, ForeignValue, Time } from '../../../report/html/text.tsx';

/** Findings of one view that are shown. */
const MOST_FINDINGS = 60;

/** The verdict that counts, view by view, with its evidence; and those before it. */
export function VerdictView({ verdicts, runs }: { readonly verdicts: readonly StoredVerdict[]; readonly runs: boolean }) {
  const current = verdicts.find((verdict) => verdict.current);
  const earlier = verdicts.filter((verdict) => verdict !== current);
  if (!current) return <p class="empty">{runs ? 'There is none yet: the trial is graded when it has ended.' : 'There is none: the trial was not graded.'}</p>;
  return (
    <>
      <p>
        <Judged judgement={current.pass} />{' '}
        {current.reached !== null && (
          <>
            reached “<Foreign text={current.reached} max={120} />
            ”,{' '}
          </>
        )}
        <span class="dim">
          graded <Time at={current.gradedAt} /> by grader {current.graderVersion}
        </span>
      </p>
      {(['outcome', 'constraints', 'effects'] as const).map((name) => {
        const { judgement, findings } = current[name];
        const told = findings.filter((finding) => finding.judgement !== 'pass');
        return (
          <div class="view">
            <h3>
              {name} <Judged judgement={judgement} />
            </h3>
            {told.length > 0 && (
              <ul class="findings">
                {told.slice(0, MOST_FINDINGS).map((finding) => (
                  <li>
                    <FindingView finding={finding} />
                  </li>
                ))}
                {told.length > MOST_FINDINGS && <li class="dim">and {told.length - MOST_FINDINGS} more</li>}
              </ul>
            )}
          </div>
        );
      })}
      {earlier.length > 0 && (
        <details>
          <summary>Earlier verdicts ({earlier.length})</summary>
          <ul>
            {earlier.map((old) => (
              <li>
                <Judged judgement={old.pass} /> of attempt {old.attempt}, graded <Time at={old.gradedAt} /> by grader {old.graderVersion}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function FindingView({ finding: f }: { readonly finding: Finding }) {
  return (
    <>
      <p>
        <Judged judgement={f.judgement} /> <code>{f.code}</code> <Foreign text={f.message} max={800} />{' '}
        <span class="dim">
          at <Foreign text={f.rule} max={120} />
        </span>
      </p>
      <dl class="facts evidence">
        {f.expected !== undefined && (
          <div>
            <dt>Expected</dt>
            <dd>
              <ForeignValue value={f.expected} max={1_500} />
            </dd>
          </div>
        )}
        {f.found !== undefined && (
          <div>
            <dt>Found</dt>
            <dd>
              <ForeignValue value={f.found} max={1_500} />
            </dd>
          </div>
        )}
        {f.operations !== undefined && f.operations.length > 0 && (
          <div>
            <dt>By</dt>
            <dd>
              <Foreign text={f.operations.join(', ')} max={400} />
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}

function Judged({ judgement }: { readonly judgement: Judgement }) {
  return <Badge tone={TONES[judgement]}>{judgement}</Badge>;
}

const TONES: { readonly [judgement in Judgement]: Tone } = { pass: 'good', fail: 'bad', undetermined: 'wait' };
