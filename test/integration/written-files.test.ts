import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { checkContract } from '../../src/client/cassettes/contract.ts';
import { record } from '../../src/client/cassettes/record.ts';
import { writeComparison } from '../../src/client/compare.ts';
import { importTraces } from '../../src/client/import-traces.ts';
import { trialbedOver } from '../../src/client/index.ts';
import { writeBatchReport } from '../../src/client/report.ts';
import { run } from '../../src/client/run.ts';
import { writeTrace } from '../../src/client/trace.ts';
import { validate } from '../../src/client/validate.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { plantedIn, plantedUnder } from '../harness/planted.ts';
import { calls, says, startProvider } from '../harness/provider.ts';
import { startTestbed } from '../harness/testbed.ts';

const VARIABLE = 'TRIALBED_TEST_WRITTEN_KEY';
/** What stands in what people and systems said, by its shape. */
const CONTENT = {
  key: 'sk-proj-abcdefghijklmnopqrstuvwx0123',
  card: '4111 1111 1111 1111',
  token: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  access: 'AKIAIOSFODNN7EXAMPLE',
  password: 'hunter2-hunter2',
  cookie: 'sid-9f8e7d6c5b4a39281706',
  mail: 'anna.b@corp-mail.de',
};
const PLANTED = Object.values(CONTENT);

it('no file holds a secret that is known by reference; cassettes, drafts and what is printed of them hold none of what was said either', {
  timeout: 240_000,
}, async () => {
  // In no shape that anybody would know.
  const reference = `q${randomBytes(15).toString('hex')}`;
  process.env[VARIABLE] = reference;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => {
    delete process.env[VARIABLE];
  });
  const out = await mkdtemp(join(tmpdir(), 'trialbed-written-'));
  cleanup.defer(() => rm(out, { recursive: true, force: true }));
  // A provider that repeats the key that it was sent, where a model's words go.
  await using provider = await startProvider(({ body, headers }) => {
    const replies = body.messages.filter(({ role }) => role === 'assistant').length;
    if (replies === 0) return calls(['get_ticket', { ticket_id: 214 }]);
    const told = body.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    const ticket = (JSON.parse(told[0] ?? '{}') as { readonly result?: { readonly body?: string } }).result?.body ?? '';
    if (replies === 1)
      return calls(
        ['comment_ticket', { ticket_id: 214, body: `${ticket} ${headers['authorization']}`, public: true }],
        ['send_mail', { to: ['x@example.org'], subject: `Key ${headers['authorization']}`, text: ticket }],
      );
    return says(`Done: ${ticket} with ${headers['authorization']}`);
  });
  await using testbed = await startTestbed(inject('services'), { worker: false, config: { logLevel: 'debug' } });
  const { root, config } = testbed;
  const worker = cleanup.use(await startWorkerProcess(config));
  const workFor = async () => ({ taskQueue: config.taskQueue, broken: worker.broken });
  const launch: Parameters<typeof record>[2] = (asked) => run(root, asked, worker.broken);

  const nested = JSON.stringify({ request: { headers: { 'X-Api-Key': CONTENT.access, cookie: CONTENT.cookie }, login: { password: CONTENT.password } } });
  const encoded = Buffer.from(JSON.stringify({ token: CONTENT.token })).toString('base64');
  const body = `Key ${CONTENT.key}, card ${CONTENT.card}, mail ${CONTENT.mail}. ${encoded}`;
  const state = [{ update: 'tickets', where: { id: 214 }, set: { body, subject: nested } }];
  const steps = [
    { call: 'get_ticket', with: { ticket_id: 214 }, as: 't' },
    { call: 'comment_ticket', with: { ticket_id: 214, body: '${t.body} ${t.subject}', public: true } },
  ];
  const { suite, agents } = await writeOneCaseSuite(out, 'desk', {
    environment: 'support-desk',
    agent: { kind: 'model', route: { name: 'tiny', url: provider.url, model: 'tiny', key: VARIABLE }, prompt: 'Be brief.' },
    kase: { state, reference: { steps, answer: 'Read: ${t.body} ${t.subject}' }, expects_nothing: true },
  });

  // Recorded, drafted, held against the environment.
  const recorded = await record(root, { suite, agents, models: true }, launch);
  expect(recorded.cassettes.map(({ state: end, why }) => why ?? end)).toEqual(['new']);
  await record(root, { suite }, launch);
  const drafts = join(out, 'drafts');
  await mkdir(join(drafts, 'cases'), { recursive: true });
  await writeFile(
    join(drafts, 'suite.yaml'),
    stringify({ name: 'drafts', environment: 'support-desk', clock: '2026-03-02T09:30:00Z', user: { name: 'mara', role: 'agent' } }),
  );
  await writeFile(join(out, 'chats.jsonl'), chatOf(body, nested));
  const drafted = await importTraces({ files: [join(out, 'chats.jsonl')], suite: drafts });
  expect(drafted.drafts).toMatchObject([{ state: 'drafted', interactions: 1 }]);
  const contract = await checkContract(root, { suite, sample: '1' }, workFor);
  const printed = { 'recorded.json': recorded, 'drafted.json': drafted, 'contract.json': contract };
  await mkdir(join(out, 'printed'));
  for (const [name, value] of Object.entries(printed)) await writeFile(join(out, 'printed', name), JSON.stringify(value));

  // Run, shown, reported, traced, compared, exported.
  const handle = await run(root, { suite, agents: [...agents, 'reference'], keep: 'always' }, worker.broken);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials.map(({ ending }) => ending)).toEqual(['completed', 'completed']);
  const bed = trialbedOver(root, async () => {});
  const shown = join(out, 'shown');
  await mkdir(shown);
  await writeBatchReport(bed, { batch: handle.id, folder: join(shown, 'report') });
  for (const { trial } of trials) {
    await writeTrace(bed, { trial, folder: shown });
    await writeFile(join(shown, `show-${trial}.json`), JSON.stringify(await bed.show(trial)));
    await bed.snapshots.export(trial, join(shown, `snapshot-${trial}`));
  }
  const comparison = await bed.compare({ a: { batch: handle.id, agent: 'reference' }, b: { batch: handle.id, agent: 'agent' } });
  await writeComparison(comparison, { html: join(shown, 'comparison.html'), markdown: join(shown, 'comparison.md') });
  await writeFile(join(shown, 'comparison.json'), JSON.stringify(comparison));
  await writeFile(join(shown, 'validated.json'), JSON.stringify(await validate(root, suite, { mutants: false }, workFor)));

  const kept = await plantedUnder(out, PLANTED);
  // What a cassette or a draft is, and what is printed of it, holds nothing of it.
  const clean = (await filesUnder(out)).filter((file) => /\/(?:cassettes|drafts|printed)\//.test(file));
  expect(clean.length).toBeGreaterThanOrEqual(7);
  // An address that the case names itself, here in its state, is no secret beside it; of a draft the case is redacted too.
  const named = (line: string) => line.includes('/desk/cassettes/') && line.endsWith(`: ${CONTENT.mail}`);
  expect(kept.filter((line) => !named(line) && clean.some((file) => line.startsWith(`${file}:`)))).toEqual([]);
  // What is known by reference is in no file, nor in what the test bed logs.
  const byReference = [reference, decodeURIComponent(new URL(config.store.url).password)].filter((one) => one.length >= 8);
  expect(await plantedUnder(out, byReference)).toEqual([]);
  expect((await filesUnder(join(config.home, 'logs'))).length).toBeGreaterThan(0);
  expect(await plantedUnder(config.home, [...byReference, ...PLANTED])).toEqual([]);
  // Where personal data stands in clear on a page that people pass on, the page says so.
  const pages = (await filesUnder(shown)).filter((file) => /\.(?:html|md)$/.test(file));
  for (const file of pages) {
    const text = await readFile(file, 'utf8');
    if (plantedIn(Buffer.from(text), [CONTENT.mail]).length > 0) expect(`${file}: ${/in clear/.test(text)}`).toBe(`${file}: true`);
  }
});

function chatOf(body: string, nested: string): string {
  const messages: JsonObject[] = [
    { role: 'user', content: `I wrote: ${body}` },
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_ticket', arguments: '{"ticket_id": 214}' } }] },
    { role: 'tool', tool_call_id: 'a', content: JSON.stringify({ id: 214, body, subject: nested }) },
    { role: 'assistant', content: `You wrote ${body} and ${nested}.` },
  ];
  return `${JSON.stringify({ messages })}\n`;
}

async function filesUnder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
