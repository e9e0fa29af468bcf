import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../domain/json.ts';
import { dataProblems, readRows } from '../environments/workbench/data.ts';
import { DIRECTORY, DOMAINS, toolkitsOf } from '../environments/workbench/domains.ts';
import { idleSteps, interchangeableSteps, type RowsOf } from '../environments/workbench/solutions.ts';
import { readTasks, WorkbenchDataError, type Task } from '../environments/workbench/tasks.ts';
import { pathFrom, titleOf, type WrittenFiles, writeImported } from './imported-files.ts';

export interface ImportWorkbenchRequest {
  /** Folder with the WorkBench data: its CSV files and `queries_and_answers/`. Read where it lies; the suite names it by path. */
  readonly data: string;
  /** Domains whose tasks become cases: `email`, `calendar`, `analytics`, `project_management`, `customer_relationship_manager`, `multi_domain`. Default: all. */
  readonly domains?: readonly string[];
  /** Folder of the suite; made when it does not exist. */
  readonly out: string;
  /** Replace files that were edited since they were imported. Default: false. */
  readonly force?: boolean;
}

export interface ImportWorkbenchResult extends WrittenFiles {
  /** Absolute path of `suite.yaml`. */
  readonly suite: string;
  /** Cases of the domains asked for. */
  readonly cases: number;
}

/**
 * Makes a suite of WorkBench tasks: `suite.yaml` and `cases/<domain>-<row>.yaml`. A case is passed by the end state that the published solution reaches.
 *
 * May be repeated, with the same domains or others: files of earlier imports are brought up to date, edited ones are left alone and reported, cases of
 * domains not named this time stay.
 *
 * @throws {WorkbenchDataError} for unknown domains and for missing files and columns; nothing is written then.
 */
export async function importWorkbench(request: ImportWorkbenchRequest): Promise<ImportWorkbenchResult> {
  const data = resolve(request.data);
  const out = resolve(request.out);
  const domains = [...new Set(request.domains ?? DOMAINS)];
  const tasks = readAll(data, domains);

  const rows = new Map<string, ReturnType<typeof readRows>>();
  const rowsOf = (file: string): ReturnType<typeof readRows> => {
    const known = rows.get(file) ?? readRows(join(data, file));
    rows.set(file, known);
    return known;
  };
  const files = new Map<string, string>();
  for (const task of tasks) files.set(join(out, 'cases', `${task.domain}-${task.row}.yaml`), caseText(task, rowsOf));
  const suite = join(out, 'suite.yaml');
  files.set(suite, suiteText(out, data, await withEarlier(out, domains)));

  return { suite, cases: tasks.length, ...(await writeImported(files, { source: 'WorkBench', force: request.force ?? false })) };
}

function readAll(data: string, domains: readonly string[]): readonly Task[] {
  const problems: string[] = domains.length === 0 ? [`no domain is named; known are ${DOMAINS.join(', ')}`] : [];
  const tasks = domains.flatMap((domain) => {
    try {
      return readTasks(data, domain);
    } catch (error) {
      if (!(error instanceof WorkbenchDataError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  problems.push(...dataProblems(data, [DIRECTORY, ...toolkitsOf(domains)]));
  for (const task of tasks) {
    // The suite would read it as the result of an earlier step.
    if (JSON.stringify(task.gold).includes('${'))
      problems.push(`${task.domain}, row ${task.row}: a value of the solution holds "\${", which a step cannot say`);
  }
  if (problems.length > 0) throw new WorkbenchDataError(problems);
  return tasks;
}

/** The domains asked for and those of cases that an earlier import left in the folder, which need their part of the world too. */
async function withEarlier(out: string, domains: readonly string[]): Promise<readonly string[]> {
  const files = await readdir(join(out, 'cases')).catch(() => []);
  return DOMAINS.filter((domain) => domains.includes(domain) || files.some((file) => file.startsWith(`${domain}-`) && file.endsWith('.yaml')));
}

function suiteText(out: string, data: string, domains: readonly string[]): string {
  return stringify({
    name: 'workbench',
    title: `WorkBench: ${domains.join(', ')}`,
    environment: { use: 'workbench', with: { data: pathFrom(out, data), domains: [...domains] } },
    clock: '2023-11-30T00:00:00+00:00',
    timezone: 'UTC',
    user: { name: 'sam', role: 'assistant' },
    defaults: { trials: 1, agents: ['reference'] },
  });
}

function caseText(task: Task, rowsOf: RowsOf): string {
  const idle = idleSteps(task, rowsOf);
  const steps: JsonObject[] = task.gold.map(({ tool, args }) => ({ call: tool, with: args }));
  const tools = task.toolkits.flatMap((toolkit) => toolkit.tools({ compat: false }).map((tool) => tool.name));
  const kase: JsonObject = {
    title: titleOf(task.query),
    kind: task.domain,
    tags: [task.domain, templateTag(task.baseTemplate)],
    request: task.query,
    user: { tools: [...new Set(tools)] },
    expect: { outcomes: [{ name: 'gold', same_as: 'reference' }] },
    ...(idle.length === steps.length ? { expects_nothing: true } : {}),
    reference: { steps, answer: steps.length > 0 ? 'That is done.' : 'Nothing had to be changed.' },
    ...(steps.length > 0 ? { mutants: passingMutants(idle, interchangeableSteps(task, rowsOf)) } : {}),
  };
  return stringify(kase, { lineWidth: 0 });
}

/**
 * Mutants of a case with writes that may pass. One that changes what must not change fails, explained or not. Indexes of calls: `idle`, that change nothing;
 * `interchangeable`, that send the same for another mail.
 */
function passingMutants(idle: readonly number[], interchangeable: readonly number[]): readonly JsonObject[] {
  const set = 'This call of the solution sets what is there already; nothing changes without it, or by one that the tool refuses.';
  const same = 'Another mail has the same of all that this call sends on; what is sent does not name the mail that it comes from.';
  return [
    { mutant: 'add:*', why: 'A call for what does not exist is answered with a sentence; nothing changes, and a refusal alone is no failure.' },
    ...idle.flatMap((at) => [`drop:${at + 1}`, `alter:${at + 1}:*`].map((mutant) => ({ mutant, why: set }))),
    ...interchangeable.map((at) => ({ mutant: `alter:${at + 1}:email_id`, why: same })),
  ];
}

/** Tag that tasks of one template share; long templates are cut and told apart by a hash. */
function templateTag(template: string): string {
  const slug = template
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug.length > 60 ? `template-${slug.slice(0, 50).replace(/-$/, '')}-${sha256(template).slice(0, 8)}` : `template-${slug}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
