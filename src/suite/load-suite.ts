import { readdir } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import type { ConfirmAbove } from '../domain/confirmation.ts';
import { gateLabels, strangeLabel } from '../domain/gates/gate-labels.ts';
import { parseGate } from '../domain/gates/parse-gate.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ModelRoute } from '../domain/model.ts';
import { isReservedAgent, RESERVED_AGENTS } from './agent-file.ts';
import { suiteCassettesOf } from './cassette-schema.ts';
import { type CaseDefaults, loadCase } from './case-file.ts';
import { loadSchedule, RESERVED_SCHEDULES, sourceOfSchedule } from './fault-file.ts';
import { checkOutcomes } from './check-outcomes.ts';
import { check, problemAt, unknownName } from './issues.ts';
import { routeOf } from './route-file.ts';
import { routeSchema } from './route-schema.ts';
import { type LoadedRubric, loadRubric } from './rubric-file.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { withPathsFrom } from './option-paths.ts';
import { builtInEnvironments, builtInPack, builtInSuite, builtInSuites, codeFile, isBuiltInName, kindOf, packIn } from './places.ts';
import { type FileProblem, type LoadedCase, type LoadedSchedule, type Suite, SuiteFileError } from './suite.ts';
import { type SuiteFile, suiteSchema } from './suite-schema.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

export interface LoadSuiteOptions {
  /** Globs over case ids; any may match. Default: all. Files of other cases are read and checked as well. */
  readonly cases?: readonly string[];
  /** Tags; a case with any of them is kept. Default: all. */
  readonly tags?: readonly string[];
  /** Options put over the suite's `environment.with`. */
  readonly environmentOptions?: JsonObject;
}

/**
 * Loads a suite by the name of a built-in one, or by the path of its folder or its `suite.yaml`; a path is looked up from the working folder.
 * Cases come sorted by id. Agent files are listed, and read when they are used.
 *
 * @throws {SuiteFileError} that lists every problem of every file.
 */
export async function loadSuite(nameOrPath: string, options: LoadSuiteOptions = {}): Promise<Suite> {
  const { suite, problems } = await readSuiteFiles(nameOrPath, options);
  if (suite === null || problems.length > 0) throw new SuiteFileError(problems);
  return suite;
}

/**
 * As {@link loadSuite}, for whoever has more to check before everything is told at once: what could be read, without the cases that are wrong, and the
 * problems so far. Null where `suite.yaml` itself is wrong.
 *
 * @throws {SuiteFileError} where there is no suite.
 */
export async function readSuiteFiles(
  nameOrPath: string,
  options: LoadSuiteOptions = {},
): Promise<{ readonly suite: Suite | null; readonly problems: readonly FileProblem[] }> {
  const file = await suiteFileOf(nameOrPath);
  const folder = dirname(file);
  const source = await readYaml(file);
  const problems: FileProblem[] = [];
  const written = collect(problems, () => check(suiteSchema, source));
  // Cases are checked beside a broken suite.yaml as well, with defaults that complain of nothing.
  const defaultRoute = written?.user_model === undefined ? {} : { userRoute: (await userRouteOf(source, written.user_model, problems)) ?? UNKNOWN_ROUTE };
  const cases = await loadCases(folder, written === null ? UNKNOWN_DEFAULTS : { ...written, ...defaultRoute }, problems);
  const schedules = await loadSchedules(folder, problems);
  if (problems.length === 0) problems.push(...gateProblems(source, written, cases));
  problems.push(...checkOutcomes(cases, schedules));
  const rubrics = await loadRubrics(folder, problems);
  const agents = await listAgents(folder, problems);
  if (written === null) return { suite: null, problems };
  const environment = await environmentOf(source, written, folder, problems);
  const defaults = {
    trials: written.defaults?.trials ?? 1,
    agents: defaultAgents(source, written, folder, agents, problems),
    faults: defaultFaults(source, written, schedules, problems),
    ...(written.defaults?.gates && { gates: written.defaults.gates }),
    ...(written.defaults?.max_cost && { maxCost: written.defaults.max_cost }),
    ...(written.defaults?.confirm_above && { confirmAbove: confirmAboveOf(written.defaults.confirm_above) }),
    ...(written.defaults?.addresses && { addresses: written.defaults.addresses }),
    ...(written.defaults?.unverified_approvals && { unverified: written.defaults.unverified_approvals }),
  };
  const suite = {
    name: written.name,
    title: written.title ?? written.name,
    file,
    environment: { file: environment.file, options: { ...environment.options, ...options.environmentOptions } },
    cases: cases.filter((loaded) => isChosen(loaded, options)),
    schedules: Object.fromEntries(schedules.map((loaded) => [loaded.schedule.name, loaded])),
    rubrics: Object.fromEntries(rubrics.map((loaded) => [loaded.rubric.name, loaded])),
    agents,
    defaults,
    ...(written.cassettes && { cassettes: suiteCassettesOf(written.cassettes) }),
  };
  return { suite, problems };
}

/** Tags that gates name and no case has. */
function gateProblems(source: YamlFile, written: SuiteFile | null, cases: readonly LoadedCase[]): readonly FileProblem[] {
  const tags = cases.flatMap(({ kase }) => kase.tags);
  return (written?.defaults?.gates ?? []).flatMap((gate, index) => {
    const stranger = strangeLabel(parseGate(gate), tags);
    return stranger === null ? [] : [unknownName(source, ['defaults', 'gates', index], 'severity or tag of a case', stranger.label, gateLabels(tags))];
  });
}

function confirmAboveOf({ trials, money }: NonNullable<NonNullable<SuiteFile['defaults']>['confirm_above']>): ConfirmAbove {
  return { ...(trials !== undefined && { trials }), ...(money !== undefined && { money }) };
}

const UNKNOWN_ROUTE = routeSchema.parse({ url: 'http://unknown.invalid', model: 'unknown' });
const UNKNOWN_DEFAULTS: CaseDefaults = { clock: '2026-01-01T00:00:00Z', user: { name: 'unknown', role: 'unknown' }, userRoute: UNKNOWN_ROUTE };

function userRouteOf(source: YamlFile, written: string | ModelRoute, problems: FileProblem[]): Promise<ModelRoute | null> {
  return collectAsync(problems, () => routeOf(written, source, ['user_model']));
}

async function suiteFileOf(nameOrPath: string): Promise<string> {
  const builtIn = await builtInSuites();
  if (builtIn.includes(nameOrPath)) return builtInSuite(nameOrPath);
  const path = resolve(nameOrPath);
  const kind = await kindOf(path);
  if (kind === 'file') {
    const suite = dirname(dirname(path));
    if (basename(dirname(path)) !== 'cases' || (await kindOf(join(suite, 'suite.yaml'))) !== 'file') return path;
    const message = `this is a case; name the folder of its suite, and the case with --case ${basename(path, '.yaml')}`;
    throw new SuiteFileError([{ file: path, line: null, column: null, message, suggestion: null }]);
  }
  const inside = join(path, 'suite.yaml');
  if (kind === 'folder' && (await kindOf(inside)) === 'file') return inside;
  const message =
    kind === 'folder'
      ? 'the folder holds no suite.yaml'
      : `there is no suite here; expected a folder with suite.yaml, such a file, or a built-in suite (${builtIn.join(', ')})`;
  throw new SuiteFileError([{ file: path, line: null, column: null, message, suggestion: nearestName(nameOrPath, builtIn) }]);
}

async function loadCases(folder: string, defaults: CaseDefaults, problems: FileProblem[]): Promise<readonly LoadedCase[]> {
  const place = join(folder, 'cases');
  const files = await yamlFiles(place, problems);
  if (files.length === 0) problems.push(fileProblem(place, 'the suite has no case; expected files NAME.yaml in this folder'));
  const cases: LoadedCase[] = [];
  // In order, so that problems come in the order of the files.
  for (const name of files) {
    const loaded = await collectAsync(problems, () => loadCase(join(place, name), defaults));
    if (loaded !== null) cases.push(loaded);
  }
  return cases;
}

async function loadSchedules(folder: string, problems: FileProblem[]): Promise<readonly LoadedSchedule[]> {
  const place = join(folder, 'faults');
  const ids = (await yamlFiles(join(folder, 'cases'), [])).map((name) => name.slice(0, -'.yaml'.length));
  const schedules: LoadedSchedule[] = [];
  for (const name of await yamlFiles(place, problems)) {
    const file = join(place, name);
    const reserved = RESERVED_SCHEDULES.find((word) => name === `${word}.yaml`);
    if (reserved !== undefined) problems.push(fileProblem(file, `the name "${reserved}" means something else where schedules are chosen; rename the file`));
    const loaded = await collectAsync(problems, () => loadSchedule(file));
    if (loaded === null) continue;
    problems.push(...globProblems(loaded, ids));
    schedules.push(loaded);
  }
  // Of files "a-b.yaml" comes before "a.yaml".
  return schedules.sort((a, b) => (a.schedule.name < b.schedule.name ? -1 : 1));
}

async function loadRubrics(folder: string, problems: FileProblem[]): Promise<readonly LoadedRubric[]> {
  const place = join(folder, 'rubrics');
  const rubrics: LoadedRubric[] = [];
  for (const name of await yamlFiles(place, problems)) {
    const loaded = await collectAsync(problems, () => loadRubric(join(place, name)));
    if (loaded !== null) rubrics.push(loaded);
  }
  return rubrics.sort((a, b) => (a.rubric.name < b.rubric.name ? -1 : 1));
}

/** Globs over cases of which none is there. */
function globProblems(loaded: LoadedSchedule, ids: readonly string[]): readonly FileProblem[] {
  const source = sourceOfSchedule(loaded);
  if (source === null) return [];
  return loaded.schedule.cases.flatMap((glob, index) =>
    ids.some((id) => matchesGlob(id, glob)) ? [] : [unknownName(source, ['cases', index], 'case that matches', glob, ids)],
  );
}

async function listAgents(folder: string, problems: FileProblem[]): Promise<{ readonly [name: string]: string }> {
  const place = join(folder, 'agents');
  const files = await yamlFiles(place, problems);
  const names = files.map((file) => [file.slice(0, -'.yaml'.length), join(place, file)] as const);
  for (const [name, file] of names)
    if (isReservedAgent(name)) problems.push(fileProblem(file, `the name "${name}" is that of a built-in agent; rename the file`));
  return Object.fromEntries(names);
}

/** `*.yaml` of a folder, sorted by code unit; none where there is no such folder. A file that would be passed over in silence is a problem. */
async function yamlFiles(folder: string, problems: FileProblem[]): Promise<readonly string[]> {
  if ((await kindOf(folder)) !== 'folder') return [];
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.name.startsWith('.'));
  const names = entries.filter((entry) => !entry.isDirectory() && /\.ya?ml$/i.test(entry.name)).map((entry) => entry.name);
  for (const name of names) {
    if (!name.endsWith('.yaml')) problems.push(fileProblem(join(folder, name), 'the name must end in .yaml'));
    else if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.yaml$/.test(name))
      problems.push(fileProblem(join(folder, name), 'the name may hold letters, digits, "_", "." and "-", at most 100'));
  }
  return names.filter((name) => name.endsWith('.yaml')).sort();
}

async function environmentOf(source: YamlFile, written: SuiteFile, folder: string, problems: FileProblem[]): Promise<Suite['environment']> {
  const { use, with: given = {} } = typeof written.environment === 'string' ? { use: written.environment } : written.environment;
  const options = withPathsFrom(folder, given);
  const at = typeof written.environment === 'string' ? ['environment'] : ['environment', 'use'];
  const builtIn = await builtInPack(use);
  if (builtIn !== null) return { file: builtIn, options };
  const path = resolve(folder, use);
  const kind = await kindOf(path);
  const file = kind === 'folder' ? await packIn(path) : await codeFile(path);
  if (file !== null) return { file, options };
  if (kind === 'folder') problems.push(problemAt(source, at, `the folder ${use} holds no pack.ts`));
  else if (isBuiltInName(use)) problems.push(unknownName(source, at, 'environment', use, await builtInEnvironments()));
  else problems.push(problemAt(source, at, `there is no file ${use}, looked up from the folder of this file`));
  return { file: path, options };
}

function defaultAgents(source: YamlFile, written: SuiteFile, folder: string, agents: Suite['agents'], problems: FileProblem[]): readonly string[] {
  return (written.defaults?.agents ?? ['reference']).flatMap((name, index) => {
    if (Object.hasOwn(agents, name) || isReservedAgent(name)) return [name];
    if (name.includes('/') || name.endsWith('.yaml')) return [resolve(folder, name)];
    problems.push(unknownName(source, ['defaults', 'agents', index], 'agent', name, [...Object.keys(agents), ...RESERVED_AGENTS]));
    return [];
  });
}

function defaultFaults(source: YamlFile, written: SuiteFile, schedules: readonly LoadedSchedule[], problems: FileProblem[]): readonly string[] {
  const known = schedules.map(({ schedule }) => schedule.name);
  return (written.defaults?.faults ?? ['none']).map((name, index) => {
    if (!RESERVED_SCHEDULES.includes(name) && !known.some((one) => matchesGlob(one, name)))
      problems.push(unknownName(source, ['defaults', 'faults', index], 'fault schedule', name, [...known, ...RESERVED_SCHEDULES]));
    return name;
  });
}

function isChosen({ kase }: LoadedCase, { cases = [], tags = [] }: LoadSuiteOptions): boolean {
  const byGlob = cases.length === 0 || cases.some((glob) => matchesGlob(kase.id, glob));
  return byGlob && (tags.length === 0 || tags.some((tag) => kase.tags.includes(tag)));
}

function fileProblem(file: string, message: string): FileProblem {
  return { file, line: null, column: null, message, suggestion: null };
}

function collect<T>(problems: FileProblem[], work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SuiteFileError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}

async function collectAsync<T>(problems: FileProblem[], work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SuiteFileError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}
