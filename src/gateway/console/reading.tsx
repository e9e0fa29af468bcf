import type { Context, Hono } from 'hono';
import type { Ending } from '../../domain/verdict.ts';
import type { BatchRow } from '../../store/store.ts';
import type { TrialFilter, TrialStanding } from '../../store/trial-pages.ts';
import type { ConsoleBackend } from './backend.ts';
import { ticketsOf } from '../../report/tickets.ts';
import type { Desk, DeskApp } from './desk.ts';
import { ApprovalPage, ApprovalsPage } from './pages/approvals.tsx';
import { AuditPage, ENTRIES_A_PAGE } from './pages/audit.tsx';
import { BatchPage, TRIALS_A_PAGE } from './pages/batch.tsx';
import { BatchesPage } from './pages/batches.tsx';
import { ProblemPage } from './pages/plain.tsx';
import { TrialPage } from './pages/trial.tsx';
import { page } from './respond.ts';
import { liveStory, recordedStory, type Story } from './story.ts';

/** Batches and running trials on the first page. */
const MOST_BATCHES = 50;
const MOST_RUNNING = 50;

/** The pages that only show. */
export function readRoutes(app: Hono<DeskApp>, desk: Desk): void {
  const { bed, store, temporalLink } = desk.backend;

  app.get('/console/batches', async (c) => {
    const [context, batches, running] = await Promise.all([contextOf(c, desk), bed.batches({ limit: MOST_BATCHES }), bed.running({ limit: MOST_RUNNING })]);
    const outcomes = await bed.outcomes(batches.map(({ id }) => id));
    return page(c, BatchesPage({ context, batches, outcomes, running }));
  });

  app.get('/console/batches/:id', async (c) => {
    const batch = await batchNamed(desk.backend, c.req.param('id'));
    if (batch === null) return missing(c, desk, `There is no batch ${c.req.param('id')}.`);
    const filter = filterOf(c);
    const at = Math.min(numberOf(c.req.query('page'), 1), 10_000);
    const offset = (at - 1) * TRIALS_A_PAGE;
    const [context, census, trials] = await Promise.all([
      contextOf(c, desk),
      store.census(batch.id),
      store.trialPage(batch.id, filter, { offset, limit: TRIALS_A_PAGE }),
    ]);
    return page(c, BatchPage({ context, batch, census, filter, trials, page: at, temporal: temporalLink(`batch-${batch.id}`) }));
  });

  app.get('/console/trials/:id', async (c) => {
    const view = await bed.show(c.req.param('id')).catch(nobody);
    if (view === null) return missing(c, desk, `There is no trial ${c.req.param('id')}.`);
    const { trial } = view;
    const attempt = numberOf(c.req.query('attempt'), trial.attempt);
    const from = numberOf(c.req.query('from'), 0);
    const shown = attempt === trial.attempt ? view : await earlier(desk.backend, view, attempt);
    const [context, story, tables, asked] = await Promise.all([
      contextOf(c, desk),
      storyOf(desk.backend, shown, attempt),
      desk.backend.ticketTables(trial.batch),
      desk.asked(),
    ]);
    const waiting = asked.filter((one) => one.trial === trial.id);
    const why = trial.phase === 'done' ? null : await desk.backend.why(trial.id);
    const tickets = story && tables ? ticketsOf(story, tables) : [];
    return page(c, TrialPage({ context, view: shown, attempt, story, tickets, asked: waiting, why, from, temporal: temporalLink(trial.id) }));
  });

  app.get('/console/approvals', async (c) => page(c, ApprovalsPage({ context: await contextOf(c, desk), asked: await desk.asked(), now: desk.now() })));

  app.get('/console/approvals/:id', async (c) => {
    const asked = await store.askedApproval(c.req.param('id')).catch(nobody);
    if (asked === null) return missing(c, desk, `There is no request ${c.req.param('id')}.`);
    return page(c, ApprovalPage({ context: await contextOf(c, desk), asked, now: desk.now() }));
  });

  app.get('/console/approvals/:id/arguments', async (c) => {
    const asked = await store.askedApproval(c.req.param('id')).catch(nobody);
    if (asked === null) return missing(c, desk, `There is no request ${c.req.param('id')}.`);
    // As a file of its own: a browser shows none of it as a page.
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-disposition': 'attachment; filename="arguments.json"' };
    return c.body(printableJson(asked.approval.args), 200, headers);
  });

  app.get('/console/audit', async (c) => {
    const target = c.req.query('target')?.slice(0, 300) ?? null;
    const before = numberOf(c.req.query('before'), 0);
    const entries = await store.audited({ limit: ENTRIES_A_PAGE, ...(target !== null && { target }), ...(before > 0 && { before }) });
    return page(c, AuditPage({ context: await contextOf(c, desk), entries, target }));
  });
}

/** What a page is made for. */
export function contextOf(c: Context<DeskApp>, desk: Desk) {
  return desk.context(c.get('visitor'), c.req.header('x-refresh') !== undefined);
}

/** Nothing has this name. */
export async function missing(c: Context<DeskApp>, desk: Desk, text: string) {
  return page(c, ProblemPage({ context: await contextOf(c, desk), title: 'Not found', text }), 404);
}

/** A batch as it is, and not only as it is stored: interrupted where nobody drives it. */
async function batchNamed({ store, asItIs }: ConsoleBackend, id: string): Promise<BatchRow | null> {
  const batch = await store.batch(id);
  return batch && (await asItIs(batch));
}

async function storyOf(backend: ConsoleBackend, { trial, record }: Parameters<typeof earlier>[1], attempt: number): Promise<Story | null> {
  if (record) return recordedStory(record);
  const world = attempt === 0 ? null : await backend.world({ trial: trial.id, attempt });
  return world && liveStory(world);
}

/** The trial as an attempt before the one that counts left it. */
async function earlier({ store }: ConsoleBackend, view: Awaited<ReturnType<ConsoleBackend['bed']['show']>>, attempt: number) {
  const { id } = view.trial;
  const [record, messages, modelCalls] = await Promise.all([store.record(id, attempt), store.messages(id, attempt), store.modelCalls(id, attempt)]);
  return { ...view, record, messages, modelCalls };
}

function filterOf(c: Context): TrialFilter {
  const { standing, ending, reason, q } = c.req.query();
  return {
    ...(STANDINGS.has(standing ?? '') && { standing: standing as TrialStanding }),
    ...(ENDINGS.has(ending ?? '') && { ending: ending as Ending }),
    ...(/^[0-9a-f]{32}$/.test(reason ?? '') && { reason }),
    ...(q !== undefined && q !== '' && { text: q.slice(0, 100) }),
  } as TrialFilter;
}

const STANDINGS: ReadonlySet<string> = new Set<TrialStanding>(['open', 'pass', 'fail', 'undetermined', 'infra_error', 'user_error', 'cancelled']);
const ENDINGS: ReadonlySet<string> = new Set<Ending>([
  'completed',
  'agent_timeout',
  'budget_exhausted',
  'agent_error',
  'user_error',
  'cassette_miss',
  'cancelled',
  'infra_error',
]);

function numberOf(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : otherwise;
}

/** Where nothing has this name, or several begin with it; anything else is a failure. */
function nobody(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'not_found' || error.code === 'store_conflict')) return null;
  throw error;
}

/** Exactly what it is, with what a terminal or an editor would obey as escapes of JSON. */
function printableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.replace(/[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu, (one) => [...one].map((part) => escaped(part)).join(''));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}
