import type { Context, Hono } from 'hono';
import type { Labelling } from '../../client/api.ts';
import { may, actorOf } from './access.ts';
import type { Desk, DeskApp } from './desk.ts';
import { LabelDonePage, LabelItemPage, LabelsPage } from './pages/labels.tsx';
import { ProblemPage } from './pages/plain.tsx';
import { contextOf, missing } from './reading.tsx';
import { page } from './respond.ts';

/** Batches of which the first page says how far somebody is. */
const MOST_BATCHES = 50;

/** The pages on which people label trials. They show nothing but what the rubric shows. */
export function labelRoutes(app: Hono<DeskApp>, desk: Desk): void {
  const { labels } = desk.backend;
  const PLACE = '/console/labels/:batch/:rubric';

  app.use('/console/labels/*', (c, next) => (may(c.get('visitor'), 'labeller') ? next() : forbidden(c, desk)));
  app.get('/console/labels', async (c) => {
    if (!may(c.get('visitor'), 'labeller')) return forbidden(c, desk);
    const rater = labels.raterOf(c.get('visitor').holder);
    const [context, tasks] = await Promise.all([contextOf(c, desk), labels.tasks(rater, MOST_BATCHES)]);
    return page(c, LabelsPage({ context, rater, tasks }));
  });

  app.get(PLACE, async (c) => {
    const labelling = await opened(c, desk);
    if (labelling === null) return missing(c, desk, NOTHING);
    const { items } = labelling;
    const asked = c.req.query('item');
    const at = asked === undefined ? openAfter(labelling, c.req.query('after')) : items.findIndex(({ item }) => item === asked);
    const context = await contextOf(c, desk);
    const item = items[at];
    if (item === undefined) return asked === undefined ? page(c, LabelDonePage({ context, labelling })) : missing(c, desk, OTHER_TEXT);
    const material = await labelling.material(item.item);
    return page(c, LabelItemPage({ context, labelling, item, before: items[at - 1]?.item ?? null, material }));
  });

  app.post(`${PLACE}/:item`, async (c) => {
    const labelling = await opened(c, desk);
    if (labelling === null) return missing(c, desk, NOTHING);
    const item = c.req.param('item');
    const { category, note } = c.get('form');
    const visitor = c.get('visitor');
    const place = placeOf(labelling);
    try {
      const given = typeof note === 'string' ? note.replaceAll('\r\n', '\n').trim() : '';
      await labelling.label(item, { category: typeof category === 'string' ? category : '', note: given === '' ? null : given });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'label_refused')) throw error;
      await desk.backend.store.audit(
        { ...actorOf(visitor), action: 'label', target: labelling.batch, detail: null },
        { outcome: 'refused', problem: 'it is no label of this rubric' },
      );
      desk.tell(visitor, { kind: 'refused', text: `Nothing was stored: ${error.message}.` });
      const known = labelling.items.some((one) => one.item === item);
      return c.redirect(known ? `${place}?item=${encodeURIComponent(item)}` : place, 303);
    }
    desk.tell(visitor, { kind: 'done', text: 'Stored.' });
    return c.redirect(`${place}?after=${encodeURIComponent(item)}`, 303);
  });
}

const NOTHING = 'There is no such batch, or its suite has no rubric of this name that can be used now; `trialbed label` tells which.';
const OTHER_TEXT = 'There is nothing of this name to label: the rubric has another text by now, or this page is of somebody else.';

function placeOf({ batch, stored }: Labelling): string {
  return `/console/labels/${encodeURIComponent(batch)}/${encodeURIComponent(stored.rubric.name)}`;
}

/** Null: no such batch or rubric. */
async function opened(c: Context<DeskApp>, { backend }: Desk): Promise<Labelling | null> {
  const { batch = '', rubric = '' } = c.req.param() as { readonly batch?: string; readonly rubric?: string };
  const rater = backend.labels.raterOf(c.get('visitor').holder);
  return backend.labels.open({ batch, rubric, rater });
}

/** Place of the first one without a label behind another one; of all where none is named. */
function openAfter({ items }: Labelling, after: string | undefined): number {
  const start = after === undefined ? 0 : items.findIndex(({ item }) => item === after) + 1;
  return items.findIndex(({ label }, at) => at >= start && label === null);
}

async function forbidden(c: Context<DeskApp>, desk: Desk): Promise<Response> {
  const visitor = c.get('visitor');
  await desk.backend.store.audit(
    { ...actorOf(visitor), action: 'label', target: c.req.path.slice(0, 200), detail: null },
    { outcome: 'refused', problem: 'it takes the role labeller' },
  );
  const text = `To label takes the role labeller, and your token has ${visitor.roles.join(' and ')}. Nothing was done.`;
  return page(c, ProblemPage({ context: await contextOf(c, desk), title: 'Not permitted', text }), 403);
}
