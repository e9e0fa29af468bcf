import type { ReportData } from '../../data.ts';
import type { KindCount } from '../../figures/failures.ts';
import { DataTable } from '../table.tsx';
import { Id, Name, Says } from '../words.tsx';

/** Categories of failures, forbidden effects and violated constraints by kind, endings, and what stayed unknown. */
export function FailuresBody({ data: { failures } }: { readonly data: Pick<ReportData, 'failures'> }) {
  const { categories, constraints, forbidden, endings, unknowns, version } = failures;
  const failed = categories.reduce((sum, { trials }) => sum + trials, 0);
  const agents = [...new Set(endings.map(({ agent }) => agent))].slice(0, MOST_AGENTS);
  return (
    <>
      {failed === 0 ? (
        <p class="says">No trial failed.</p>
      ) : (
        <DataTable
          caption={`Failed trials by category (list of categories, version ${version}); each has one`}
          head={['category', 'trials', ...agents, 'meaning', 'for example']}
          numbers={[1, ...agents.map((_, at) => at + 2)]}
          sentences={[agents.length + 2, agents.length + 3]}
          rows={categories.map(({ category, trials, byAgent, meaning, example }) => [
            <a href="#trials" data-filter={`category=${category}`}>
              {category.replaceAll('_', ' ')}
            </a>,
            String(trials),
            ...agents.map((agent) => String(byAgent[agent] ?? 0)),
            meaning,
            example === null ? (
              ''
            ) : (
              <>
                <Name text={example.case} /> by <Name text={example.agent} />, <Id text={example.trial} />
                {example.why !== null && (
                  <div class="dim">
                    <Says text={example.why} max={240} />
                  </div>
                )}
              </>
            ),
          ])}
        />
      )}
      <Kinds title="Forbidden effects, by kind" none="No effect was found that a case neither expects nor allows." kinds={forbidden} />
      <Kinds title="Violated constraints, by kind" none="No constraint was violated." kinds={constraints} />
      <h3>Endings</h3>
      <DataTable
        caption="How attempts ended that count"
        head={['agent', 'ending', 'trials']}
        numbers={[2]}
        rows={endings.slice(0, LISTED).map(({ agent, ending, trials }) => [<Name text={agent} />, ending.replaceAll('_', ' '), String(trials)])}
        more={{ rows: endings.length - LISTED, where: 'in report.json' }}
      />
      <h3>Unknown outcomes</h3>
      <p class="says">
        {unknowns.operations === 0 ? (
          'Every call of unknown outcome was cleared up by its agent.'
        ) : (
          <>
            {unknowns.operations} operations of unknown outcome stayed unreconciled, in {unknowns.trials} trials
            {unknowns.example !== null && (
              <>
                , for example <Id text={unknowns.example} />
              </>
            )}
            .
          </>
        )}
      </p>
    </>
  );
}

const LISTED = 100;
/** Columns of agents; more are in the table of all trials. */
const MOST_AGENTS = 6;

function Kinds({ title, none, kinds }: { readonly title: string; readonly none: string; readonly kinds: readonly KindCount[] }) {
  return (
    <>
      <h3>{title}</h3>
      {kinds.length === 0 ? (
        <p class="says">{none}</p>
      ) : (
        <DataTable
          caption={title}
          head={['kind', 'rule', 'agent', 'trials', 'findings', 'for example']}
          numbers={[3, 4]}
          sentences={[1, 5]}
          rows={kinds.slice(0, LISTED).map(({ code, rule, agent, trials, findings, example }) => [
            code.replaceAll('_', ' '),
            <Name text={rule} />,
            <Name text={agent} />,
            String(trials),
            String(findings),
            <>
              <Says text={example.message} max={240} /> <Id text={example.trial} />
            </>,
          ])}
          more={{ rows: kinds.length - LISTED, where: 'in report.json' }}
        />
      )}
    </>
  );
}
