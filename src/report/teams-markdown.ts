import type { BatchSummary, TeamUse } from '../domain/trial.ts';
import { mdCellCode, mdCode, mdTable } from './markdown.ts';
import { costText, tokensText } from './model-text.ts';

/** Teams, and members of each, that are listed at all. */
const LISTED = 50;

/** What each member of a team did, and how often the conversation went to and fro. Empty where no agent was a team. */
export function teamsMarkdown({ teams = [] }: Pick<BatchSummary, 'teams'>): string {
  if (teams.length === 0) return '';
  const rows = teams
    .slice(0, LISTED)
    .flatMap(({ agent, members }) =>
      members
        .slice(0, LISTED)
        .map(({ member, calls, handOvers, models }) => [
          mdCellCode(agent),
          mdCellCode(member),
          String(calls),
          String(handOvers),
          String(models?.calls ?? 'not measured'),
          tokensText(models),
          costText(models),
        ]),
    );
  const table = mdTable(['agent', 'member', 'calls', 'hand-overs', 'model calls', 'tokens', 'cost'], rows);
  return [table, '', ...teams.slice(0, LISTED).map((team) => `- ${mdCode(team.agent)}: ${delegationText(team)}`)].join('\n');
}

/** How often a team delegated, and how often the same way again. */
export function delegationText({ trials, handOvers, repeated, repeatedIn }: TeamUse): string {
  const times = `${handOvers} hand-overs in ${trials} trials`;
  return repeated === 0 ? `${times}, none of them repeated` : `${times}; ${repeated} of them repeated one from and to the same, in ${repeatedIn} of the trials`;
}
