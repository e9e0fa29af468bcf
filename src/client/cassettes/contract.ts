import type { Cassette } from '../../domain/cassette.ts';
import type { Json } from '../../domain/json.ts';
import { type Drift, shapeDrift } from '../../contract/drift.ts';
import { sampled } from '../../contract/sample.ts';
import { schemaDrift } from '../../contract/schema-drift.ts';
import { shapeOf } from '../../contract/shape.ts';
import { bindingOf } from '../../environments/binding.ts';
import { servicesOf } from '../../environments/facts.ts';
import { loadEnvironment } from '../../environments/load.ts';
import type { LoadedEnvironment } from '../../environments/world.ts';
import { environmentFile } from '../../suite/environment-file.ts';
import type { Suite } from '../../suite/suite.ts';
import type { Root } from '../../worker/root.ts';
import { readSuite } from '../read-suite.ts';
import { selectCases } from '../select.ts';
import type { WorkFor } from '../start-batch.ts';
import { CassetteError } from './errors.ts';
import { type AnsweredAgain, type CallsAgain, performAgain } from './perform-again.ts';
import { casesOnCassettes, type PlayRequest } from './play.ts';

/** Which cassettes are held against what. */
export interface ContractRequest extends PlayRequest {
  readonly suite: string;
  /** Globs over case ids; any may match. Default: all. */
  readonly cases?: readonly string[];
  /** Options over the suite's, such as another binding of its services. */
  readonly environmentOptions?: { readonly [name: string]: Json };
  /** One recorded call of each tool, drawn by this seed, with the calls before it that change something. Default: all calls. */
  readonly sample?: string;
  /**
   * The same calls are made in this environment as well, and the two are compared instead of the recording: a fixture with a live binding, or with another version of itself. `use`: name
   * of a built-in one, or a path; default: the suite's. `with`: options over the suite's.
   */
  readonly against?: { readonly use?: string; readonly with?: { readonly [name: string]: Json } };
}

/** Whether tools still take and answer what is known of them. */
export interface ContractReport {
  readonly type: 'contract';
  readonly suite: string;
  readonly batch: string;
  readonly cassettes: number;
  /** Tools of which at least one reply was compared with another one. */
  readonly tools: readonly string[];
  /** By tool, in order of their names; empty: nothing has drifted. */
  readonly drift: readonly ToolDrift[];
  /** Cassettes, and sampled calls, that could not be made again, and why. */
  readonly notPlayed: readonly { readonly cassette: string; readonly why: string }[];
  /** Calls that were compared, where they were sampled. Absent: all were. */
  readonly sampled?: { readonly seed: string; readonly calls: readonly { readonly tool: string; readonly cassette: string; readonly interaction: number }[] };
  /** The other side, where it is no recording. */
  readonly against?: { readonly environment: string; readonly generation: string; readonly batch: string };
}

export type ToolDrift = Drift & { readonly tool: string; readonly cassettes: readonly string[] };

/**
 * Makes recorded calls again, each in a world of its case, and compares shapes, never values: what each tool takes by its schema, and what it answers by the examples.
 * That it was done is kept, so that reports can say when.
 *
 * @throws {CassetteError} @throws {NothingToRunError} @throws {SuiteFileError} @throws {EnvironmentLoadError}
 */
export async function checkContract(root: Root, request: ContractRequest, workFor: WorkFor): Promise<ContractReport> {
  const { suite, environment } = await readSuite({ suite: request.suite, environmentOptions: request.environmentOptions ?? {}, agents: ['reference'] }, root);
  const other = request.against && (await otherSide(suite, request.against));
  for (const side of [environment, ...(other ? [other.environment] : [])]) refuseProduction(side);
  const all = await callsOf(suite, request);
  const chosen = request.sample === undefined ? null : sampled(all.flatMap(candidates), request.sample);
  const calls = chosen
    ? all.flatMap((one) => withoutOthers(one, new Set(chosen.filter(({ cassette }) => cassette === nameOf(one)).map(({ place }) => place))))
    : all;
  const compared = (one: CallsAgain, place: number) => !chosen || chosen.some(({ cassette, place: at }) => cassette === nameOf(one) && at === place);
  const here = await performAgain(root, { suite, environment, calls }, workFor);
  const there =
    other && (await performAgain(root, { suite: { ...suite, environment: other.environment.source }, environment: other.environment, calls }, workFor));
  const replies = new Replies();
  for (const one of all) if (!there) addRecorded(replies, one);
  const notPlayed = addAnswers(replies, here.answered, there ? 'recorded' : 'now', compared);
  if (there) notPlayed.push(...addAnswers(replies, there.answered, 'now', compared));
  const taken = other ? sidesDrift(environment, other.environment, replies) : takenDrift(calls, environment);
  const drift = [...taken, ...replies.drift()].toSorted((a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0));
  await root.store.contractChecks.add({
    ...{ environment: environment.environment.name, generation: environment.generation },
    against: other ? { environment: other.environment.environment.name, generation: other.environment.generation } : null,
    live: other ? realOnOneSide(environment, other.environment) : [],
    ...{ tools: replies.compared.length, differences: drift.length, notPlayed: notPlayed.length, at: root.now().toISOString() },
  });
  return {
    ...{ type: 'contract', suite: suite.name, batch: here.batch, cassettes: all.length, tools: replies.compared },
    drift,
    notPlayed,
    ...(chosen && { sampled: { seed: request.sample ?? '', calls: chosen.map(({ tool, cassette, place }) => ({ tool, cassette, interaction: place })) } }),
    ...(other && there && { against: { environment: other.environment.environment.name, generation: other.environment.generation, batch: there.batch } }),
  };
}

/** Services that one side has for real and the other as a fixture: what is compared with the real one by this. */
function realOnOneSide(one: LoadedEnvironment, other: LoadedEnvironment): readonly string[] {
  const real = (side: LoadedEnvironment) => servicesOf(side.environment).flatMap(({ kind, name }) => (kind === 'live' ? [name] : []));
  const [here, there] = [real(one), real(other)];
  return [...here.filter((name) => !there.includes(name)), ...there.filter((name) => !here.includes(name))].sort();
}

/** Calls of the chosen cassettes, all of them. */
async function callsOf(suite: Suite, request: ContractRequest): Promise<readonly CallsAgain[]> {
  const cases = selectCases(suite.cases, request);
  const played = await casesOnCassettes(suite, cases, request, 'use');
  return played.flatMap(({ kase }): CallsAgain[] => {
    const cassette = kase.cassette?.cassette;
    const own = cases.find((one) => one.kase.id === cassette?.case);
    return cassette && own ? [{ kase: own, cassette, places: cassette.interactions.map((_one, index) => index + 1) }] : [];
  });
}

async function otherSide(suite: Suite, against: NonNullable<ContractRequest['against']>): Promise<{ readonly environment: LoadedEnvironment }> {
  const file = against.use === undefined ? suite.environment.file : await environmentFile(against.use);
  if (file === null) throw new CassetteError(`there is no environment ${against.use}; expected the name of a built-in one, or the path of a pack`);
  return { environment: await loadEnvironment({ file, options: { ...suite.environment.options, ...against.with } }) };
}

function refuseProduction({ environment }: LoadedEnvironment): void {
  if (bindingOf(environment) === 'production')
    throw new CassetteError(`environment ${environment.name} is bound to production; recorded calls are made again in a fixture or a sandbox only`);
}

function candidates(one: CallsAgain) {
  return one.cassette.interactions.flatMap(({ tool, told }, index) => (told === 'committed' ? [{ tool, cassette: nameOf(one), place: index + 1 }] : []));
}

/** A sampled call needs what was changed before it, and nothing else. */
function withoutOthers(one: CallsAgain, chosen: ReadonlySet<number>): readonly CallsAgain[] {
  const last = Math.max(0, ...chosen);
  const changes = (place: number) => (one.cassette.interactions[place - 1]?.effects.length ?? 0) > 0 || (one.cassette.draft?.effects.includes(place) ?? false);
  return last === 0 ? [] : [{ ...one, places: one.places.filter((place) => place <= last && (chosen.has(place) || changes(place))) }];
}

function addRecorded(replies: Replies, one: CallsAgain): void {
  for (const { tool, told, result } of one.cassette.interactions) if (told === 'committed') replies.add(tool, 'recorded', result, nameOf(one));
}

/** What was answered now; of calls that were answered once and are not any more, why. */
function addAnswers(replies: Replies, answered: readonly AnsweredAgain[], side: 'recorded' | 'now', compared: (one: CallsAgain, place: number) => boolean) {
  const not: { cassette: string; why: string }[] = [];
  for (const { calls, answers, why } of answered) {
    if (!answers) not.push({ cassette: nameOf(calls), why: why ?? '' });
    for (const [place, { tool, told, result, problem }] of answers ?? []) {
      if (!compared(calls, place)) continue;
      if (told === 'committed') replies.add(tool, side, result, nameOf(calls));
      else if (calls.cassette.interactions[place - 1]?.told === 'committed')
        not.push({ cassette: nameOf(calls), why: `interaction ${place} (${tool}) was answered, and is ${told} now${problem ? `: ${problem.message}` : ''}` });
    }
  }
  return not;
}

function nameOf({ cassette }: CallsAgain): string {
  return `${cassette.case}@${cassette.variant}`;
}

/** What tools take today, against the schemas in the cassettes. */
function takenDrift(calls: readonly { readonly cassette: Cassette }[], { toolSchemas }: LoadedEnvironment): readonly ToolDrift[] {
  const found = new Map<string, ToolDrift>();
  for (const { cassette } of calls) {
    for (const [digest, { tool, input }] of Object.entries(cassette.schemas)) {
      const now = toolSchemas.find(({ name }) => name === tool);
      const drifts: readonly Drift[] = now
        ? schemaDrift(input, now.inputSchema, 'arguments')
        : [{ field: 'tool', kind: 'gone', recorded: tool, now: 'nothing' }];
      for (const one of drifts) {
        const key = `${tool} ${digest} ${one.field} ${one.kind}`;
        const known = found.get(key);
        const name = `${cassette.case}@${cassette.variant}`;
        found.set(key, { ...one, tool, cassettes: [...(known?.cassettes ?? []), name] });
      }
    }
  }
  return [...found.values()];
}

/** What the tools that were called take on the two sides. */
function sidesDrift(here: LoadedEnvironment, there: LoadedEnvironment, replies: Replies): readonly ToolDrift[] {
  return replies.called.flatMap(({ tool, cassettes }) => {
    const [mine, other] = [here, there].map(({ toolSchemas }) => toolSchemas.find(({ name }) => name === tool));
    if (!mine) return [];
    const drifts: readonly Drift[] = other
      ? schemaDrift(mine.inputSchema, other.inputSchema, 'arguments')
      : [{ field: 'tool', kind: 'gone', recorded: tool, now: 'nothing' }];
    return drifts.map((one) => ({ ...one, tool, cassettes }));
  });
}

/** Replies by tool, of the two sides that are compared. */
class Replies {
  private readonly byTool = new Map<string, { readonly recorded: Json[]; readonly now: Json[]; readonly cassettes: Set<string> }>();

  get compared(): readonly string[] {
    return [...this.byTool]
      .filter(([, { recorded, now }]) => recorded.length > 0 && now.length > 0)
      .map(([tool]) => tool)
      .sort();
  }

  get called(): readonly { readonly tool: string; readonly cassettes: readonly string[] }[] {
    return [...this.byTool].map(([tool, { cassettes }]) => ({ tool, cassettes: [...cassettes].sort() }));
  }

  add(tool: string, side: 'recorded' | 'now', reply: Json, cassette: string): void {
    const known = this.byTool.get(tool) ?? { recorded: [], now: [], cassettes: new Set() };
    this.byTool.set(tool, known);
    known[side].push(reply);
    if (side === 'recorded') known.cassettes.add(cassette);
  }

  drift(): readonly ToolDrift[] {
    return this.compared.flatMap((tool) => {
      const { recorded = [], now = [], cassettes = new Set<string>() } = this.byTool.get(tool) ?? {};
      return shapeDrift(shapeOf(recorded), shapeOf(now), 'result').map((drift) => ({ ...drift, tool, cassettes: [...cassettes].sort() }));
    });
  }
}
