import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Comparison } from '../../src/report/comparison/comparison.ts';
import { comparisonHtml } from '../../src/report/comparison/page.tsx';
import { CHROMIUM, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { comparisonOf } from '../unit/comparison-support.ts';
import { overflow, seriousFaults } from './console-bench.ts';

const browser = await requireOrSkip('browser');

const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>" style="x \u202egnp.exe\u001b[2J\u0007\u2028 <!-- ]]>${'wide'.repeat(60)}`;

describe.skipIf(!browser.met)(skipTitle('a comparison in a browser', browser), () => {
  let folder: string;
  let opened: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-comparison-'));
    // As root Chromium has no sandbox; what it loads is ours.
    opened = await chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await opened?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(comparison: Comparison, context: BrowserContextOptions = {}) {
    const file = join(folder, 'comparison.html');
    await writeFile(file, comparisonHtml(comparison));
    const page = await (await opened.newContext({ viewport: { width: 1160, height: 830 }, ...context })).newPage();
    page.setDefaultTimeout(10_000);
    const asked: string[] = [];
    const wrong: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => wrong.push(message.text()));
    page.on('pageerror', (error) => wrong.push(error.message));
    await page.goto(pathToFileURL(file).href);
    return { page, asked, wrong };
  }

  it.each([
    ['on a wide screen', {}],
    ['on a phone, dark', { viewport: { width: 390, height: 800 }, colorScheme: 'dark' as const }],
  ])('%s hostile text in every field is text, nothing is asked for, nothing is wider than the window, and everybody can read it', async (_, context) => {
    const { page, asked, wrong } = await open(comparisonOf(HOSTILE), context);
    expect(asked).toEqual([page.url()]);
    expect(wrong).toEqual([]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, script').count()).toBe(0);
    expect(await overflow(page)).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.locator('dt').allInnerTexts()).toEqual(['Safer', 'More useful', 'Only under these schedules', 'Not tested']);
  });

  it('a changed case leads to both timelines, and every gain of the chart is in a table', async () => {
    const { page } = await open(comparisonOf(HOSTILE));
    await page.locator('tbody th a').first().click();
    expect(await page.locator('#changed-1 .timelines tbody tr').count()).toBe(3);
    const drawn = await page.locator('figure').all();
    expect(drawn.length).toBe(2);
    for (const figure of drawn) {
      const gains = ((await figure.locator('svg').textContent()) ?? '').match(/[+-]?[\d.]+(?=, (better|worse|not shown))/g) ?? [];
      expect(gains.length).toBe(3);
      const table = await figure.locator('table').textContent();
      for (const gain of gains) expect(table).toContain(gain);
    }
  });

  it('is printed on pages of paper, with the tables of charts open and nothing cut at the side', async () => {
    const { page } = await open(comparisonOf(HOSTILE));
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 703, height: 1000 });
    expect(await page.locator('figure table:visible').count()).toBe(2);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    const wide = 'Array.from(document.querySelectorAll("table, svg"), (one) => one.getBoundingClientRect().right - innerWidth).filter((more) => more > 1)';
    expect(await page.evaluate(wide)).toEqual([]);
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1);
  });
});
