import type { Context, Hono } from 'hono';
import { actorOf, may, type Visitor } from './access.ts';
import type { ConsoleActs } from './backend.ts';
import type { Desk, DeskApp } from './desk.ts';
import { MAX_CONCURRENCY } from '../../domain/trial.ts';
import type { ConsoleRole } from '../../store/console-keys.ts';
import { ConfirmPage, ProblemPage } from './pages/plain.tsx';
import { contextOf } from './reading.tsx';
import { page } from './respond.ts';

/** How long a page waits for what was asked; it goes on by itself after that. */
const PATIENCE_MS = 10_000;
const MAX_REASON = 500;

/** Requests that change something, each a form of its own; what ends something is asked twice. */
export function actRoutes(app: Hono<DeskApp>, desk: Desk): void {
  for (const action of ['pause', 'resume', 'cancel'] as const) {
    app.post(`/console/batches/:id/${action}`, (c) => {
      const id = c.req.param('id');
      const request: Request = { role: 'operator', action, target: id, back: `/console/batches/${encodeURIComponent(id)}` };
      return act(c, desk, request, async (acts) => {
        await acts[action](id);
        return BATCH_DONE[action];
      });
    });
  }
  app.post('/console/batches/:id/concurrency', async (c) => {
    const id = c.req.param('id');
    const request: Request = { role: 'operator', action: 'concurrency', target: id, back: `/console/batches/${encodeURIComponent(id)}` };
    if (!may(c.get('visitor'), 'operator')) return forbidden(c, desk, request);
    const wanted = concurrencyOf(c.get('form')['concurrency']);
    if (wanted === null) return invalid(c, desk, request, `Trials in flight have to be a whole number from 1 to ${MAX_CONCURRENCY.toLocaleString('en-US')}.`);
    return act(c, desk, request, async (acts) => {
      const { concurrency, inFlight } = await acts.setConcurrency(id, wanted);
      const more = inFlight !== null && inFlight > concurrency ? ` ${inFlight} are now: none of them is stopped.` : '';
      return `From now on at most ${concurrency} ${concurrency === 1 ? 'trial is' : 'trials are'} in flight.${more}`;
    });
  });
  app.get('/console/batches/:id/cancel', async (c) => {
    const back = `/console/batches/${encodeURIComponent(c.req.param('id'))}`;
    const context = await contextOf(c, desk);
    const title = `Cancel batch ${c.req.param('id')}?`;
    return page(
      c,
      ConfirmPage({
        ...{ context, title, action: `${back}/cancel`, button: 'Cancel the batch', back, danger: true },
        children: 'Nothing more of it is launched, its trials in flight end as cancelled, and it is never taken up again.',
      }),
    );
  });

  app.post('/console/trials/:id/cancel', (c) => {
    const id = c.req.param('id');
    return act(c, desk, { role: 'operator', action: 'cancel', target: id, back: trialHref(id) }, async (acts) => {
      await acts.cancel(id);
      return 'The trial has ended.';
    });
  });
  app.post('/console/trials/:id/requeue', (c) => {
    const id = c.req.param('id');
    const force = c.get('form')['force'] === 'yes';
    return act(c, desk, { role: 'operator', action: 'requeue', target: id, back: trialHref(id) }, async (acts) => {
      const receipt = await acts.requeue(id, { force });
      if (receipt.already) return 'It is in the queue already: nothing was changed.';
      return `It is in the queue of batch ${receipt.batch} again.${receipt.state === 'running' ? '' : ' Nobody works on the batch: resume it, or run its command again.'}`;
    });
  });
  app.get('/console/trials/:id/cancel', async (c) => {
    const id = c.req.param('id');
    const context = await contextOf(c, desk);
    return page(
      c,
      ConfirmPage({
        ...{ context, title: `Cancel trial ${id}?`, action: `${trialHref(id)}/cancel`, button: 'Cancel the trial', back: trialHref(id), danger: true },
        children: 'Its attempt ends as cancelled and its world is given back. The batch goes on.',
      }),
    );
  });
  app.get('/console/trials/:id/requeue', async (c) => {
    const id = c.req.param('id');
    const context = await contextOf(c, desk);
    const runs = (await desk.backend.bed.show(id)).trial.phase !== 'done';
    return page(
      c,
      ConfirmPage({
        ...{ context, title: `Run trial ${id} once more?`, action: `${trialHref(id)}/requeue`, button: 'Run once more', back: trialHref(id), danger: runs },
        children: runs
          ? 'It runs now: its attempt ends as cancelled first, and another one follows in a new world.'
          : 'Another attempt follows in a new world. Earlier attempts are kept, and the newest one that has begun counts.',
        fields: runs ? { force: 'yes' } : {},
      }),
    );
  });

  app.post('/console/approvals/:id', async (c) => {
    const id = c.req.param('id');
    const { decision, reason, digest } = c.get('form');
    const visitor = c.get('visitor');
    const back = `/console/approvals/${encodeURIComponent(id)}`;
    const why = typeof reason === 'string' ? reason.trim() : '';
    const action = decision === 'approve' ? 'approve' : 'deny';
    const request: Request = { role: 'approver', action, target: id, back };
    if (!may(visitor, 'approver')) return forbidden(c, desk, request);
    const problem = invalidity(decision, why) ?? ((await desk.backend.store.askedApproval(id))?.approval.digest === digest ? null : OTHER);
    if (problem !== null) return invalid(c, desk, request, problem);
    return act(c, desk, request, async (acts) => {
      const receipt = await acts.decide(id, { approved: action === 'approve', by: visitor.holder, ...(why !== '' && { reason: why }) });
      const became = receipt.told === null ? 'is under way' : `is ${receipt.told.state.replaceAll('_', ' ')}`;
      return `${action === 'approve' ? 'Approved' : 'Denied'}: ${receipt.operation} ${became}.`;
    });
  });
}

/** What somebody asks for, and where they go on reading. */
interface Request {
  readonly role: Exclude<ConsoleRole, 'viewer' | 'labeller'>;
  readonly action: string;
  readonly target: string;
  readonly back: string;
}

/** Does it, or says why not, on the page where it was asked. */
async function act(c: Context<DeskApp>, desk: Desk, request: Request, work: (acts: ConsoleActs) => Promise<string>): Promise<Response> {
  const visitor = c.get('visitor');
  if (!may(visitor, request.role)) return forbidden(c, desk, request);
  const under = Symbol('under way');
  const asked = work(desk.backend.acts(actorOf(visitor)));
  let timer: NodeJS.Timeout | undefined;
  try {
    const end = await Promise.race([
      asked,
      new Promise<typeof under>((resolve) => {
        timer = setTimeout(() => resolve(under), PATIENCE_MS);
      }),
    ]);
    // It goes on; the audit log tells how it ended.
    if (end === under) asked.catch(() => undefined);
    desk.tell(visitor, { kind: 'done', text: end === under ? 'It was asked for and takes its time; the audit log tells how it ended.' : (end as string) });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error;
    desk.tell(visitor, { kind: 'refused', text: error.message });
  } finally {
    clearTimeout(timer);
  }
  return c.redirect(request.back, 303);
}

/** Somebody without the role; the audit log has it. */
async function forbidden(c: Context<DeskApp>, desk: Desk, request: Request): Promise<Response> {
  const visitor = c.get('visitor');
  const text = `To ${request.action} takes the role ${request.role}, and your token has ${visitor.roles.join(' and ')}. Nothing was done.`;
  await refuse(desk, visitor, request, `it takes the role ${request.role}`);
  return page(c, ProblemPage({ context: await contextOf(c, desk), title: 'Not permitted', text }), 403);
}

/** A form that says what cannot be done; the audit log has it. */
async function invalid(c: Context<DeskApp>, desk: Desk, request: Request, problem: string): Promise<Response> {
  const visitor = c.get('visitor');
  await refuse(desk, visitor, request, problem);
  desk.tell(visitor, { kind: 'refused', text: problem });
  return c.redirect(request.back, 303);
}

async function refuse(desk: Desk, visitor: Visitor, { action, target }: Request, problem: string): Promise<void> {
  await desk.backend.store.audit({ ...actorOf(visitor), action, target, detail: null }, { outcome: 'refused', problem });
}

function concurrencyOf(given: unknown): number | null {
  const number = typeof given === 'string' && /^\d{1,6}$/.test(given.trim()) ? Number(given) : 0;
  return number >= 1 && number <= MAX_CONCURRENCY ? number : null;
}

function invalidity(decision: unknown, reason: string): string | null {
  if (decision !== 'approve' && decision !== 'deny') return 'The form says neither approve nor deny.';
  if (reason.length > MAX_REASON) return `A reason has at most ${MAX_REASON} characters.`;
  return decision === 'deny' && reason === '' ? 'Whoever denies has to give a reason: the agent is told it.' : null;
}

const OTHER = 'The request is not what the page showed. Read it again.';

const BATCH_DONE: { readonly [action in 'pause' | 'resume' | 'cancel']: string } = {
  pause: 'The batch launches nothing more until it is resumed. Trials in flight go on.',
  resume: 'The batch goes on.',
  cancel: 'The batch is cancelled.',
};

function trialHref(id: string): string {
  return `/console/trials/${encodeURIComponent(id)}`;
}
