import type { Finding } from '../../../domain/verdict.ts';
import type { ReportData, ReportTrial } from '../../data.ts';
import { trialState } from '../../matrix.ts';
import { ForeignJson, Foreign } from '../text.tsx';
import { Badge, Id, Name, Says } from '../words.tsx';

/** Trials that did not pass, with their evidence: those that the data has. Null: all passed. */
export function evidenceBody({ trials, facts }: Pick<ReportData, 'trials' | 'facts'>) {
  const all = facts.filter((one) => one.ending !== null && trialState(one) !== 'pass').length;
  if (all === 0) return null;
  const shown = trials.filter(({ summary }) => trialState(summary) !== 'pass').slice(0, SHOWN);
  return (
    <>
      <p class="says">
        {shown.length < all ? `${shown.length} of ${all} trials that did not pass, some of each kind. ` : ''}
        <code>trialbed trace TRIAL</code> shows any of them step by step.
      </p>
      {shown.map((one) => (
        <Evidence trial={one} />
      ))}
    </>
  );
}

/** The place of a trial's evidence in the page. */
export function evidenceId(trial: string): string {
  return `trial-${trial.replace(/[^\w-]/g, '_')}`;
}

const SHOWN = 60;
const FINDINGS = 4;
const VALUE = 500;

function Evidence({ trial: { summary, title, verdict, problem, details } }: { readonly trial: ReportTrial }) {
  const state = trialState(summary);
  const findings =
    verdict === null ? [] : (['outcome', 'constraints', 'effects'] as const).flatMap((view) => verdict[view].findings.map((finding) => ({ view, finding })));
  const wrong = findings
    .filter(({ finding }) => finding.judgement !== 'pass')
    .sort((a, b) => Number(b.finding.judgement === 'fail') - Number(a.finding.judgement === 'fail'));
  return (
    <details class={`trial ${state === 'fail' ? 'bad' : 'wait'}`} id={evidenceId(summary.trial)}>
      <summary>
        <Badge result={state} /> <Name text={summary.case} /> by <Name text={summary.agent} />
        {summary.schedule !== 'none' && (
          <>
            {' '}
            under <Name text={summary.schedule} />
          </>
        )}
        {summary.repetition > 1 && `, repetition ${summary.repetition}`}
        {summary.why !== null && (
          <>
            : <Says text={summary.why} max={300} />
          </>
        )}
      </summary>
      <dl>
        <dt>Trial</dt>
        <dd>
          <Id text={summary.trial} />, attempt {summary.attempt}
        </dd>
        <dt>Case</dt>
        <dd>
          <Says text={title} max={300} />
        </dd>
        <dt>Ending</dt>
        <dd>
          {summary.ending.replaceAll('_', ' ')}
          {problem !== null && (
            <>
              : <Says text={problem.message} />
            </>
          )}
        </dd>
        <dt>Step by step</dt>
        <dd>
          <Id text={`trialbed trace ${summary.trial}`} />
        </dd>
      </dl>
      {wrong.slice(0, FINDINGS).map(({ view, finding }) => (
        <FindingText view={view} finding={finding} />
      ))}
      {wrong.length > FINDINGS && <p class="dim">and {wrong.length - FINDINGS} more findings</p>}
      {details.length > 0 && (
        <>
          <h3>Why tools failed</h3>
          <ul class="list">
            {details.slice(0, FINDINGS).map(({ operation, tool, told, detail }) => (
              <li>
                <Name text={tool} /> (<Name text={operation} />
                ), told {told}: <Says text={detail} max={300} />
              </li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
}

function FindingText({
  view,
  finding: { code, judgement, rule, message, expected, found, operations = [] },
}: {
  readonly view: string;
  readonly finding: Finding;
}) {
  return (
    <div class="finding">
      <p>
        <Badge result={judgement === 'fail' ? 'fail' : 'undetermined'} text={code.replaceAll('_', ' ')} /> <Says text={message} />{' '}
        <span class="dim">
          {view}, rule <Name text={rule} />
          {operations.length > 0 && (
            <>
              , <Foreign text={operations.slice(0, 8).join(', ')} max={200} />
            </>
          )}
        </span>
      </p>
      {expected !== undefined && (
        <>
          <p class="dim">expected</p>
          <ForeignJson value={expected} max={VALUE} />
        </>
      )}
      {found !== undefined && (
        <>
          <p class="dim">found</p>
          <ForeignJson value={found} max={VALUE} />
        </>
      )}
    </div>
  );
}
