import type { LabelItem, Labelling } from '../../../client/api.ts';
import { categoryKeys } from '../../../judges/label-keys.ts';
import type { LabelTask } from '../../../store/label-tasks.ts';
import { Foreign, Time } from '../../../report/html/text.tsx';
import { FormToken, Page, type PageContext } from './layout.tsx';
import { MaterialView } from './material.tsx';
import { Table } from './table.tsx';

/** What somebody can label, and how far they are. */
export function LabelsPage({ context, rater, tasks }: { readonly context: PageContext; readonly rater: string; readonly tasks: readonly LabelTask[] }) {
  return (
    <Page context={context} title="Label" section="labels">
      <h1>Label trials</h1>
      <p>
        You label as <strong>{<Foreign text={rater} max={100} />}</strong>: blind, and in an order of your own. Each label is stored at once.
      </p>
      {tasks.length === 0 ? (
        <p class="empty">
          There is nothing to label: a batch can be labelled by the rubrics of its suite, once <code>trialbed label</code> or <code>trialbed judge</code> has
          read them.
        </p>
      ) : (
        <Table
          caption="What can be labelled"
          head={['Rubric', 'Batch', 'Suite', 'Started', 'Labelled by you']}
          rows={tasks.map(({ batch, suite, createdAt, rubric, version, trials, labelled }) => [
            <a href={`/console/labels/${encodeURIComponent(batch)}/${encodeURIComponent(rubric)}`}>
              <Foreign text={rubric} max={80} /> <span class="dim">{<Foreign text={version} max={40} />}</span>
            </a>,
            <span class="id">{batch}</span>,
            <Foreign text={suite} max={80} />,
            <Time at={createdAt} />,
            `${labelled} of ${trials}`,
          ])}
        />
      )}
    </Page>
  );
}

/** One trial to label, with nothing on the page that says which. */
export function LabelItemPage(props: {
  readonly context: PageContext;
  readonly labelling: Labelling;
  readonly item: LabelItem;
  /** The one before it in the order; null: it is the first. */
  readonly before: string | null;
  readonly material: Awaited<ReturnType<Labelling['material']>>;
}) {
  const { context, labelling, item, before, material } = props;
  const { rubric } = labelling.stored;
  const place = placeOf(labelling);
  const keys = categoryKeys(rubric.scale.map(({ category }) => category));
  return (
    <Page context={context} title={`Label by ${rubric.name}`} section="labels" script="label.js">
      <Crumbs />
      <h1>
        <Foreign text={rubric.question} max={4_000} />
      </h1>
      <Progress labelling={labelling} />
      <MaterialView material={material} />
      <form method="post" action={`${place}/${item.item}`} class="label" id="label" data-form="label">
        <FormToken visitor={context.visitor} />
        <fieldset>
          <legend>Category</legend>
          {rubric.scale.map(({ category, means }, at) => (
            <div class="category">
              <button type="submit" name="category" value={category} data-key={keys[at]?.key ?? ''} aria-pressed={item.label?.category === category}>
                {keys[at]?.key != null && <kbd>{keys[at]?.key}</kbd>} <Foreign text={category} max={60} />
              </button>
              <p class="dim">
                <Foreign text={means} max={1_000} />
              </p>
            </div>
          ))}
        </fieldset>
        <label for="note">Note, stored with the category</label>
        <textarea id="note" name="note" rows={2} maxlength={2_000}>
          {item.label?.note ?? ''}
        </textarea>
        <div class="acts">
          {before !== null && (
            <a class="button quiet" href={`${place}?item=${before}`} data-key="b">
              <kbd>b</kbd> Back
            </a>
          )}
          <a class="button quiet" href={`${place}?after=${item.item}`} data-key="s">
            <kbd>s</kbd> Skip
          </a>
          <a class="button quiet" href="/console/labels" data-key="q">
            <kbd>q</kbd> Stop
          </a>
        </div>
        <p class="dim" id="keys" hidden>
          Keys: one for each category, <kbd>n</kbd> for the note, <kbd>Esc</kbd> leaves the note.
        </p>
      </form>
    </Page>
  );
}

/** Nothing is left behind the one that was last. */
export function LabelDonePage({ context, labelling }: { readonly context: PageContext; readonly labelling: Labelling }) {
  const left = labelling.items.filter(({ label }) => label === null).length;
  const last = labelling.items.at(-1);
  const { rubric } = labelling.stored;
  return (
    <Page context={context} title={`Label by ${rubric.name}`} section="labels">
      <Crumbs />
      <h1>{left === 0 ? 'All is labelled' : 'The end of your order'}</h1>
      <Progress labelling={labelling} />
      <div class="acts">
        {left > 0 && (
          <a class="button" href={placeOf(labelling)}>
            Begin again with what you skipped
          </a>
        )}
        {last !== undefined && (
          <a class="button quiet" href={`${placeOf(labelling)}?item=${last.item}`}>
            Back to the last one
          </a>
        )}
        <a class="button quiet" href="/console/labels">
          What else there is
        </a>
      </div>
    </Page>
  );
}

function Crumbs() {
  return (
    <p class="crumbs">
      <a href="/console/labels">Label</a>
    </p>
  );
}

function Progress({ labelling: { items, stored } }: { readonly labelling: Labelling }) {
  const done = items.filter(({ label }) => label !== null).length;
  return (
    <p class="progress-line">
      {done} of {items.length} labelled by rubric <Foreign text={stored.rubric.name} max={80} />, version <Foreign text={stored.rubric.version} max={40} />{' '}
      <progress max={Math.max(1, items.length)} value={done} aria-label="Labelled" />
    </p>
  );
}

function placeOf({ batch, stored }: Labelling): string {
  return `/console/labels/${encodeURIComponent(batch)}/${encodeURIComponent(stored.rubric.name)}`;
}
