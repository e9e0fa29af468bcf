import type { TeamUse } from '../domain/trial.ts';
import { costText, tokensText } from '../report/model-text.ts';
import { plainText } from '../report/plain-text.ts';
import { delegationText } from '../report/teams-markdown.ts';
import type { Paint } from './host.ts';
import { textTable } from './table.ts';

/** Members of one team that are listed; `report.json` has all. */
const LISTED = 12;

/** What each member of a team did, where any agent was one. */
export function teamLines(teams: readonly TeamUse[], columns: number, paint: Paint): string[] {
  if (teams.length === 0) return [];
  const rows = teams.flatMap(({ agent, members }) =>
    members
      .slice(0, LISTED)
      .map(({ member, calls, handOvers, models }) => [
        plainText(`${agent}: ${member}`),
        String(calls),
        String(handOvers),
        ...(models === null ? ['', ''] : [tokensText(models), costText(models)]),
      ]),
  );
  const table = textTable(['teams', 'calls', 'hand-overs', 'tokens', 'cost'], rows, { columns, headPaint: (text) => paint('bold', text) });
  const repeats = teams.filter(({ repeated }) => repeated > 0).map((team) => paint('yellow', plainText(`${team.agent}: ${delegationText(team)}`)));
  return ['', ...table, ...repeats];
}
