import { approvalEndText } from '../../approval-words.ts';
import type { ReportData } from '../../data.ts';
import { costText, latencyText, tokensText } from '../../model-text.ts';
import { delegationText } from '../../teams-markdown.ts';
import { DataTable } from '../table.tsx';
import { Name, Says } from '../words.tsx';

const LISTED = 100;

/** Models that were asked, and where the money ended. Null: none was measured. */
export function modelsBody({ summary: { models = [], stopped } }: Pick<ReportData, 'summary'>) {
  if (models.length === 0 && stopped === undefined) return null;
  return (
    <>
      {stopped !== undefined && (
        <p class="says">
          Stopped: {stopped.spent.amount} of {stopped.limit.amount} {stopped.limit.currency} are spent; {stopped.left} trials were not started.
        </p>
      )}
      <DataTable
        caption="Models by agent, all attempts included"
        head={['agent', 'calls', 'tokens', 'cost', 'a call', 'failed tries', 'versions']}
        rows={models.slice(0, LISTED).map(({ agent, who, totals }) => [
          <>
            <Name text={agent} />
            {who === 'user' && ', its simulated user'}
          </>,
          totals === null ? 'not measured' : String(totals.calls),
          tokensText(totals),
          costText(totals),
          totals === null ? '' : latencyText(totals),
          totals === null ? '' : String(totals.failedTries),
          totals === null ? '' : <Name text={totals.versions.join(', ')} max={200} />,
        ])}
      />
    </>
  );
}

/** What members of teams did. Null: no agent is a team. */
export function teamsBody({ summary: { teams = [] } }: Pick<ReportData, 'summary'>) {
  if (teams.length === 0) return null;
  return (
    <>
      <DataTable
        caption="Members of teams"
        head={['team', 'member', 'calls', 'hand-overs', 'model calls', 'tokens', 'cost']}
        numbers={[2, 3]}
        rows={teams
          .slice(0, LISTED)
          .flatMap(({ agent, members }) =>
            members
              .slice(0, LISTED)
              .map(({ member, calls, handOvers, models }) => [
                <Name text={agent} />,
                <Name text={member} />,
                String(calls),
                String(handOvers),
                String(models?.calls ?? 'not measured'),
                tokensText(models),
                costText(models),
              ]),
          )}
      />
      <ul class="list">
        {teams.slice(0, LISTED).map((team) => (
          <li>
            <Name text={team.agent} />: {delegationText(team)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Calls that needed an approval. Null: none did. */
export function approvalsBody({ approvals }: Pick<ReportData, 'approvals'>) {
  if (approvals.length === 0) return null;
  return (
    <DataTable
      caption="Calls that needed an approval"
      head={['case', 'agent', 'tool', 'rule', 'what came of it']}
      sentences={[4]}
      rows={approvals
        .slice(0, LISTED)
        .map((one) => [
          <Name text={one.case} />,
          <Name text={one.agent} />,
          <Name text={one.tool} />,
          <Name text={one.rule} />,
          <Says text={approvalEndText(one.end)} max={300} />,
        ])}
      more={{ rows: approvals.length - LISTED, where: 'in report.json' }}
    />
  );
}
