import type { ReportData } from '../data.ts';
import { evidenceBody, evidenceId } from './sections/evidence.tsx';
import { CoverageBody, diagnosticsBody, ProofsBody, ProvenanceBody } from './sections/checked.tsx';
import { comparedBody } from './sections/compared.tsx';
import { FailuresBody } from './sections/failures.tsx';
import { ratersBody } from './sections/raters.tsx';
import { judgesBody } from './sections/judges.tsx';
import { GatesBody } from './sections/gates.tsx';
import { IsolationBody } from './sections/isolation.tsx';
import { progressBody } from './sections/progress.tsx';
import { conditionalBody, RatesBody } from './sections/rates.tsx';
import { spendingBody } from './sections/spending.tsx';
import { CountsBody, matrixBody, mixedBody } from './sections/standing.tsx';
import { TrialsBody } from './sections/trials.tsx';
import { approvalsBody, modelsBody, teamsBody } from './sections/used.tsx';
import { htmlPage, type Section } from './page.tsx';
import { IN_CLEAR } from '../in-clear.ts';
import { trialState } from '../matrix.ts';
import { packed, shownTrials } from './trial-rows.ts';
import { Id, Name, Says } from './words.tsx';

/**
 * A batch as one HTML file: it opens offline and asks for nothing from anywhere. First what decides, then figures, failures with their evidence, all trials to filter and to sort, and what was not tested. Foreign text in
 * it is escaped and cut; of ten thousand trials it is below 1.5 MB.
 */
export function reportHtml(data: ReportData): string {
  const { batch, facts, trials } = data;
  const evidence = new Map(trials.filter(({ summary }) => trialState(summary) !== 'pass').map(({ summary }) => [summary.trial, evidenceId(summary.trial)]));
  const shown = shownTrials(facts, evidence);
  const sections: readonly Section[] = [
    { id: 'gates', title: 'Gates', body: <GatesBody data={data} /> },
    { id: 'compared', title: 'Compared with what is there', body: comparedBody(data) },
    { id: 'progress', title: 'Progress', body: progressBody(data) },
    { id: 'rates', title: 'Rates', body: <RatesBody data={data} /> },
    { id: 'schedules', title: 'By fault schedule', body: conditionalBody(data) },
    { id: 'counts', title: 'Counts', body: <CountsBody data={data} /> },
    { id: 'failures', title: 'What went wrong', body: <FailuresBody data={data} /> },
    { id: 'judges', title: 'Judges', body: judgesBody(data) },
    { id: 'raters', title: 'Agreement of raters', body: ratersBody(data) },
    { id: 'evidence', title: 'Evidence', body: evidenceBody(data) },
    { id: 'cases', title: 'Cases and agents', body: matrixBody(data) },
    { id: 'mixed', title: 'Mixed results and quarantine', body: mixedBody(data) },
    { id: 'spending', title: 'Cost and time', body: spendingBody(data) },
    { id: 'models', title: 'Models', body: modelsBody(data) },
    { id: 'teams', title: 'Teams', body: teamsBody(data) },
    { id: 'approvals', title: 'Approvals', body: approvalsBody(data) },
    { id: 'trials', title: 'All trials', body: <TrialsBody trials={shown} /> },
    { id: 'coverage', title: 'What each case checks', body: data.coverage.length === 0 ? null : <CoverageBody data={data} /> },
    { id: 'provenance', title: 'What was run', body: <ProvenanceBody data={data} /> },
    { id: 'isolation', title: 'Leaks and contamination', body: <IsolationBody data={data} /> },
    { id: 'diagnostics', title: 'Diagnostics', body: diagnosticsBody(data) },
    { id: 'proofs', title: 'What this fixture proves, and what it does not', body: <ProofsBody data={data} /> },
  ];
  return htmlPage({
    title: `${batch.suite}: report of ${batch.id}`,
    kicker: 'trialbed report of a batch',
    head: <Head data={data} />,
    sections,
    script: { file: 'report.js', data: packed(shown) },
  });
}

const GATES = {
  met: { text: 'gate met', look: 'good' },
  not_met: { text: 'gate not met', look: 'bad' },
  infrastructure: { text: 'gate not judged: trials without a result', look: 'wait' },
} as const;

function Head({ data: { batch, summary, opening, comparisons } }: { readonly data: ReportData }) {
  const scored = summary.passed + summary.failed + summary.undetermined;
  const gate = GATES[summary.gate];
  return (
    <>
      <div class="headline">
        <h1>
          <Name text={summary.suite} />: {summary.passed} of {scored} passed
        </h1>
        <span class={`badge ${gate.look}`}>{gate.text}</span>
      </div>
      <ul class="deciding">
        {opening.slice(0, MOST_SENTENCES).map((sentence) => (
          <li>
            <Says text={sentence} />
          </li>
        ))}
      </ul>
      <p class="note">
        Batch <Id text={batch.id} />
        {comparisons.length > 0 && (
          <>
            , compared with <Name text={[...new Set(comparisons.map(({ against }) => against))].join(', ')} max={300} />
          </>
        )}
        , begun <Name text={batch.createdAt} max={40} />. Whether a trial passed was read from the systems of record, not from what the agent said.{' '}
        <a href="#proofs">What this fixture does not prove</a>.
      </p>
      <p class="note">{IN_CLEAR}</p>
    </>
  );
}

const MOST_SENTENCES = 20;
