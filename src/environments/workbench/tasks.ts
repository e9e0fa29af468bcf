import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseCall, parseList } from './calls.ts';
import { columnProblems, firstLine, readRows } from './data.ts';
import { DIRECTORY, DOMAINS, TOOLKITS } from './domains.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import type { Toolkit } from './toolkit.ts';

/** One task of WorkBench: a request and the writes that solve it. */
export interface Task {
  /** Domain, which is the prefix of the task file. */
  readonly domain: string;
  /** Row in that file, from 0. */
  readonly row: number;
  readonly query: string;
  /** The request before names and dates were filled in and before it was paraphrased: tasks of one template are no independent sample. */
  readonly baseTemplate: string;
  /** Parts of the world that the task is about, the directory included. */
  readonly toolkits: readonly Toolkit[];
  readonly gold: readonly GoldCall[];
}

export interface GoldCall {
  readonly tool: string;
  readonly args: { readonly [name: string]: string };
}

/** The data folder is not what WorkBench's is. Lists every problem found; nothing was written. */
export class WorkbenchDataError extends Error {
  override readonly name = 'WorkbenchDataError';
  readonly code = 'workbench_data';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads the tasks of a domain from `queries_and_answers/<domain>_queries_and_answers.csv`.
 * @throws {WorkbenchDataError} for an unknown domain, a missing file or column, and a solution that cannot be read or that no tool takes.
 */
export function readTasks(folder: string, domain: string): readonly Task[] {
  if (!DOMAINS.includes(domain)) throw new WorkbenchDataError([`unknown domain "${domain}"${meant(domain, DOMAINS)}; known are ${DOMAINS.join(', ')}`]);
  const file = join(folder, 'queries_and_answers', `${domain}_queries_and_answers.csv`);
  if (!existsSync(file)) throw new WorkbenchDataError([missing(file)]);
  const wrong = columnProblems(file, firstLine(file), ['query', 'answer', 'base_template', 'domains']);
  if (wrong.length > 0) throw new WorkbenchDataError(wrong);

  const problems: string[] = [];
  const tasks = readRows(file).map((cells, row) => {
    const { query = '', answer = '', base_template: baseTemplate = '', domains = '' } = cells;
    const report = (problem: string): void => void problems.push(`${file}, row ${row}: ${problem}`);
    const toolkits = [DIRECTORY, ...listed(domains, 'domains', report).flatMap((name) => toolkitOf(name, report))];
    const gold = listed(answer, 'answer', report).flatMap((call) => goldCall(call, report));
    return { domain, row, query, baseTemplate, toolkits, gold };
  });
  if (problems.length > 0) throw new WorkbenchDataError(problems);
  return tasks;
}

function listed(text: string, column: string, report: (problem: string) => void): readonly string[] {
  try {
    return parseList(text);
  } catch (error) {
    report(`column "${column}" is no list of strings: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function toolkitOf(name: string, report: (problem: string) => void): Toolkit[] {
  // Rows of several domains shorten this one.
  const toolkit = TOOLKITS[name === 'crm' ? 'customer_relationship_manager' : name];
  if (!toolkit) report(`unknown domain "${name}"${meant(name, Object.keys(TOOLKITS))}`);
  return toolkit ? [toolkit] : [];
}

function goldCall(source: string, report: (problem: string) => void): GoldCall[] {
  const call = parseCall(source);
  if (!call.ok) {
    report(`call ${source}: ${call.problem}`);
    return [];
  }
  const tools = Object.values(TOOLKITS).flatMap((toolkit) => toolkit.tools({ compat: false }));
  const tool = tools.find((candidate) => candidate.name === call.tool);
  const checked = tool?.input.safeParse(call.args);
  if (!tool)
    report(
      `unknown tool "${call.tool}"${meant(
        call.tool,
        tools.map((candidate) => candidate.name),
      )}`,
    );
  else if (checked && !checked.success) report(`call of ${call.tool}: ${checked.error.issues.map((issue) => issue.message).join('; ')}`);
  return [{ tool: call.tool, args: call.args }];
}

function missing(file: string): string {
  const folder = join(file, '..');
  if (!existsSync(folder)) return `folder ${folder} does not exist; name the folder that holds the WorkBench data`;
  const near = nearestName(basename(file), readdirSync(folder));
  return `${file} does not exist${near === null ? '' : ` (there is ${join(folder, near)})`}`;
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null ? '' : ` (did you mean "${near}"?)`;
}
