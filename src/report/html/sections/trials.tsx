import type { Child } from 'hono/jsx';
import type { ShownTrial } from '../trial-rows.ts';
import { wallText } from '../trial-rows.ts';
import { Badge, RESULTS, RESULT_WORDS } from '../words.tsx';

/** All trials: a bounded table, which the page's script makes one of all of them, to filter and to sort. */
export function TrialsBody({ trials }: { readonly trials: readonly ShownTrial[] }) {
  const shown = trials.slice(0, WITHOUT_SCRIPT);
  const results = RESULTS.filter((result) => trials.some((one) => one.result === result));
  return (
    <>
      <search class="filters" aria-label="Filter the trials" hidden>
        <label class="text">
          Text
          <input type="search" name="text" maxlength={200} placeholder="in ids, names and reasons" />
        </label>
        <label>
          Result
          <select name="result">
            <option value="">all</option>
            <option value="!pass">not passed</option>
            {results.map((result) => (
              <option value={result}>{RESULT_WORDS[result]}</option>
            ))}
          </select>
        </label>
        <Choice name="case" title="Case" trials={trials} />
        <Choice name="agent" title="Agent" trials={trials} />
        <Choice name="schedule" title="Faults" trials={trials} />
        <Choice name="category" title="Category" trials={trials} />
        <Choice name="severity" title="Severity" trials={trials} />
        <Choice name="tags" title="Tag" trials={trials} />
        <button type="button" id="clear">
          Clear
        </button>
      </search>
      <div class="count" id="count" hidden>
        <span role="status" id="counted" />
        <button type="button" id="before">
          Before
        </button>
        <button type="button" id="next">
          Next
        </button>
      </div>
      <section class="scroll" aria-label="Trials" tabindex={0}>
        <table id="trial-table">
          <caption id="trial-caption">
            {trials.length > shown.length
              ? `The first ${shown.length} of ${trials.length.toLocaleString('en-US')} trials, what did not pass first`
              : 'What did not pass first'}
          </caption>
          <thead>
            <tr>
              {COLUMNS.map(({ member, title, number }) => (
                <th scope="col" data-sort={member} {...(number && { class: 'number' })}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody id="trial-rows">
            {shown.map((one) => (
              <tr>
                {COLUMNS.map(({ number, cell }, at) =>
                  at === 0 ? <th scope="row">{cell(one)}</th> : <td {...(number ? { class: 'number' } : {})}>{cell(one)}</td>,
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <noscript>
        <p class="dim">With scripts allowed this table has all trials, and can be filtered and sorted; trials.csv has them too.</p>
      </noscript>
    </>
  );
}

/** Rows of the table where no script runs. */
const WITHOUT_SCRIPT = 100;
/** More choices than a person looks through; the text finds the others. */
const CHOICES = 400;

interface Column {
  readonly member: keyof ShownTrial;
  readonly title: string;
  readonly number: boolean;
  readonly cell: (one: ShownTrial) => Child;
}

/** The script makes rows of the same columns. */
const COLUMNS: readonly Column[] = [
  { member: 'ordinal', title: 'trial', number: false, cell: ({ ordinal }) => String(ordinal) },
  { member: 'result', title: 'result', number: false, cell: ({ result }) => <Badge result={result} /> },
  { member: 'case', title: 'case', number: false, cell: (one) => <span class="safe">{one.case}</span> },
  { member: 'schedule', title: 'faults', number: false, cell: ({ schedule }) => <span class="safe">{schedule}</span> },
  { member: 'agent', title: 'agent', number: false, cell: ({ agent }) => <span class="safe">{agent}</span> },
  { member: 'repetition', title: 'rep.', number: true, cell: ({ repetition }) => String(repetition) },
  { member: 'category', title: 'category', number: false, cell: ({ category }) => category.replaceAll('_', ' ') },
  { member: 'forbidden', title: 'forbidden', number: true, cell: ({ forbidden }) => String(forbidden) },
  { member: 'unknowns', title: 'unknown', number: true, cell: ({ unknowns }) => String(unknowns) },
  { member: 'calls', title: 'calls', number: true, cell: ({ calls }) => String(calls) },
  { member: 'wallMs', title: 'time', number: true, cell: ({ wallMs }) => wallText(wallMs) },
];

function Choice({
  name,
  title,
  trials,
}: {
  readonly name: 'case' | 'agent' | 'schedule' | 'category' | 'severity' | 'tags';
  readonly title: string;
  readonly trials: readonly ShownTrial[];
}) {
  const values = [...new Set(trials.flatMap((one) => (name === 'tags' ? one.tags.split(' ') : [one[name]])))].filter((value) => value !== '').sort();
  if (values.length < 2) return null;
  return (
    <label>
      {title}
      <select name={name}>
        <option value="">all</option>
        {values.slice(0, CHOICES).map((value) => (
          <option value={value}>{name === 'category' ? value.replaceAll('_', ' ') : value}</option>
        ))}
      </select>
    </label>
  );
}
