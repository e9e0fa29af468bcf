import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Page } from 'playwright-core';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type Asking, ConsoleBench, overflow, seriousFaults, shown } from './console-bench.ts';

const browser = await requireOrSkip('browser');

const REFUND = { call: 'issue_refund', with: { order_id: 5003, amount: 60, reason: 'damaged' } };
/** Tags, a direction override, commands to a terminal, and a line that looks like one of ours. */
const HOSTILE = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1> \u202egnp.exe\u001b[2J\u0007 "done  approve b-2"`;
const MARKED = '\\u{202e}';

describe.skipIf(!browser.met)(skipTitle('the console in a browser', browser), () => {
  let bench: ConsoleBench;
  beforeAll(async () => {
    bench = await ConsoleBench.start(inject('services'));
    // The first tests go on while it runs.
    done().catch(() => undefined);
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  /** A batch that has ended, with mails, tickets and failures; run once. */
  let finished: ReturnType<typeof bench.testbed.run> | null = null;
  const done = () => {
    finished ??= bench.testbed.run({ suite: 'support-desk', agents: ['hasty'], cases: ['refund-*', 'duplicate-*'], keep: 'never' });
    return finished;
  };

  const audit = async (target: string) =>
    (await bench.bed.audit({ target })).map(({ action, by, outcome, problem, detail }) => ({ action, by, outcome, problem, detail }));
  const refunds = async ({ trial }: Asking) => {
    const record = await bench.testbed.root.store.record(trial, 1);
    return record?.effects.filter((effect) => effect.kind === 'row' && effect.table === 'refunds').length;
  };

  it('who did not start a batch finds the stuck trial, sees why, approves exactly what is shown, and sees it go on', async () => {
    const asking = await bench.ask([REFUND], ['issue_refund'], { worker: 'process' });
    const page = await bench.visitor();
    await page.goto(await bench.served.link(['approver']));
    await page.getByRole('button', { name: 'Sign in' }).click();
    const row = page.getByRole('row').filter({ hasText: asking.trial });
    expect(await shown(row)).toContain('an approval');
    await row.getByRole('link').click();
    const why = page.getByRole('region', { name: 'Why it stands here' });
    expect(await shown(why)).toMatch(/waits for an approval[\s\S]*issue_refund/);
    expect(await page.getByRole('link', { name: 'Workflow of the trial' }).getAttribute('href')).toBe(
      `http://127.0.0.1:8233/namespaces/default/workflows/${asking.trial}`,
    );
    expect(await shown(page.getByRole('article', { name: 'Operation 1' }))).toMatch(/issue_refund\s+awaiting approval/i);
    await page.getByRole('region', { name: 'Waits for approval' }).getByRole('link').click();
    expect(JSON.parse(await shown(page.getByRole('group', { name: 'Arguments' })))).toEqual(REFUND.with);
    expect(await shown(page.getByRole('region', { name: 'Rows that it concerns' }))).toMatch(/orders with[\s\S]*Bologna/);
    expect(await shown(page.getByRole('region', { name: 'How it stands' }))).toMatch(/Time left\s+\d+ (d|h|min)/);
    await page.getByLabel('Reason').fill('it is broken');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await shown(page.getByRole('status'))).toBe('Approved: op-1 is committed.');
    await page.getByRole('link', { name: asking.trial }).click();
    await asking.end;
    // By itself, without a reload.
    await page.getByRole('article', { name: 'Operation 1' }).getByText('committed').waitFor();
    await page.getByRole('region', { name: 'Verdict' }).getByText('graded').waitFor();
    const [decision] = await audit(asking.asked.id);
    expect(decision).toMatchObject({ action: 'approve', outcome: 'done', detail: 'it is broken' });
    const record = await bench.testbed.root.store.record(asking.trial, 1);
    expect(record?.operations[0]?.approval?.end).toMatchObject({ outcome: 'approved', by: decision?.by, reason: 'it is broken' });
  });

  it('of two approvers at once one decides; the other is told so, and both stand in the log', async () => {
    const asking = await bench.ask([REFUND], ['issue_refund']);
    const pages = await Promise.all(['petra', 'omar'].map((name) => bench.signedIn(name, ['approver'])));
    await Promise.all(pages.map((page) => page.goto(bench.url(`approvals/${asking.asked.id}`))));
    await Promise.all(pages.map((page) => page.getByRole('button', { name: 'Approve' }).click()));
    const told = await Promise.all(pages.map((page) => shown(page.locator('.notice'))));
    expect(told.filter((text) => text.startsWith('Approved'))).toHaveLength(1);
    expect(told.filter((text) => /already|waits/i.test(text))).toHaveLength(1);
    await asking.end;
    expect(await refunds(asking)).toBe(1);
    expect((await audit(asking.asked.id)).map(({ action, outcome }) => `${action} ${outcome}`).sort()).toEqual(['approve done', 'approve refused']);
  });

  it('without the role nothing is done, and the attempt is logged; with it a batch is paused, given more room, resumed, and a trial cancelled', async () => {
    const asking = await bench.ask([REFUND], ['issue_refund']);
    const page = await bench.signedIn('olga', ['operator']);
    await page.goto(bench.url(`approvals/${asking.asked.id}`));
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    const refused = await post(page, bench.url(`approvals/${asking.asked.id}`), { decision: 'approve', reason: 'mine', digest: asking.asked.approval.digest });
    expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('takes the role approver') });
    expect(await audit(asking.asked.id)).toEqual([{ action: 'approve', by: 'olga', outcome: 'refused', problem: 'it takes the role approver', detail: null }]);
    const viewer = await bench.signedIn('vera', ['viewer']);
    await viewer.goto(bench.url(`batches/${asking.batch}`));
    expect(await viewer.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    expect(await viewer.getByLabel('Trials in flight').count()).toBe(0);
    expect(await post(viewer, bench.url(`batches/${asking.batch}/pause`), {})).toMatchObject({ status: 403 });
    expect(await post(viewer, bench.url(`batches/${asking.batch}/concurrency`), { concurrency: '7' })).toMatchObject({ status: 403 });

    await page.goto(bench.url(`batches/${asking.batch}`));
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await shown(page.getByRole('status'))).toContain('launches nothing more');
    await page.getByLabel('Trials in flight').fill('7');
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await shown(page.getByRole('status'))).toBe('From now on at most 7 trials are in flight.');
    expect(await page.getByLabel('Trials in flight').inputValue()).toBe('7');
    // What the page does not offer is refused by the console itself.
    await post(page, bench.url(`batches/${asking.batch}/concurrency`), { concurrency: '0' });
    const bare = { method: 'POST', body: new URLSearchParams({ concurrency: '9' }), headers: { origin: new URL(bench.served.url).origin } };
    const [session] = await page.context().cookies();
    const forged = await fetch(bench.url(`batches/${asking.batch}/concurrency`), {
      ...bare,
      headers: { ...bare.headers, cookie: `${session?.name}=${session?.value}` },
    });
    expect(forged.status).toBe(403);
    expect((await bench.testbed.root.store.standing(asking.batch))?.options.concurrency).toBe(7);
    await page.getByRole('button', { name: 'Resume' }).click();
    expect(await shown(page.getByRole('status'))).toContain('goes on');
    await page.goto(bench.url(`trials/${asking.trial}`));
    await page.getByRole('link', { name: 'Cancel the trial' }).click();
    await page.getByRole('button', { name: 'Cancel the trial' }).click();
    expect((await asking.end).ending).toBe('cancelled');
    await page.getByRole('status').waitFor();
    const asked = (await audit(asking.batch)).map(({ action, by, outcome }) => `${action} by ${by}: ${outcome}`);
    const steered = ['pause by olga: done', 'concurrency by olga: done', 'concurrency by olga: refused', 'resume by olga: done', 'cancel by olga: done'];
    expect(asked).toEqual(expect.arrayContaining(['pause by vera: refused', 'concurrency by vera: refused', ...steered]));
  });

  it('what an agent wrote is text on every page: bounded, escaped, visible, in every field', async () => {
    const answer = `${HOSTILE}${'<b>x</b>\u202e'.repeat(230_000)}`;
    const mail = { call: 'send_mail', with: { to: ['petra@example.com'], subject: HOSTILE, text: `${HOSTILE}\n\n${HOSTILE}` } };
    const ticket = { call: 'create_ticket', with: { subject: HOSTILE, body: HOSTILE, requester: 'petra@example.com' } };
    const asking = await bench.ask([ticket, mail], ['send_mail'], {
      answer,
      kase: { title: HOSTILE, request: HOSTILE },
    });
    const page = await bench.signedIn(HOSTILE, ['operator', 'approver']);
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    const visit = async (path: string) => {
      await page.goto(bench.url(path));
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
      await expectHarmless(page);
      return shown(page.locator('body'));
    };
    const request = await visit(`approvals/${asking.asked.id}`);
    for (const part of [MARKED, '<script>window.hacked=1</script>', '\\u001b[2J', '\\u0007']) expect(request).toContain(part);
    await page.getByLabel('Reason').fill(HOSTILE);
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await shown(page.getByRole('status'))).toContain('committed');
    await asking.end;
    const trial = await visit(`trials/${asking.trial}`);
    expect(trial).toContain(MARKED);
    expect(trial).toMatch(/more characters/);
    expect(await shown(page.getByRole('region', { name: 'Inbox' }))).toContain('<script>window.hacked=1</script>');
    expect(await shown(page.getByRole('region', { name: 'Tickets' }))).toContain('<img src=x onerror=window.hacked=1>');
    for (const path of ['batches', `batches/${asking.batch}`, `batches/${asking.batch}?q=${encodeURIComponent(HOSTILE)}`, 'approvals', 'audit'])
      await visit(path);
    expect(await shown(page.locator('body'))).toContain('\\u{202e}gnp.exe');
    for (const path of ['trials/%3Cscript%3E', 'batches/%E2%80%AEx', 'nothing/%3Cimg%20src%3Dx%3E']) await visit(path);
    expect(new Set(loaded.filter((path) => !path.startsWith('/console/')))).toEqual(new Set());
  });

  it('works by the keyboard alone, and where the focus is can be seen', async () => {
    const asking = await bench.ask([REFUND], ['issue_refund']);
    const { token } = await bench.bed.addConsoleToken({ holder: 'kim', roles: ['approver'] });
    const page = await bench.visitor();
    await page.goto(bench.url('sign-in'));
    await page.locator('#key:focus').waitFor();
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Batches', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ text: 'Skip to the content', visible: true });
    await tabTo(page, /^Approvals/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    await tabTo(page, new RegExp(asking.asked.id));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Decide' }).waitFor();
    await tabTo(page, /^$/, 'TEXTAREA');
    await page.keyboard.type('not yet');
    await tabTo(page, /^Deny$/);
    await page.keyboard.press('Enter');
    expect(await shown(page.getByRole('status'))).toContain('Denied');
    expect((await bench.testbed.root.store.askedApproval(asking.asked.id))?.approval.end).toMatchObject({ outcome: 'refused', by: 'kim', reason: 'not yet' });
    await asking.end;
  });

  it('fits narrow and wide windows in light and dark, and axe finds no serious fault on any page', async () => {
    const [{ trials, summary }, page, { asked }] = await Promise.all([
      done(),
      bench.signedIn('axel', ['operator', 'approver']),
      bench.ask([REFUND], ['issue_refund']),
    ]);
    const [trial] = trials;
    const ended = [`batches/${summary.batch}`, `batches/${asked.batch}`, `trials/${trial?.trial}`];
    const paths = ['batches', ...ended, `trials/${asked.trial}`, `trials/${asked.trial}/cancel`, 'approvals', `approvals/${asked.id}`, 'audit'];
    const check = async (page: Page, path: string) => {
      await page.setViewportSize({ width: 1280, height: 850 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(bench.url(path));
      expect(await seriousFaults(page), path).toEqual([]);
      expect(await overflow(page), path).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 390, height: 850 });
      expect(await overflow(page), path).toBeLessThanOrEqual(0);
      const light = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).not.toBe(light);
      expect(await seriousFaults(page), path).toEqual([]);
    };
    // In two windows of one browser at once: each page is checked as whole as alone.
    const windows = [page, await page.context().newPage()];
    await Promise.all(
      windows.map(async (window) => {
        for (let path = paths.shift(); path !== undefined; path = paths.shift()) await check(window, path);
      }),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await check(page, 'sign-in');
  });

  it('shows trials by how they stand and by reason, and 10,000 of them page by page', async () => {
    const { summary } = await done();
    const page = await bench.signedIn('axel', ['viewer']);
    await page.goto(bench.url(`batches/${summary.batch}`));
    await page.getByRole('link', { name: `fail ${summary.failed}` }).click();
    expect(await page.getByRole('row').count()).toBe(summary.failed + 1);
    await page.locator('.reason').first().click();
    const count = Number(await shown(page.locator('.reasons li').first().locator('.count')));
    expect(await page.getByRole('row').count()).toBe(count + 1);

    const { store } = bench.testbed.root;
    const batch = await store.batch(summary.batch);
    const [model] = await store.trials(summary.batch);
    if (!batch || !model) throw new Error('no batch');
    const trials = Array.from({ length: 10_000 }, (_, at) => ({ ...model, id: `many-${String(at).padStart(6, '0')}`, repetition: at + 1 }));
    await store.createBatch({ ...batch, id: 'many', manifestHash: 'many', trials });
    await page.goto(bench.url('batches/many'));
    await page.getByRole('link', { name: 'Last' }).click();
    await page.getByText('Page 200 of 200').waitFor();
    expect(await shown(page.getByRole('row').last())).toContain('009999');
    await page.getByLabel('Case, agent, faults or id').fill('00424');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('11 trials fit the filter').waitFor();
  });

  it('lets nobody in who has no valid key, and answers no page but its own', async () => {
    const { hostname, port, origin } = new URL(bench.served.url);
    const page = await bench.signedIn('sam', ['operator', 'approver']);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/console' });
    const answer = await page.goto(bench.url('batches'));
    const headers = answer?.headers() ?? {};
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    expect(hostname).toBe('127.0.0.1');

    const sign = `${cookie?.name}=${cookie?.value}`;
    const ask = (path: string, init: RequestInit) => fetch(bench.url(path), { redirect: 'manual', ...init });
    expect((await ask('batches', {})).headers.get('location')).toBe('/console/sign-in');
    expect((await ask('batches', { headers: { cookie: `${cookie?.name}=${cookie?.value.slice(0, -2)}xx` } })).status).toBe(303);
    const elsewhere = { method: 'POST', headers: { cookie: sign, origin: 'https://evil.example' } };
    expect((await ask('sign-out', elsewhere)).status).toBe(403);
    expect((await ask('sign-out', { method: 'POST', headers: { cookie: sign } })).status).toBe(403);
    expect((await ask('sign-out', { method: 'POST', headers: { cookie: sign, origin } })).status).toBe(403);
    expect((await bench.bed.audit()).find(({ by }) => by === 'sam')).toMatchObject({ action: 'form', outcome: 'refused', target: '/console/sign-out' });
    expect(await named(port, 'evil.example')).toBe(421);

    const link = await bench.served.link(['viewer']);
    const [first, second] = [await bench.visitor(), await bench.visitor()];
    await first.goto(link);
    await second.goto(link);
    await first.getByRole('button', { name: 'Sign in' }).click();
    await first.getByRole('heading', { name: 'Batches', exact: true }).waitFor();
    await second.getByRole('button', { name: 'Sign in' }).click();
    expect(await shown(second.getByRole('alert'))).toContain('was used already');

    const [token] = (await bench.bed.consoleTokens()).filter(({ holder }) => holder === 'sam');
    await bench.bed.revokeConsoleToken(token?.name ?? '');
    await page.goto(bench.url('batches'));
    expect(page.url()).toBe(bench.url('sign-in'));
    expect(JSON.stringify(await bench.bed.consoleTokens())).not.toContain(cookie?.value.split('.')[1]);
  });
});

/** Nothing ran, nothing of ours is missing, and no character commands a terminal or turns the text round. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await page.locator('script:not([src="/console/assets/console.js"]), img, iframe, main b').count()).toBe(0);
  const text = (await page.locator('html').textContent()) ?? '';
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect((await page.content()).length).toBeLessThan(400_000);
}

/** Sends a form as a page of ours would, with what it was not offered. */
async function post(page: Page, url: string, fields: { readonly [name: string]: string }): Promise<{ readonly status: number; readonly text: string }> {
  const given = JSON.stringify([url, fields]);
  return page.evaluate(`(async ([url, fields]) => {
    const form = document.querySelector('input[name=form]').value;
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ ...fields, form }) });
    return { status: answer.status, text: await answer.text() };
  })(${given})`);
}

function focused(page: Page): Promise<{ readonly text: string; readonly tag: string; readonly visible: boolean }> {
  return page.evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { text: document.activeElement.innerText.trim(), tag: document.activeElement.tagName, visible: outlineStyle !== 'none' && outlineWidth !== '0px' };
  })()`);
}

/** Goes on with Tab until this has the focus; everything on the way shows that it has it. */
async function tabTo(page: Page, text: RegExp, tag?: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (now.tag !== 'BODY') expect(now, now.text).toMatchObject({ visible: true });
    if (text.test(now.text) && (tag === undefined || now.tag === tag)) return;
  }
  throw new Error(`nothing with ${text} could be reached`);
}

/** Status of a request that names the console by another host. */
async function named(port: string, host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/console/batches', headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
