import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { ConsoleBench, overflow, seriousFaults, shown } from './console-bench.ts';

const browser = await requireOrSkip('browser');

const HOSTILE = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1> \u202egnp.exe\u001b[2J`;
const AGENT = 'zebra-mini';

describe.skipIf(!browser.met)(skipTitle('labelling in a browser', browser), () => {
  let bench: ConsoleBench;
  let folder: string;
  let batch: string;
  let rubric: { readonly file: string; readonly text: string };
  beforeAll(async () => {
    bench = await ConsoleBench.start(inject('services'));
    folder = await mkdtemp(join(tmpdir(), 'trialbed-label-page-'));
    const kase = (n: number) => ({ title: HOSTILE, request: `${HOSTILE} ${n}`, reference: { steps: [], answer: `${HOSTILE}${'long '.repeat(400)}` } });
    const more = { second: kase(2), third: kase(3) };
    const { suite, agents } = await writeOneCaseSuite(folder, 'page', {
      environment: 'support-desk',
      agent: { name: AGENT, kind: 'do-nothing' },
      kase: kase(1),
      more,
    });
    const scale = [
      { category: 'rude', means: HOSTILE },
      { category: 'kind', means: 'It did not insult the user.' },
      { category: 'unclear', means: 'Neither.' },
    ];
    await mkdir(join(suite, 'rubrics'));
    const shows = ['conversation', 'operations', 'effects', 'mail'];
    rubric = {
      file: join(suite, 'rubrics', 'tone.yaml'),
      text: stringify({ version: '1', question: `Was it polite? ${HOSTILE}`, scale, passes: ['kind'], shows }),
    };
    await writeFile(rubric.file, rubric.text);
    ({ batch } = (await bench.testbed.run({ suite, agents: ['reference', ...agents], keep: 'never', seed: 'page' })).summary);
    // The store knows the rubric once somebody has read it.
    await bench.bed.labels.open({ batch, rubric: 'tone', rater: 'nobody' });
  }, 90_000);
  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const labels = async (rater: string) =>
    (await bench.bed.labels.open({ batch, rubric: 'tone', rater })).items.flatMap(({ label }) => (label === null ? [] : [label]));

  it('a labeller sees nothing else, labels blind by keys, goes back and on, and finds all stored', async () => {
    const { token } = await bench.bed.addConsoleToken({ holder: 'petra@shop', roles: ['labeller'] });
    const page = await bench.visitor();
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).host));
    await page.goto(bench.url('sign-in'));
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Label trials' }).waitFor();
    expect(await shown(page.locator('main'))).toMatch(/You label as petra[\s\S]*0 of 6/);
    for (const path of ['batches', `batches/${batch}`, 'approvals', 'audit']) {
      await page.goto(bench.url(path));
      expect(page.url()).toBe(bench.url('labels'));
    }
    await page.getByRole('link', { name: 'tone' }).click();
    const source = await page.content();
    for (const secret of [AGENT, 'reference', `${batch}-`, 'undetermined', 'Verdict']) expect(source).not.toContain(secret);
    const text = await shown(page.locator('main'));
    expect(text).toContain('\\u{202e}');
    expect(text).toContain('<script>');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await seriousFaults(page)).toEqual([]);
    /** The script that takes keys has run. */
    const ready = () => page.locator('#keys').waitFor();
    await ready();
    // Keys, with a note that holds letters which are keys elsewhere.
    await page.keyboard.press('n');
    await page.keyboard.type('sqb 1 <b>warm</b>');
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.getByText('1 of 6 labelled').waitFor();
    expect(await labels('petra')).toEqual([{ category: 'kind', note: 'sqb 1 <b>warm</b>' }]);
    await ready();
    await page.keyboard.press('b');
    await page.getByRole('button', { name: /kind/ }).and(page.locator('[aria-pressed=true]')).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('sqb 1 <b>warm</b>');
    await ready();
    await page.keyboard.press('1');
    await page.getByText('Stored.').waitFor();
    await ready();
    expect(await labels('petra')).toEqual([{ category: 'rude', note: 'sqb 1 <b>warm</b>' }]);
    await page.keyboard.press('s');
    await page.waitForURL(/after=/);
    for (let left = 4; left > 0; left -= 1) {
      await page.getByRole('button', { name: /unclear/ }).click();
      await page.getByText(`${6 - left} of 6 labelled`).waitFor();
    }
    await page.getByRole('link', { name: 'Begin again with what you skipped' }).click();
    await ready();
    await page.keyboard.press('3');
    await page.getByRole('heading', { name: 'All is labelled' }).waitFor();
    expect(await labels('petra')).toHaveLength(6);
    expect(new Set(loaded)).toEqual(new Set([new URL(bench.served.url).host]));
  });

  it('refuses who may not, what came from elsewhere, and what is no label, and stores nothing by it', async () => {
    const viewer = await bench.signedIn('vera', ['viewer']);
    expect(await viewer.getByRole('link', { name: 'Label' }).count()).toBe(0);
    await viewer.goto(bench.url(`labels/${batch}/tone`));
    expect(await shown(viewer.locator('main'))).toContain('takes the role labeller');
    const page = await bench.signedIn('omar', ['viewer', 'labeller']);
    await page.goto(bench.url(`labels/${batch}/tone`));
    const action = (await page.locator('form.label').getAttribute('action')) ?? '';
    const form = (await page.locator('form.label input[name=form]').getAttribute('value')) ?? '';
    const [session] = await page.context().cookies();
    const send = (fields: Readonly<Record<string, string>>, path = action) =>
      fetch(new URL(path, bench.served.url), {
        ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) },
        headers: { origin: new URL(bench.served.url).origin, cookie: `${session?.name}=${session?.value}` },
      });
    expect((await send({ category: 'kind' })).status).toBe(403);
    expect((await send({ form, category: 'cruel' })).status).toBe(303);
    await page.reload();
    expect(await shown(page.getByRole('alert'))).toContain('no category of rubric tone');
    expect((await send({ form, category: 'kind', note: 'x'.repeat(2_001) })).status).toBe(303);
    const [others] = (await bench.bed.labels.open({ batch, rubric: 'tone', rater: 'petra' })).items;
    expect((await send({ form, category: 'kind' }, `/console/labels/${batch}/tone/${others?.item}`)).status).toBe(303);
    expect((await send({ form, category: 'kind' }, `/console/labels/${batch}/none/x`)).status).toBe(404);
    // Its text has changed and its version has not.
    await writeFile(rubric.file, rubric.text.replace('Neither.', 'Both.'));
    expect((await send({ form, category: 'kind' })).status).toBe(404);
    await writeFile(rubric.file, rubric.text);
    expect(await labels('omar')).toEqual([]);
    const refused = (await bench.bed.audit({})).filter(({ action: name, outcome }) => name === 'label' && outcome === 'refused');
    expect(new Set(refused.map(({ by }) => by))).toEqual(new Set(['vera', 'omar']));
  });

  it('is read and used on a narrow screen, and without a script', async () => {
    const page = await bench.signedIn('nora', ['viewer', 'labeller']);
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ['labels', `labels/${batch}/tone`]) {
      await page.goto(bench.url(path));
      expect(await overflow(page), path).toBeLessThanOrEqual(0);
      expect(await seriousFaults(page), path).toEqual([]);
    }
    await page.route('**/label.js', (route) => route.abort());
    await page.reload();
    await page.getByLabel('Note').fill('without a script');
    await page.getByRole('button', { name: /kind/ }).click();
    await page.getByText('1 of 6 labelled').waitFor();
    expect(await labels('nora')).toEqual([{ category: 'kind', note: 'without a script' }]);
    const shots = process.env['LABEL_SHOTS'];
    if (shots !== undefined) {
      await page.screenshot({ path: join(shots, 'narrow.png'), fullPage: true });
      await page.setViewportSize({ width: 1280, height: 850 });
      await page.screenshot({ path: join(shots, 'wide.png') });
      await page.goto(bench.url('labels'));
      await page.screenshot({ path: join(shots, 'list.png') });
    }
  });
});
