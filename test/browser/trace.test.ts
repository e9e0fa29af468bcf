import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { trialbedOver, writeTrace } from '../../src/client/index.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { traceHtml } from '../../src/report/trace/page.tsx';
import { traceOf } from '../../src/report/trace/trace-of.ts';
import type { Trace } from '../../src/report/trace/trace.ts';
import { CHROMIUM, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed } from '../harness/testbed.ts';
import { failingVerdict, operation } from '../unit/trial-view-support.ts';
import { AT, injected, lostReply, mail, row, source } from '../unit/trace-support.ts';
import { overflow, seriousFaults, shown } from './console-bench.ts';

const browser = await requireOrSkip('browser');

/** Tags, the end of a script, a direction override, commands to a terminal, and line ends of JavaScript. */
const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>" style="x \u202egnp.exe\u001b[2J\u0007\u2028 <!-- ]]>`;
const TABS = ['World', 'Inbox', 'Tickets', 'Conversation', 'Models', 'Verdict', 'About', 'Step'];

describe.skipIf(!browser.met)(skipTitle('the trace of a trial in a browser', browser), () => {
  let folder: string;
  let opened: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-trace-'));
    // As root Chromium has no sandbox; what it loads is ours.
    opened = await chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await opened?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a file as somebody does who was sent it; what it asks for and what goes wrong in it is kept. */
  async function open(file: string, options: BrowserContextOptions & { readonly hash?: string } = {}) {
    const { hash = '', ...context } = options;
    const page = await (await opened.newContext({ viewport: { width: 1280, height: 850 }, ...context })).newPage();
    page.setDefaultTimeout(30_000);
    const asked: string[] = [];
    const wrong: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => wrong.push(message.text()));
    page.on('pageerror', (error) => wrong.push(error.message));
    await page.goto(`${pathToFileURL(file).href}${hash}`);
    return { page, asked, wrong };
  }

  async function written(name: string, trace: Trace): Promise<string> {
    const file = join(folder, `${name}.html`);
    await writeFile(file, traceHtml(trace));
    return file;
  }

  it('of a real trial whose reply was lost: the first screen says what went wrong and where, and leads there', async () => {
    await using testbed = await startTestbed(inject('services'));
    const { trials } = await testbed.run({
      suite: 'support-desk',
      agents: ['hasty'],
      cases: ['cancel-before-shipping'],
      faults: ['mail-reply-lost'],
      keep: 'never',
    });
    await using bed = trialbedOver(testbed.root, async () => {});
    const { file, trace } = await writeTrace(bed, { trial: trials[0]?.trial ?? '', folder });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await expect(writeTrace(bed, { trial: trials[0]?.trial ?? '', attempt: 7, folder })).rejects.toThrow('there is no attempt 7');
    const { page, asked, wrong } = await open(file);
    const [first, second] = trace.steps.filter(({ operation: one }) => one?.tool === 'send_mail');
    const told = await shown(page.getByRole('region', { name: 'What went wrong' }));
    expect(told).toContain(`step ${first?.n}: send_mail got no reply that says how it ended; it was carried out`);
    expect(told).toContain(`called again in step ${second?.n}: send_mail: its effect is there 2 times`);
    // It opens at what caused it.
    expect(await shown(page.getByRole('article', { name: `Step ${second?.n}` }))).toMatch(/send_mail[\s\S]*fail repeated write[\s\S]*Mail: 1 mail/);
    await page
      .getByRole('link', { name: `step ${first?.n}: send_mail` })
      .first()
      .click();
    const lost = await shown(page.getByRole('article', { name: `Step ${first?.n}` }));
    expect(lost).toMatch(/Fault\s+smtp final dot mail: stored, reply lost/);
    expect(lost).toMatch(/The agent was told\s+unknown[\s\S]*The systems of record know\s+committed[\s\S]*told something else/);
    // The inbox after each step: one mail, then two; and the order as it was before and after it was cancelled.
    await page.getByRole('tab', { name: 'Inbox' }).click();
    const mails = page.locator('#pane-inbox .mail:visible');
    expect(await mails.count()).toBe(1);
    await page.getByRole('link', { name: new RegExp(`^${second?.n} send_mail`) }).click();
    expect(await mails.count()).toBe(2);
    await page.getByRole('tab', { name: 'World' }).click();
    await page.getByRole('link', { name: /^\d+ cancel_order/ }).click();
    expect(await shown(page.locator('#world-rows'))).toMatch(/orders 5074 changed in step \d+[\s\S]*status\s+paid\s+paid\s+cancelled/);
    expect(asked).toHaveLength(1);
    expect(wrong).toEqual([]);
  });

  it('works by the keyboard, and an address leads to a step, an operation or a pane', async () => {
    const file = await written('keys', lostReply());
    const { page } = await open(file);
    const current = () => shown(page.locator('.steps a[aria-current]'));
    expect(await current()).toMatch(/^4\s+issue_refund/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('k');
    expect(await current()).toMatch(/^2\s+get_order/);
    expect(page.url()).toMatch(/#step-2$/);
    await page.keyboard.press('ArrowRight');
    expect(await shown(page.getByRole('tab', { selected: true }))).toMatch(/^World/);
    for (let press = 0; press < 20; press++) await page.keyboard.press('ArrowDown');
    expect(await current()).toMatch(/^7\s+Verdict/);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to the steps');
    const { page: deep } = await open(file, { hash: '#op-2' });
    expect(await shown(deep.locator('.steps a[aria-current]'))).toMatch(/^3\s+issue_refund/);
    await deep.evaluate('location.hash = "#pane-verdict"');
    await deep.getByRole('tabpanel', { name: 'Verdict' }).waitFor();
    expect(await shown(deep.getByRole('tabpanel', { name: 'Verdict' }))).toMatch(
      /did not look whether it was there, and called again in step 4: issue_refund: its effect is there 2 times/,
    );
  });

  it('without a script, and in print, everything is there, one step below the other', async () => {
    const file = await written('plain', lostReply());
    const { page } = await open(file, { javaScriptEnabled: false });
    const all = (on: Page) => on.locator('.step:visible, .pane:visible').count();
    const steps = await page.locator('.step').count();
    expect(await all(page)).toBe(steps + (await page.locator('.pane').count()));
    expect(await page.getByRole('tab').count()).toBe(0);
    expect(await shown(page.locator('#world-rows'))).toMatch(/refunds 851[\s\S]*refunds 852/);
    const { page: printed } = await open(file);
    expect(await all(printed)).toBe(2);
    await printed.emulateMedia({ media: 'print' });
    expect(await all(printed)).toBe(steps + (await page.locator('.pane').count()));
    expect((await printed.pdf()).byteLength).toBeGreaterThan(10_000);
  });

  it('what anybody wrote is text in every field: escaped, cut with its length told, and nothing is asked for', async () => {
    const file = await written('hostile', hostile(3_000));
    const { page, asked, wrong } = await open(file);
    const steps = await page.locator('.step').count();
    for (let n = 1; n <= steps; n++) await page.evaluate(`location.hash = '#step-${n}'`);
    for (const tab of TABS) await page.getByRole('tab', { name: tab }).click();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, iframe, body script:not([id]) + *, [onerror]').count()).toBe(0);
    const text = (await page.locator('html').textContent()) ?? '';
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
    for (const part of ['\\u{202e}', '\\x1b', '</script>', 'more characters']) expect(text).toContain(part);
    await page.getByRole('tab', { name: 'World' }).click();
    expect(await shown(page.locator('#world-rows'))).toContain('<img src=x');
    expect(asked).toHaveLength(1);
    expect(wrong).toEqual([]);
  });

  it('fits narrow and wide windows in light and dark, and axe finds no serious fault in any pane', async () => {
    const { page } = await open(await written('axe', hostile(20)));
    const tabs = TABS.filter((tab) => tab !== 'Step');
    const light = async (scheme: 'light' | 'dark', tab: string) => {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await seriousFaults(page), `${tab} in ${scheme}`).toEqual([]);
    };
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    for (const scheme of ['dark', 'light'] as const) await light(scheme, 'Step');
    for (const tab of tabs) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await overflow(page), tab).toBeLessThanOrEqual(0);
      await light(tab === 'World' || tab === 'Verdict' ? 'dark' : 'light', tab);
    }
    await page.setViewportSize({ width: 390, height: 850 });
    for (const tab of TABS) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await overflow(page), `${tab}, narrow`).toBeLessThanOrEqual(0);
    }
    await light('light', 'Step, narrow');
  });

  it('1,500 calls are below 5 MB, and going through them is no matter', async () => {
    const file = await written('many', many(1_500));
    expect((await stat(file)).size).toBeLessThan(5_000_000);
    const { page, wrong } = await open(file);
    await page.getByRole('tab', { name: 'World' }).click();
    for (let press = 0; press < 20; press++) await page.keyboard.press('ArrowDown');
    expect(await shown(page.locator('.steps a[aria-current]'))).toMatch(/^21\s+/);
    expect(await page.locator('#world-rows table').count()).toBe(20);
    await page.evaluate('location.hash = "#step-1400"');
    expect(await shown(page.locator('.steps a[aria-current]'))).toMatch(/^1400\s+/);
    expect(wrong).toEqual([]);
  });
});

/** A trial in which all foreign text is hostile, and some of it long. */
function hostile(times: number): Trace {
  const long = `${HOSTILE}${'<b>x</b>\u202e'.repeat(times)}`;
  const image: JsonObject = { id: 1, [HOSTILE]: HOSTILE, note: long };
  const finding = { code: 'false_claim', judgement: 'fail' as const, rule: HOSTILE, message: HOSTILE, expected: HOSTILE, found: { [HOSTILE]: long } };
  const verdict = failingVerdict();
  const bare = source(null);
  return traceOf(
    source(
      {
        operations: [
          operation({ id: HOSTILE, tool: HOSTILE, actor: HOSTILE, args: { [HOSTILE]: long }, result: long, detail: HOSTILE, idempotencyKey: HOSTILE, at: AT }),
          operation({ id: 'op-2', seq: 2, tool: 'send_mail', told: 'unknown', result: null, problem: { code: HOSTILE, message: HOSTILE }, at: AT }),
        ],
        effects: [
          row(1, { operation: HOSTILE, table: HOSTILE, change: 'insert', key: { id: HOSTILE }, before: null, after: image }),
          row(2, { operation: 'op-2', table: HOSTILE, key: { id: HOSTILE }, before: image, after: { ...image, note: HOSTILE } }),
          row(3, { operation: 'op-2', table: 'tickets', key: { id: HOSTILE }, before: null, change: 'insert', after: { id: HOSTILE, subject: HOSTILE } }),
          mail(4, { operation: 'op-2', subject: HOSTILE, text: long, from: HOSTILE, recipients: [{ address: HOSTILE, code: 550 }], violations: [HOSTILE] }),
          row(5, { operation: null }),
        ],
        faults: {
          schedule: HOSTILE,
          rules: [],
          injected: [injected({ operation: 'op-2', detail: HOSTILE })],
          runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, words: {} },
        },
        lateAttempts: [{ source: 'sql', operation: HOSTILE, detail: HOSTILE, at: AT }],
      },
      {
        kase: { ...bare.kase, title: HOSTILE, permission: { ...bare.kase.permission, user: HOSTILE, role: HOSTILE } },
        trial: { ...bare.trial, caseId: HOSTILE, agentName: HOSTILE },
        schedule: { name: HOSTILE, title: HOSTILE, cases: ['*'], rules: [{ on: { tool: HOSTILE }, fault: { kind: 'permission_revoked' } }] },
        messages: [
          { turn: 1, from: 'user', text: HOSTILE },
          { turn: 1, from: 'agent', text: long, data: { [HOSTILE]: HOSTILE }, actor: HOSTILE },
        ],
        conversation: [
          { who: 'agent', agent: HOSTILE, seq: 1, role: 'assistant', call: null, body: { text: long, calls: [{ tool: HOSTILE, args: HOSTILE }] } },
        ],
        verdicts: [
          {
            ...verdict,
            reached: HOSTILE,
            outcome: { judgement: 'fail', findings: [finding, { ...finding, operations: [HOSTILE, 'op-2'] }] },
            trial: 'b1-abc',
            attempt: 2,
            gradedAt: AT,
            current: true,
          },
        ],
        lateRequests: [{ at: AT, detail: HOSTILE }],
        ticketTables: { tickets: 'tickets', comments: 'ticket_comments' },
      },
    ),
  );
}

/** A trial of so many writes, each with long arguments and results. */
function many(calls: number): Trace {
  const operations = Array.from({ length: calls }, (_, at) =>
    operation({
      id: `op-${at + 1}`,
      seq: at + 1,
      args: { order_id: at, reason: 'damaged '.repeat(400) },
      result: { text: 'a long reply '.repeat(800) },
      at: AT,
    }),
  );
  const effects = operations.map(({ id }, at) =>
    row(at + 1, {
      key: { id: at },
      operation: id,
      before: { id: at, status: 'paid', note: 'n'.repeat(300) },
      after: { id: at, status: 'refunded', note: 'n'.repeat(300) },
    }),
  );
  return traceOf(source({ operations, effects }));
}
