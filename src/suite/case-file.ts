import { basename } from 'node:path';
import type { Budget, Case, PermissionContext } from '../domain/case.ts';
import { SIMULATED_TURNS, type SimulatedUser } from '../domain/conversation/simulated-user.ts';
import type { ModelRoute } from '../domain/model.ts';
import { type CaseFile, caseSchema } from './case-schema.ts';
import { checkSolution } from './check-solution.ts';
import { caseHash } from './identity.ts';
import { simulatedUser } from './conversation-schema.ts';
import { check, inOrder, problemAt } from './issues.ts';
import { reviewProblems } from './review-schema.ts';
import { routeOf } from './route-file.ts';
import { type FileProblem, type LoadedCase, SuiteFileError } from './suite.ts';
import type { SuiteFile } from './suite-schema.ts';
import { type Path, pathOf, readYaml, type YamlFile } from './yaml-file.ts';

/** What a suite says for cases that do not say otherwise. */
export type CaseDefaults = Pick<SuiteFile, 'clock' | 'timezone' | 'budget' | 'user' | 'approver'> & {
  /** The way to the model that speaks as the user, in cases that name none. */
  readonly userRoute?: ModelRoute;
};

/** Without a word in case or suite. */
const CALLS = 30;
const WALL_MS = 5 * 60_000;

const SOURCES = new WeakMap<LoadedCase, YamlFile>();

/** Reads one case file. Its id is its name without `.yaml`. @throws {SuiteFileError} that lists everything that is wrong with it. */
export async function loadCase(file: string, defaults: CaseDefaults): Promise<LoadedCase> {
  const source = await readYaml(file);
  const written = check(caseSchema, source);
  refuse([...problemsIn(source, written, defaults), ...reviewProblems(source, written.review)]);
  const kase = await caseIn(source, written, defaults);
  const loaded: LoadedCase = { kase, file, hash: caseHash(kase), lineOf: (path) => source.at(writtenPath(pathOf(path), written)).line };
  SOURCES.set(loaded, source);
  return loaded;
}

/** A draft as the case that it would be, its open questions aside. @throws {SuiteFileError} that lists everything else that is wrong with it. */
export async function draftedCase(source: YamlFile, defaults: CaseDefaults): Promise<Case> {
  const written = check(caseSchema, source);
  refuse(problemsIn(source, written, defaults));
  return caseIn(source, written, defaults);
}

function refuse(problems: readonly FileProblem[]): void {
  if (problems.length > 0) throw new SuiteFileError(inOrder(problems));
}

function problemsIn(source: YamlFile, written: CaseFile, defaults: CaseDefaults): readonly FileProblem[] {
  return [
    ...checkNames(source, written),
    ...checkSolution(source, ['reference'], written.reference),
    ...checkTurns(source, written, defaults),
    ...checkComplete(source, written, defaults),
  ];
}

async function caseIn(source: YamlFile, written: CaseFile, defaults: CaseDefaults): Promise<Case> {
  return caseOf(basename(source.file, '.yaml'), written, defaults, await conversationOf(source, written, defaults));
}

/** The file that a case was read from, with the places of its parts. */
export function sourceOf(loaded: LoadedCase): YamlFile | null {
  return SOURCES.get(loaded) ?? null;
}

function caseOf(id: string, written: CaseFile, defaults: CaseDefaults, conversation: SimulatedUser | null): Case {
  const { expect, reference } = written;
  const turns = written.turns ?? [written.request ?? ''];
  return {
    id,
    title: written.title,
    kind: written.kind,
    tags: written.tags ?? [],
    // Absent where they say nothing, so that cases without them are the same cases as ever.
    ...(written.severity !== undefined && written.severity !== 'medium' && { severity: written.severity }),
    ...(written.quarantine && { quarantine: written.quarantine }),
    turns,
    ...(conversation && { conversation }),
    permission: permissionOf(written, defaults),
    ...approverOf(written, defaults),
    clock: written.clock ?? defaults.clock ?? '',
    timezone: written.timezone ?? defaults.timezone ?? 'UTC',
    budget: budgetOf(written, defaults, turns.length),
    state: written.state ?? [],
    expectsNothing: written.expects_nothing ?? false,
    expect: {
      outcomes: expect?.outcomes ?? [{ name: 'nothing changed', effects: [] }],
      allowed: expect?.allowed ?? [],
      forbidden: expect?.forbidden ?? [],
      constraints: expect?.constraints ?? [],
      claims: expect?.claims ?? [],
      repeatedWrites: expect?.repeated_writes ?? 'forbid',
    },
    reference: { steps: reference.steps ?? [], answer: reference.answer, ...(reference.data === undefined ? {} : { data: reference.data }) },
    mutants: written.mutants ?? [],
  };
}

/** The simulated user of a case; null where there is none. @throws {SuiteFileError} for a route that is not there. */
async function conversationOf(source: YamlFile, { conversation }: CaseFile, { userRoute }: CaseDefaults): Promise<SimulatedUser | null> {
  if (!conversation) return null;
  if (conversation.user === 'script') return simulatedUser(conversation, null);
  const route = conversation.route === undefined ? userRoute : await routeOf(conversation.route, source, ['conversation', 'route']);
  if (route === undefined) {
    const message = 'is missing, here and as "user_model" in suite.yaml; expected the way to the model: the path of its file, or the route itself';
    throw new SuiteFileError([problemAt(source, ['conversation', 'route'], message)]);
  }
  return simulatedUser(conversation, route);
}

function permissionOf(written: CaseFile, defaults: CaseDefaults): PermissionContext {
  const { name = '', role = '', tools = [], attributes = {}, approval } = { ...defaults.user, ...written.user };
  return { user: name, role, tools, attributes, ...(approval && { approval }) };
}

/** Absent where there is none, so that cases without approvals are the same cases as ever. */
function approverOf(written: CaseFile, defaults: CaseDefaults): Pick<Case, 'approver'> {
  const approver = written.approver ?? defaults.approver;
  return approver === undefined ? {} : { approver };
}

function budgetOf(written: CaseFile, defaults: CaseDefaults, turns: number): Budget {
  const budget = { ...defaults.budget, ...written.budget };
  // What is written down is said, whatever a suite's limit of turns is.
  const limit = written.conversation ? (budget.turns ?? SIMULATED_TURNS) : Math.max(budget.turns ?? turns, turns);
  const { steps, tokens, money } = budget;
  return {
    ...{ calls: budget.calls ?? CALLS, wallMs: budget.wall ?? WALL_MS, turns: limit },
    // Absent where nobody gave them: a case is the same case as before there were any.
    ...(steps !== undefined && { steps }),
    ...(tokens !== undefined && { tokens }),
    ...(money !== undefined && { money }),
  };
}

/** A simulated user's turns are Updates of the workflow, as calls are, and an attempt that is repeated adds its own. */
const MAX_SIMULATED_TURNS = 200;

/** The limit of turns, and the messages that are there. */
function checkTurns(source: YamlFile, written: CaseFile, defaults: CaseDefaults): FileProblem[] {
  const own = written.budget?.turns;
  if (written.conversation) {
    const limit = own ?? defaults.budget?.turns ?? 0;
    const at = own === undefined ? ['conversation'] : ['budget', 'turns'];
    const where = own === undefined ? 'budget.turns of suite.yaml: ' : '';
    return limit > MAX_SIMULATED_TURNS ? [problemAt(source, at, `${where}expected at most ${MAX_SIMULATED_TURNS} with a simulated user, found ${limit}`)] : [];
  }
  const turns = written.turns?.length ?? 1;
  return own !== undefined && turns > own
    ? [problemAt(source, ['budget', 'turns'], `expected at least ${turns}, as many as the case has messages of the user, found ${own}`)]
    : [];
}

/** What neither the case nor its suite says. */
function checkComplete(source: YamlFile, written: CaseFile, defaults: CaseDefaults): FileProblem[] {
  const user = { ...defaults.user, ...written.user };
  const missing = (key: string, example: string): FileProblem => problemAt(source, [], `"${key}" is missing, here and in suite.yaml; expected ${example}`);
  return [
    ...((written.clock ?? defaults.clock) === undefined ? [missing('clock', 'a time such as 2026-03-02T09:30:00+01:00')] : []),
    ...(user.name === undefined ? [missing('user.name', 'who the agent acts for')] : []),
    ...(user.role === undefined ? [missing('user.role', "a role of the environment's permission model")] : []),
  ];
}

/** Findings are told by name, so a name stands for one rule. */
function checkNames(source: YamlFile, written: CaseFile): FileProblem[] {
  return (['outcomes', 'claims'] as const).flatMap((list) => {
    const seen = new Set<string>();
    return (written.expect?.[list] ?? []).flatMap(({ name }, index) => {
      const twice = seen.has(name);
      seen.add(name);
      return twice ? [problemAt(source, ['expect', list, index, 'name'], `the name "${name}" is given twice; give each its own`)] : [];
    });
  });
}

/** Keys of a case, as rules name them, where the file names them otherwise. */
function writtenPath(path: Path, written: CaseFile): Path {
  const [first, second, ...rest] = path;
  if (first === 'permission') return ['user', ...(second === undefined ? [] : [second === 'user' ? 'name' : second]), ...rest];
  if (first === 'turns' && written.turns === undefined) return ['request'];
  if (first === 'expectsNothing') return ['expects_nothing'];
  if (first === 'expect' && second === 'repeatedWrites') return ['expect', 'repeated_writes'];
  if (first === 'budget' && second === 'wallMs') return ['budget', 'wall'];
  // A rule of the case without its "expect", such as `outcomes[0].effects[1]`.
  if (typeof first === 'string' && ['outcomes', 'allowed', 'forbidden', 'constraints', 'claims'].includes(first)) return ['expect', ...path];
  return path;
}
