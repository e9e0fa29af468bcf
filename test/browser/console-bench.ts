import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { run } from '../../src/client/run.ts';
import { trialbedOver } from '../../src/client/index.ts';
import type { ConsoleRole, ServedConsole, Trialbed } from '../../src/client/api.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { AskedApproval } from '../../src/store/store.ts';
import { CHROMIUM } from '../harness/requirements.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import type { TestServices } from '../harness/services.ts';

/** A batch that people decide about. */
export interface Asking {
  readonly batch: string;
  readonly trial: string;
  readonly asked: AskedApproval;
  readonly end: Promise<TrialSummary>;
}

/** A console over a testbed of its own, and a browser. */
export class ConsoleBench implements AsyncDisposable {
  readonly testbed: Testbed;
  readonly bed: Trialbed;
  readonly served: ServedConsole;
  private readonly browser: Browser;
  private readonly folder: string;
  private readonly owned: AsyncDisposableStack;
  private count = 0;

  private constructor(parts: { testbed: Testbed; bed: Trialbed; served: ServedConsole; browser: Browser; folder: string }, owned: AsyncDisposableStack) {
    this.testbed = parts.testbed;
    this.bed = parts.bed;
    this.served = parts.served;
    this.browser = parts.browser;
    this.folder = parts.folder;
    this.owned = owned;
  }

  static async start(services: TestServices): Promise<ConsoleBench> {
    await using stack = new AsyncDisposableStack();
    // As root Chromium has no sandbox; what it loads is ours.
    const launching = chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: ['--no-sandbox'] });
    // Whoever waits for it below hears why it failed.
    const launched = launching.catch(() => null);
    stack.defer(async () => (await launched)?.close());
    const testbed = stack.use(await startTestbed(services));
    const folder = await mkdtemp(join(tmpdir(), 'trialbed-console-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const bed = trialbedOver(testbed.root, async () => {}, { temporalUi: 'http://127.0.0.1:8233' });
    const served = stack.use(await bed.console());
    return new ConsoleBench({ testbed, bed, served, browser: await launching, folder }, stack.move());
  }

  /** A browser of somebody with a token of these roles, signed in. */
  async signedIn(holder: string, roles: readonly ConsoleRole[]): Promise<Page> {
    const { token } = await this.bed.addConsoleToken({ holder, roles });
    const page = await this.visitor();
    await page.goto(this.url('sign-in'));
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Batches', exact: true }).waitFor();
    return page;
  }

  /** A browser of somebody who is not signed in. */
  async visitor(): Promise<Page> {
    const context: BrowserContext = await this.browser.newContext({ viewport: { width: 1280, height: 850 } });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return page;
  }

  /** Starts a trial whose calls of these tools people decide about, and waits until it asks. */
  async ask(
    steps: readonly JsonObject[],
    tools: readonly string[],
    parts: { readonly answer?: string; readonly kase?: JsonObject; readonly worker?: 'process' } = {},
  ): Promise<Asking> {
    const user = { name: 'mara', role: 'agent', approval: tools.map((tool) => ({ tool })) };
    const agent = { kind: 'script', steps: [...steps], answer: parts.answer ?? 'Done.' };
    const kase = { user, approver: 'deny', ...parts.kase };
    const request = await writeOneCaseSuite(this.folder, `asking-${++this.count}`, { environment: 'support-desk', agent, kase });
    const options = { ...request, keep: 'never', human: true } as const;
    // A worker of its own, as a command has it; else the one in this process.
    const handle = parts.worker === 'process' ? await this.bed.run(options) : await run(this.testbed.root, options, new Promise(() => {}));
    const asked = Promise.withResolvers<AskedApproval>();
    const end = (async () => {
      for await (const event of handle.events()) {
        if (event.type === 'approval') asked.resolve(event.asked);
        if (event.type === 'trial') return event;
      }
      throw new Error('the batch has no trial');
    })();
    end.catch(asked.reject);
    const first = await asked.promise;
    return { batch: handle.id, trial: first.trial, asked: first, end };
  }

  url(path: string): string {
    return new URL(path, this.served.url).href;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.owned.disposeAsync();
  }
}

/** Faults of accessibility that are serious or worse, a line each. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  // Half a megabyte of code, once for each page that was loaded.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe.source);
  const { violations }: { violations: { id: string; impact: string; nodes: { html: string }[] }[] } = await page.evaluate(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ({ violations }))`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

/** What somebody sees of an element. */
export function shown(locator: Locator): Promise<string> {
  return locator.evaluate(({ innerText }: { readonly innerText: string }) => innerText);
}

/** How many pixels a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') as Promise<number>;
}
