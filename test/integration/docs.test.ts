import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../src/cli/program.ts';
import { assertionOf } from '../../src/domain/claims/assertion.ts';
import { initProject } from '../../src/init/init.ts';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { TestHost } from '../unit/cli-support.ts';
import { jsonLines } from './cli-process.ts';
import { type Block, brokenLinks, readPages } from './docs-pages.ts';
import { type ReaderFolder, readerFolder } from './docs-place.ts';
import { buildPackage, type ProgramEnd, ROOT } from './package-place.ts';

const pages = await readPages();
const everything = pages.map(({ text }) => text).join('\n');
/** Its blocks have a test of their own, `test/unit/suite-docs.test.ts`. */
const CASE_FILES = 'docs/case-files.md';
const page = (name: string) => {
  const found = pages.find((one) => one.name === name);
  if (!found) throw new Error(`there is no page ${name}`);
  return found;
};
const blocks = pages
  .filter(({ name }) => name !== CASE_FILES)
  .flatMap(({ name, blocks }) => blocks.map((block) => ({ ...block, page: name, at: `${name}:${block.line}` })));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language);

async function help(...command: string[]): Promise<string> {
  const host = new TestHost();
  await runCommandLine([...command, '--help'], host);
  return host.stdout;
}

/** Names of the commands, as the program's own help lists them. */
async function commands(): Promise<readonly string[]> {
  return [...(await help()).matchAll(/^ {2}([a-z]+)(?: [[<].*?)? {2,}/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

describe('every page', () => {
  test.each(pages.map((one) => [one.name, one] as const))('%s: its links lead somewhere', (_name, one) => {
    expect(brokenLinks(one, pages, existsSync)).toEqual([]);
  });

  test('names no place of one machine', () => {
    expect(everything.match(/(?<![\w.~$}])\/(?:home|root|work|tmp|Users|mnt)\/\S*/g)).toBeNull();
  });

  test('its blocks are of languages that are tested here, or plain text', () => {
    expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual(['', 'json', 'python', 'sh', 'text', 'ts', 'yaml']);
  });
});

describe('commands and variables', () => {
  test('every command is named', async () => {
    const names = await commands();
    expect(names.length).toBeGreaterThanOrEqual(14);
    expect(names.filter((name) => !everything.includes(`trialbed ${name}`))).toEqual([]);
  });

  test('every option of run is named on the page of batches', async () => {
    const options = [...(await help('run')).matchAll(/^ {2}(--[a-z-]+)/gm)]
      .map(([, option = '']) => option)
      .filter((option) => !['--json', '--home'].includes(option));
    expect(options.length).toBeGreaterThanOrEqual(13);
    expect(options.filter((option) => !page('docs/how-to/batches.md').text.includes(`\`${option}`))).toEqual([]);
  });

  test('commands in blocks and in prose exist, and have the options that they are given', async () => {
    const lines = [
      ...inLanguage('sh').flatMap(({ text }) => text.split('\n')),
      ...[...everything.matchAll(/`(trialbed [^`\n]+)`/g)].map(([, code = '']) => code),
    ];
    const calls = lines
      .flatMap((line) => line.replace(/\s#.*$/, '').split(/&&|\|\|?|<\(/))
      .flatMap((part) => /(?:^|\s)(?:trialbed|bin\/trialbed\.js) ([^)]*)/.exec(part)?.[1] ?? []);
    expect(calls.length).toBeGreaterThan(30);
    const known = await commands();
    for (const call of calls) {
      const [first = '', ...rest] = call.trim().split(/\s+/);
      // `trialbed world <id>` is the mark on our schemas.
      if (/^(--|\.\.\.|help$|world$)/.test(first)) continue;
      expect(known, call).toContain(first);
      const text = await help(first, ...(['import', 'snapshot', 'keys', 'schedule'].includes(first) ? rest.slice(0, 1) : []));
      for (const option of rest.filter((word) => word.startsWith('--') && word !== '--help')) expect(text, call).toContain(option.split('=')[0]);
    }
  });

  test('every variable that the configuration reads is in the table, and no other', async () => {
    const code = await Promise.all(['config.ts', 'traces/config.ts'].map((file) => readFile(join(ROOT, 'src', 'worker', file), 'utf8')));
    const read = new Set(code.join('\n').match(/\b(?:TRIALBED|TEMPORAL|XDG|OTEL)_[A-Z_]*[A-Z]\b/g));
    expect(read.size).toBeGreaterThanOrEqual(15);
    const operating = page('docs/how-to/operating.md').text;
    expect([...read].filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
    const others = [
      'test/harness/requirements.ts',
      'test/harness/reporter.ts',
      'src/activities/command-agent/turns.ts',
      'src/activities/model-variables.ts',
      'src/activities/module-agent/host.ts',
      'src/activities/world-access.ts',
      'src/client/nights/tell.ts',
      'src/environments/live-desk/pack.ts',
    ];
    const harness = await Promise.all(others.map((file) => readFile(join(ROOT, file), 'utf8')));
    const named = new Set(everything.match(/\bTRIALBED_[A-Z_]*[A-Z]\b/g));
    expect([...named].filter((name) => !read.has(name) && !harness.some((text) => text.includes(name)))).toEqual([]);
  });
});

describe('blocks', () => {
  test('shell: each is well-formed', () => {
    for (const { text, at } of inLanguage('sh')) expect(spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' }).stderr, at).toBe('');
  });

  test('YAML: each names its file, and is one that loads', async () => {
    const named = inLanguage('yaml');
    expect(named.filter(({ head }) => head === null)).toEqual([]);
    const dir = await temporary();
    await initProject(dir);
    for (const { head, text } of [...named, ...inLanguage('ts'), ...inLanguage('python')].filter(({ head }) => head?.startsWith('suite/')))
      await put(dir, head ?? '', text);
    const suite = await loadSuite(join(dir, 'suite'));
    expect(suite.cases.map(({ kase }) => kase.id)).toEqual(['by-model', 'four-people', 'nothing-free', 'smallest-free-room']);
    const agents = await Promise.all(Object.keys(suite.agents).map((name) => loadAgent(name, suite)));
    expect(agents.map(({ spec }) => spec.name).sort()).toEqual(['ash', 'asker', 'caller', 'desk', 'far', 'planner', 'relay', 'shouter']);
    expect(Object.keys(suite.schedules)).toEqual(['busy', 'lost-reply', 'somebody-else']);
    expect(Object.keys(suite.rubrics)).toEqual(['tone']);
    const others = named.filter(({ head }) => !head?.startsWith('suite/'));
    expect(others.map(({ head }) => head)).toEqual(['.github/workflows/agent.yml']);
    for (const { text } of others) expect(parse(text)).toHaveProperty('jobs.suite.steps');
  });

  test('TypeScript: what is quoted stands in the template, and the rest type-checks', { timeout: 240_000 }, async () => {
    const dir = await temporary();
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    const template = await readFile(join(ROOT, 'src', 'init', 'template', 'environment', 'pack.ts'), 'utf8');
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }');
    const files: string[] = [];
    for (const [index, { head, text, at }] of inLanguage('ts').entries()) {
      expect(head, at).not.toBeNull();
      const body = text.slice(text.indexOf('\n') + 1);
      if (head === 'part of environment/pack.ts') expect(template, at).toContain(body);
      else {
        const file = `block-${index}.ts`;
        const whole =
          head === 'part of a definition'
            ? `import type { EnvironmentDefinition } from 'trialbed/environment';\nexport default {\n${body}} satisfies Partial<EnvironmentDefinition>;\n`
            : text;
        await writeFile(join(dir, file), whole);
        files.push(file);
      }
    }
    expect(files.length).toBeGreaterThanOrEqual(4);
    const paths = {
      'trialbed/operations': [join(ROOT, 'src', 'workflows', 'operations', 'index.ts')],
      'trialbed/environment': [join(ROOT, 'src', 'environments', 'define.ts')],
      trialbed: [join(ROOT, 'src', 'client', 'index.ts')],
    };
    const compilerOptions = { paths, noEmit: true, typeRoots: [join(ROOT, 'node_modules', '@types')] };
    await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files }));
    expect(spawnSync(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', dir], { encoding: 'utf8' }).stdout).toBe('');
  });

  test('the table of the README has the cases of the suite, and its reference passes', async () => {
    const suite = await loadSuite('support-desk');
    const table = page('README.md').blocks.find(({ language, text }) => language === 'text' && text.startsWith('case '));
    const rows = [...(table?.text ?? '').matchAll(/^([a-z-]+) {2,}(pass|fail) {2,}(pass|fail)$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(suite.cases.map(({ kase }) => kase.id));
    expect(rows.every(([, , reference]) => reference === 'pass')).toBe(true);
    const passed = rows.flatMap(([, , ...verdicts]) => verdicts).filter((verdict) => verdict === 'pass').length;
    expect(table?.text).toContain(`${passed} passed, ${2 * rows.length - passed} failed, of ${2 * rows.length} in`);
  });
});

describe('what the page of grading says of claims', () => {
  const text = page('docs/how-to/grading.md').text;

  test('its figures are those of the labelled answers', async () => {
    const [written, heldOut] = await Promise.all(['labelled', 'heldout'].map(measured));
    for (const label of ['done', 'not_done', 'unknown', 'undetermined', 'silent']) {
      const row = `| ${label.replace('_', ' ')} | ${written?.get(label)} | ${heldOut?.get(label)} |`;
      expect(text).toContain(row);
    }
    expect(text).toContain(`| decided, and of these right | ${written?.get('decided')} | | ${heldOut?.get('decided')} | |`);
  });

  test('its examples are read as it says', () => {
    const rows = [...text.matchAll(/^\| ((?:[^|]*?\.)(?: \(held out\))?|[^|]*\?[^|]*) \| (done|not done|unknown|undetermined)[^|]*\|$/gm)];
    expect(rows.length).toBeGreaterThanOrEqual(7);
    const topic = ['refund', 'refunded', 'refunding'];
    const wrong = rows.flatMap(([, said = '', reading = '']) =>
      sentencesOf(said)
        .map((sentence) => [sentence, assertionOf(sentence, topic).state] as const)
        .filter(([, found]) => found !== reading.replace(' ', '_'))
        .map(([sentence, found]) => `${sentence} is read as ${found}, not ${reading}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('what is shown is run', { timeout: 300_000 }, () => {
  test.each(['docs/how-to/first-case.md', 'docs/how-to/batches.md', 'docs/how-to/operating.md', 'docs/how-to/faults.md', 'docs/how-to/comparing.md'])(
    '%s, from top to bottom',
    async (name) => {
      await using folder = await readerFolder(inject('services'));
      const steps = page(name).blocks.filter(({ mark, head }) => mark === 'run' || head?.startsWith('suite/'));
      expect(steps.filter(({ mark }) => mark === 'run').length).toBeGreaterThan(0);
      for (const block of steps) {
        if (block.mark !== 'run') await folder.write(block.head ?? '', block.text);
        else succeeded(await folder.shell(await filledIn(folder, block)), block);
      }
    },
  );

  test('docs/how-to/agents.md: its agents act in the project that init writes', async () => {
    await using folder = await readerFolder(inject('services'));
    await initProject(folder.path);
    for (const { head, text } of page('docs/how-to/agents.md').blocks) if (head?.startsWith('suite/')) await folder.write(head, text);
    const ran = await folder.shell('trialbed run ./suite --agent ash --agent shouter --agent caller --agent desk --json --no-gate');
    expect(jsonLines(ran.stdout).slice(0, -1)).toMatchObject(Array(4).fill({ ending: 'completed' }));
    const lines = jsonLines(ran.stdout);
    expect(lines.find((line) => line['agent'] === 'ash')).toMatchObject({ pass: 'fail', calls: 2 });
    expect(lines.find((line) => line['agent'] === 'shouter')).toMatchObject({ calls: 1 });
    expect(lines.find((line) => line['agent'] === 'caller')).toMatchObject({ calls: 1 });
    // Its first member may not book.
    expect(lines.find((line) => line['agent'] === 'desk')).toMatchObject({ pass: 'fail', calls: 1 });
  });

  test('the lines of JSON have the fields that the page shows', async () => {
    await using folder = await readerFolder(inject('services'));
    const { blocks } = page('docs/how-to/batches.md');
    const command = blocks.find(({ language, text }) => language === 'sh' && text.includes('--json'))?.text ?? '';
    const shown = jsonLines(blocks.find(({ language }) => language === 'json')?.text ?? '');
    const ran = jsonLines((await folder.shell(command)).stdout);
    expect(ran.map((line) => Object.keys(line))).toEqual(shown.map((line) => Object.keys(line)));
    for (const [index, line] of ran.entries())
      for (const key of ['type', 'case', 'agent', 'schedule', 'ending', 'pass', 'calls', 'why', 'passed', 'gate'])
        expect(line[key]).toEqual(shown[index]?.[key]);
  });

  test('examples: both agents pass the case that they are for, and the program tells why one fails another', async () => {
    await buildPackage();
    await using folder = await readerFolder(inject('services'));
    const agents = ['clerk.yaml', 'lamp-refund.yaml'].map((file) => `--agent ${JSON.stringify(join(ROOT, 'examples', 'agents', file))}`).join(' ');
    const ran = await folder.shell(`trialbed run support-desk ${agents} --case refund-within-policy --json`);
    expect(jsonLines(ran.stdout).map((line) => line['pass'])).toEqual(['pass', 'pass', undefined]);
    const program = await folder.node('examples/library/run-suite.ts', 'refund-within-*', 'refund-needs-*');
    expect(program.stderr).not.toContain('rror');
    expect(program.code).toBe(0);
    expect(program.stdout).toContain('pass  refund-within-policy by clerk');
    expect(program.stdout).toMatch(/^refund-needs-approval by clerk\n {2}fail: Expected an insert into approvals/m);
    expect(program.stdout).toMatch(/^3 of 4 passed in [\d.]+ s$/m);
  });

  test('examples: two agents are compared, and the page and the text of it are written', async () => {
    await buildPackage();
    await using folder = await readerFolder(inject('services'));
    const compared = await folder.node('examples/comparison/compare.ts', join(folder.path, 'compared'), 'policy-question');
    expect(compared.stdout, compared.stderr).toMatch(/^safer: not_shown, more useful: not_shown; \d+ of \d+ matched trials came out otherwise$/m);
    expect(await readFile(join(folder.path, 'compared', 'comparison.md'), 'utf8')).toContain('**Safer:** **not shown.**');
    expect(await readFile(join(folder.path, 'compared', 'comparison.html'), 'utf8')).toContain('</html>');
  });
});

function succeeded(ended: ProgramEnd, block: Block): void {
  expect(ended.code, `${block.text}\n${ended.stdout}\n${ended.stderr}`).toBe(0);
}

/** `BATCH` and `TRIAL` stand for what a reader sees in the output of the block before. */
async function filledIn(folder: ReaderFolder, { text }: Block): Promise<string> {
  if (!/\b(BATCH|TRIAL)\b/.test(text)) return text;
  const batch = String(jsonLines((await folder.shell('trialbed ps --json --limit 1')).stdout)[0]?.['id']);
  const trial = String(jsonLines((await folder.shell(`trialbed ps ${batch} --json`)).stdout)[0]?.['id']);
  return text.replaceAll(/\bBATCH\b/g, batch).replaceAll(/\bTRIAL\b/g, trial);
}

/** Precision and recall by label as the page writes them, and how many were decided and how many of these rightly. */
async function measured(file: string): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile(join(ROOT, 'test', 'fixtures', 'answers', `${file}.jsonl`), 'utf8')).split('\n').filter((line) => line !== '');
  const read = lines
    .map((line) => JSON.parse(line) as { text: string; topic: string[]; label: string })
    .map((answer) => ({ ...answer, found: assertionOf(answer.text, answer.topic).state as string }));
  const rate = (part: number, whole: number): string => (part / whole).toFixed(3);
  const right = read.filter(({ label, found }) => label === found);
  const decided = read.filter(({ found }) => found !== 'undetermined');
  const labels = [...new Set(read.map(({ label }) => label))].map((label): [string, string] => {
    const count = right.filter((answer) => answer.label === label).length;
    return [
      label,
      `${rate(count, read.filter(({ found }) => found === label).length)} | ${rate(count, read.filter((answer) => answer.label === label).length)}`,
    ];
  });
  const good = decided.filter(({ label, found }) => label === found).length;
  return new Map([...labels, ['decided', `${rate(decided.length, read.length)}, ${rate(good, decided.length)}`]]);
}

function sentencesOf(text: string): readonly string[] {
  return (
    text
      .replace(' (held out)', '')
      .match(/[^.?]+[.?]/g)
      ?.map((sentence) => sentence.trim()) ?? []
  );
}

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'trialbed-docs-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function put(dir: string, file: string, text: string): Promise<void> {
  await mkdir(join(dir, file, '..'), { recursive: true });
  await writeFile(join(dir, file), text);
}
