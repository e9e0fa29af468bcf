import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeChart } from '../../src/report/html/charts/change-chart.ts';
import { judgeGates } from '../../src/domain/gates/judge-gates.ts';
import { progressChart } from '../../src/report/html/charts/progress-chart.ts';
import { reportHtml } from '../../src/report/html/report-page.tsx';
import type { ReportData } from '../../src/report/data.ts';
import { CHROMIUM, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { overflow, seriousFaults, shown } from './console-bench.ts';
import { besideAnother, HOSTILE, manyTrials } from './report-bench.ts';

const browser = await requireOrSkip('browser');

describe.skipIf(!browser.met)(skipTitle('the HTML report in a browser', browser), () => {
  let folder: string;
  let opened: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-report-'));
    // As root Chromium has no sandbox; what it loads is ours.
    opened = await chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await opened?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a report as somebody does who was sent it; what it asks for and what goes wrong in it is kept. */
  async function open(name: string, data: ReportData, options: BrowserContextOptions = {}) {
    const file = join(folder, `${name}.html`);
    await writeFile(file, reportHtml(data));
    const page = await (await opened.newContext({ viewport: { width: 1280, height: 850 }, ...options })).newPage();
    page.setDefaultTimeout(10_000);
    const asked: string[] = [];
    const wrong: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => wrong.push(message.text()));
    page.on('pageerror', (error) => wrong.push(error.message));
    const begun = performance.now();
    await page.goto(pathToFileURL(file).href);
    return { page, asked, wrong, file, ms: performance.now() - begun };
  }

  const rows = (page: Page) => page.locator('#trial-rows > tr:not(.opened)');
  const counted = (page: Page) => shown(page.locator('#counted'));

  it('of ten thousand trials it is small and opens at once; they are filtered, sorted, turned over and opened one by one, by the keyboard too', async () => {
    const { page, asked, wrong, file, ms } = await open('many', manyTrials(10_000));
    const { size } = await stat(file);
    const filters = page.getByRole('search');
    process.stdout.write(`a report of 10,000 trials: ${(size / 1e6).toFixed(2)} MB, opened in ${Math.round(ms)} ms\n`);
    expect(size).toBeLessThan(1_500_000);
    expect(await counted(page)).toBe('1 to 100 of 10,000 trials');
    expect(await rows(page).count()).toBe(100);
    // Where somebody comes from a category, the table has its trials alone.
    await page.getByRole('link', { name: 'duplicate', exact: true }).click();
    expect(await counted(page)).toMatch(/^1 to 100 of \d+ of 10,000 trials$/);
    expect(await filters.getByLabel('Category').inputValue()).toBe('duplicate');
    await filters.getByLabel('Agent').selectOption('careful');
    await filters.getByLabel('Tag').selectOption('mail');
    for (const text of await rows(page).allInnerTexts()) expect(text).toMatch(/fail[\s\S]*careful[\s\S]*duplicate/);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await counted(page)).toBe('1 to 100 of 10,000 trials');
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await counted(page)).toBe('101 to 200 of 10,000 trials');
    await page.getByRole('button', { name: 'time', exact: true }).press('Enter');
    expect(await page.locator('th[data-sort=wallMs]').getAttribute('aria-sort')).toBe('descending');
    const times = async () => (await page.locator('#trial-rows > tr > td:last-child').allInnerTexts()).map((text) => Number.parseFloat(text));
    const falling = await times();
    expect(falling).toEqual(falling.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'time', exact: true }).press('Enter');
    const rising = await times();
    expect(rising).toEqual(rising.toSorted((a, b) => a - b));
    expect(rising[0]).toBeLessThan(falling[0] ?? 0);
    await filters.getByLabel('Text').fill('b1-04567');
    await page.getByRole('status').filter({ hasText: '1 of 10,000 trials' }).waitFor();
    const button = rows(page).getByRole('button');
    await button.press('Enter');
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    expect(await shown(page.locator('.opened'))).toMatch(/Ending\s+completed[\s\S]*trialbed trace b1-04567/);
    await button.press('Enter');
    expect(await page.locator('.opened').count()).toBe(0);
    // To the evidence of a trial that has some.
    await page.getByRole('button', { name: 'Clear' }).click();
    await filters.getByLabel('Text').fill('b1-00001');
    await page.getByRole('status').filter({ hasText: '1 of 10,000 trials' }).waitFor();
    await rows(page).getByRole('button').press('Enter');
    await page.getByRole('link', { name: 'in this report' }).click();
    expect(await shown(page.locator('#trial-b1-00001'))).toMatch(/refunds.amount differs[\s\S]*expected/);
    expect(asked).toHaveLength(1);
    expect(wrong).toEqual([]);
  });

  it('without a script it has everything but the trials beyond the first, and a chart has its table', async () => {
    const { page, wrong } = await open('plain', manyTrials(400), { javaScriptEnabled: false });
    expect(await rows(page).count()).toBe(100);
    expect(await page.locator('.filters').isVisible()).toBe(false);
    const figures = await page.locator('figure').count();
    expect(figures).toBeGreaterThan(6);
    expect(await page.locator('figure svg[role=img][aria-label]').count()).toBe(figures);
    expect(await page.locator('figure table caption').count()).toBe(figures);
    const [deciding, proofs] = [await shown(page.locator('.deciding')), await shown(page.locator('#proofs'))];
    expect(deciding).toMatch(/hasty passed \d+ of 200 trials \([\d.]+%, 95% interval/);
    expect(proofs).toMatch(/It does not prove[\s\S]*never/);
    expect(wrong).toEqual([]);
  });

  it('what anybody wrote is text in every field: escaped, cut, and nothing is asked for', async () => {
    const { page, asked, wrong, file } = await open('hostile', manyTrials(300, HOSTILE));
    expect((await stat(file)).size).toBeLessThan(1_500_000);
    await rows(page).getByRole('button').first().click();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, iframe, [onerror], [onload], [style], svg style').count()).toBe(0);
    const text = (await page.locator('html').textContent()) ?? '';
    expect(/.{0,80}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.exec(text)?.[0]).toBeUndefined();
    for (const part of ['\\u{202e}', '\\x1b', '</script>', 'more characters']) expect(text.includes(part)).toBe(true);
    expect(await page.locator('[aria-label*="\u202e"], option[value*="\u202e"]').count()).toBe(0);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(asked).toHaveLength(1);
    expect(wrong).toEqual([]);
  });

  it('it says of each gate what was asked, the figure and by what it was judged, of leaks and contamination that there are none, and that it holds data in clear', async () => {
    const data = manyTrials(200);
    const gates = judgeGates(data.facts, { gates: ['lower(pass)>=0.9', 'forbidden[critical]<=400'], today: '2026-03-02' });
    const { page, wrong } = await open('gates', { ...data, summary: { ...data.summary, ...gates } });
    const cells = async (section: string) => (await page.locator(`${section} tbody tr`).allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    const asked = await cells('#gates');
    expect(asked).toHaveLength(4);
    expect(asked[0]).toMatch(
      /^lower\(pass\)>=0\.9 at least 90% of scored trials pass, by the lower bound of its interval hasty not met lower bound the lower [\s\S]*[\d.]+% to [\d.]+%/,
    );
    expect(asked[1]).toMatch(/^forbidden\[critical\]<=400 at most 400 effects that no case expects or allows, in cases of critical hasty met point \d+ /);
    const isolation = await cells('#isolation');
    for (const line of [/effects of no operation 0 /, /not counted/, /nobody gave back 0 /]) expect(isolation.some((one) => line.test(one))).toBe(true);
    expect(await shown(page.locator('.top'))).toMatch(/compared with nothing[\s\S]*in clear/);
    expect(wrong).toEqual([]);
  });

  it('with something to compare with it opens with whether the candidate is safer, draws the gains, shows changed trials, and how the suite came to here', async () => {
    const { page, asked, wrong } = await open('compared', besideAnother(60));
    expect((await page.locator('.deciding li').allInnerTexts()).slice(0, 4).map((text) => text.split(':')[0])).toEqual([
      'Safer',
      'More useful',
      'Only under these schedules',
      'Not tested',
    ]);
    expect(await page.locator('#compared figure svg').count()).toBe(2);
    await page.locator('#compared tbody th a').first().click();
    expect(await page.locator('#changed-1-1 .timelines tbody tr').count()).toBe(3);
    expect(await page.locator('#progress figure svg').count()).toBe(2);
    await page.locator('#progress summary').first().click();
    expect(await page.locator('#progress table').first().locator('tbody tr').count()).toBe(30);
    expect(await shown(page.locator('#progress table').first())).toMatch(/night-8[\s\S]*environment/);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    expect([asked.length, wrong]).toEqual([1, []]);
  });

  it.each(['light', 'dark'] as const)('in %s it has no serious fault of accessibility, and no page that scrolls sideways', async (colorScheme) => {
    const { page, wrong } = await open(colorScheme, besideAnother(60), { colorScheme });
    await rows(page).getByRole('button').first().click();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    expect(wrong).toEqual([]);
    expect(await seriousFaults(page)).toEqual([]);
    for (const width of [390, 800, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
  });

  it('in print all tables of charts and all evidence are open, and nothing is cut at the side', async () => {
    const { page } = await open('print', besideAnother(60), { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 703, height: 1000 });
    const figures = await page.locator('figure').count();
    expect(await page.locator('figure table:visible').count()).toBe(figures);
    expect(await page.locator('.filters:visible, .contents:visible').count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    const wide = 'Array.from(document.querySelectorAll("table, svg"), (one) => one.getBoundingClientRect().right - innerWidth).filter((more) => more > 1)';
    expect(await page.evaluate(wide)).toEqual([]);
    expect((await page.pdf({ format: 'A4' })).byteLength).toBeGreaterThan(20_000);
  });
});

describe('charts', () => {
  const interval = { low: 0.1, high: 0.5 };

  it('of changes tell better, worse and not shown by shape and in words, and escape names', () => {
    const { svg, table } = changeChart('Changes', [
      { name: 'safer <b>', gain: 0.3, interval, shown: 'yes', pairs: 40 },
      { name: 'useful', gain: -0.2, interval: { low: -0.4, high: -0.1 }, shown: 'no', pairs: 40 },
      { name: 'under lost replies', gain: null, interval: { low: -1, high: 1 }, shown: 'not_shown', pairs: 0 },
    ]);
    expect(svg).toContain('safer &lt;b&gt;');
    for (const text of ['+30, better', '-20, worse', 'not known']) expect(svg).toContain(text);
    expect(svg).not.toContain('<style');
    expect(table.rows.map((cells) => cells.join(' | '))).toEqual([
      'safer <b> | +30 | +10 to +50 | better | 40',
      'useful | -20 | -40 to -10 | worse | 40',
      'under lost replies | not known | -100 to +100 | not shown | 0',
    ]);
  });

  it('of a series begin anew where what is tested changes', () => {
    const point = (day: number, agent: string, rate: number | null = 0.3) => ({
      batch: `night-${day}`,
      at: `2026-03-0${day}T02:00:00.000Z`,
      rate,
      interval,
      n: 40,
      versions: { agent, environment: '1' },
    });
    const chart = progressChart('Passed, by night', [point(3, '2'), point(1, '1'), point(2, '1', null), point(4, '2', 0.4)]);
    expect(chart?.title).toBe('Passed, by night; dashes where what is tested changed');
    expect(chart?.table.rows.map(([at, batch, share, , , fresh]) => [at, batch, share, fresh])).toEqual([
      ['2026-03-04 02:00:00 UTC', 'night-4', '40.0%', ''],
      ['2026-03-03 02:00:00 UTC', 'night-3', '30.0%', '1: agent'],
      ['2026-03-02 02:00:00 UTC', 'night-2', '', ''],
      ['2026-03-01 02:00:00 UTC', 'night-1', '30.0%', ''],
    ]);
    expect(chart?.svg).toContain('stroke-dasharray');
    expect(progressChart('Nothing', [])).toBeNull();
  });
});
