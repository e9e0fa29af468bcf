import type { LabelAgreement, RaterPair } from '../../../judges/rater-agreement.ts';
import type { ReportData } from '../../data.ts';
import { pairText, ratersText } from '../../raters/agreement-markdown.ts';
import { DataTable } from '../table.tsx';
import { Name, Says } from '../words.tsx';

/** Tables of one rubric. */
const MOST_TABLES = 10;

/** How judges and people agree, by each text of a rubric. Null: nobody labelled. */
export function ratersBody({ raters }: Pick<ReportData, 'raters'>) {
  if (raters.length === 0) return null;
  return (
    <>
      <p class="note">
        Kappa is 1 where raters always agree, and 0 where they agree as often as by chance. What people said of each trial is the category that most of them
        gave.
      </p>
      {raters.map((agreement) => RubricAgreement({ agreement }))}
    </>
  );
}

function RubricAgreement({ agreement }: { readonly agreement: LabelAgreement }) {
  const { rubric, version, pairs, judges } = agreement;
  return (
    <>
      <h3>
        <Name text={`${rubric} ${version}`} max={120} />
      </h3>
      <p>
        <Says text={ratersText(agreement)} max={400} />
      </p>
      {pairs.length > 0 && (
        <DataTable
          caption={`Agreement by ${rubric} ${version}`}
          head={['raters', 'trials of both', 'agree', 'what can be said']}
          numbers={[1, 2]}
          sentences={[3]}
          rows={pairs.map((pair) => [
            <Name text={pairText(pair, judges)} max={300} />,
            String(pair.both),
            pair.kappa === null ? '' : `${(pair.kappa.observed * 100).toFixed(1)}%`,
            <Says text={pair.says} max={300} />,
          ])}
        />
      )}
      {pairs
        .filter(({ both }) => both > 0)
        .slice(0, MOST_TABLES)
        .map((pair) => Confusion({ pair, agreement }))}
    </>
  );
}

function Confusion({ pair, agreement: { scale, judges } }: { readonly pair: RaterPair; readonly agreement: LabelAgreement }) {
  return (
    <DataTable
      caption={`${pairText(pair, judges)}: rows by the first, columns by the second`}
      head={['', ...scale]}
      numbers={scale.map((_, at) => at + 1)}
      rows={pair.table.map((counts, at) => [<Name text={scale[at] ?? ''} />, ...counts.map(String)])}
    />
  );
}
