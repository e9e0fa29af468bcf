import type { Child } from 'hono/jsx';
import type { ReportData } from '../../data.ts';
import type { Covered } from '../../figures/coverage.ts';
import { plainText, shorten } from '../../plain-text.ts';
import { DataTable } from '../table.tsx';
import { Id, Name, Says } from '../words.tsx';

const LISTED = 200;

/** Per case what is looked at, what may be without being looked at, and what cannot be seen. */
export function CoverageBody({ data: { coverage } }: { readonly data: Pick<ReportData, 'coverage'> }) {
  const everywhere = (coverage[0]?.unobservable ?? []).filter((one) => coverage.every(({ unobservable }) => unobservable.includes(one)));
  return (
    <>
      <p class="says">
        Any other change in the world fails a case.
        {everywhere.length > 0 && (
          <>
            {' '}
            Not observable in any case: <Says text={everywhere.join('; ')} max={1_500} />.
          </>
        )}
      </p>
      <DataTable
        caption="By case"
        head={['case', 'checked', 'allowed without check', 'not observable', 'closed tables']}
        sentences={[1, 2, 3, 4]}
        rows={coverage
          .slice(0, LISTED)
          .map((one) => [
            <Name text={one.case} />,
            <Covers list={one.checked} />,
            <Covers list={one.allowed} />,
            <Says text={one.unobservable.filter((what) => !everywhere.includes(what)).join('; ')} max={400} />,
            one.closed === null ? 'not known' : <Says text={one.closed.join(', ')} max={300} />,
          ])}
        more={{ rows: coverage.length - LISTED, where: 'in report.json' }}
      />
    </>
  );
}

function Covers({ list }: { readonly list: readonly Covered[] }) {
  return <Says text={list.map(({ what, parts }) => `${what}${parts === null ? '' : `: ${parts.join(', ')}`}`).join('; ')} max={400} />;
}

/** Revisions, generation, tools, agents, models, clocks, seed and graders of the batch. */
export function ProvenanceBody({ data: { batch, summary, facts, provenance } }: { readonly data: ReportData }) {
  const { environment } = batch;
  const tools = environment.facts?.tools ?? [];
  const late = facts.reduce((sum, { diagnostics }) => sum + (diagnostics?.lateAttempts ?? 0), 0);
  const entries: readonly (readonly [string, Child])[] = [
    ['Batch', <Id text={batch.id} />],
    ['Seed', <Id text={batch.seed} />],
    [
      'Environment',
      <>
        <Name text={`${environment.name} ${environment.version}`} />, generation <Id text={environment.generation.slice(0, 12)} />, isolation{' '}
        {batch.options.isolation}
      </>,
    ],
    ...Object.entries(batch.sources).map(([what, { commit, dirty }]): readonly [string, Child] => [
      `Source of ${shorten(plainText(what), 40)}`,
      commit === null ? (
        'not in a git work tree'
      ) : (
        <>
          <Id text={commit.slice(0, 12)} />
          {dirty && ', with uncommitted changes'}
        </>
      ),
    ]),
    ['Policy', environment.facts === undefined ? 'not kept' : environment.facts.policy === null ? 'none' : <Id text={environment.facts.policy.slice(0, 12)} />],
    [
      'World clocks',
      <Says
        text={provenance.clocks
          .slice(0, 20)
          .map(({ clock, timezone, cases }) => `${clock} ${timezone} (${cases})`)
          .join('; ')}
      />,
    ],
    ['Graders', provenance.graders.length === 0 ? 'nothing was graded' : <Name text={provenance.graders.join(', ')} />],
    ...(provenance.regraded > 0 ? [['Graded again', `${provenance.regraded} trials, by an edited case`] as const] : []),
    [
      'Worlds',
      `${summary.worlds.made} made, ${summary.worlds.released} released, ${summary.worlds.swept} swept, ${summary.worlds.leaked} leaked; each is compared with its generation before it is used, and one that differs is thrown away`,
    ],
    ['Late writes', `${late} refused after the fence`],
  ];
  return (
    <>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <DataTable
        caption="Agents and their models"
        head={['agent', 'version', 'kind', 'content', 'models', 'clients of its own']}
        sentences={[4]}
        rows={provenance.agents
          .slice(0, LISTED)
          .map((one) => [
            <Name text={one.name} />,
            <Name text={one.version} />,
            one.kind,
            <Id text={one.hash.slice(0, 12)} />,
            <Says
              text={one.routes
                .map(
                  (route) =>
                    `${route.model} by ${route.name} (${route.api})${route.seed === null ? '' : `, seed ${route.seed}`} ${JSON.stringify(route.parameters)}`,
                )
                .join('; ')}
              max={400}
            />,
            one.access.join(', '),
          ])}
      />
      {tools.length > 0 && (
        <DataTable
          caption="Tools, by the hash of what an agent is told of them"
          head={['tool', 'effect', 'schema']}
          rows={tools.slice(0, LISTED).map(({ name, effect, schema }) => [<Name text={name} />, effect, <Id text={schema.slice(0, 12)} />])}
        />
      )}
    </>
  );
}

/** Sums of what helps to understand and decides nothing. Null: there is nothing. */
export function diagnosticsBody({ provenance: { diagnostics } }: Pick<ReportData, 'provenance'>) {
  const names = [...new Set(diagnostics.flatMap(({ counts }) => Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [name] : []))))];
  if (names.length === 0) return null;
  return (
    <>
      <p class="says">Never part of a verdict.</p>
      <DataTable
        caption="Sums by agent"
        head={['agent', 'trials', ...names.map(words)]}
        numbers={[1, ...names.map((_, at) => at + 2)]}
        rows={diagnostics
          .slice(0, LISTED)
          .map(({ agent, trials, counts }) => [<Name text={agent} />, String(trials), ...names.map((name) => String(counts[name] ?? 0))])}
      />
    </>
  );
}

/** What the fixture proves, and what it does not. */
export function ProofsBody({ data: { proofs } }: { readonly data: Pick<ReportData, 'proofs'> }) {
  return (
    <>
      <h3>It proves</h3>
      <ul class="list">
        {[...proofs.shows, ...proofs.contracts].map((line) => (
          <li>
            <Says text={line} max={1_000} />
          </li>
        ))}
      </ul>
      <h3>It does not prove</h3>
      <ul class="list">
        {proofs.doesNotShow.map((line) => (
          <li>
            <Says text={line} max={1_000} />
          </li>
        ))}
      </ul>
      {proofs.services !== null && proofs.services.length > 0 && (
        <DataTable
          caption="Services"
          head={['service', 'is', 'keeps to', 'compared with the real one', 'cannot show']}
          sentences={[2, 4]}
          rows={proofs.services.map((one) => [
            <Name text={one.name} />,
            one.kind,
            <Says text={one.contract} />,
            one.checkedAt === null ? <span class="badge wait">never</span> : <Name text={one.checkedAt.slice(0, 10)} />,
            <Says text={one.cannotShow.join('; ')} />,
          ])}
        />
      )}
    </>
  );
}

/** `lateAttempts` as `late attempts`. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
