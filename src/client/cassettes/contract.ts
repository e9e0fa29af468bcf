import type { Cassette } from '../../domain/cassette.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isList, isObject } from '../../domain/text/bounded.ts';
import { type Drift, shapeDrift } from '../../contract/drift.ts';
import { schemaDrift } from '../../contract/schema-drift.ts';
import { shapeOf } from '../../contract/shape.ts';
import { bindingOf } from '../../environments/binding.ts';
import type { LoadedEnvironment } from '../../environments/world.ts';
import { contentHash } from '../../suite/identity.ts';
import type { LoadedAgent } from '../../suite/suite.ts';
import type { Root } from '../../worker/root.ts';
import { planBatch, type PlannedTrial } from '../plan.ts';
import { readSuite } from '../read-suite.ts';
import { selectCases } from '../select.ts';
import { startBatch, type WorkFor } from '../start-batch.ts';
import { CassetteError } from './errors.ts';
import { casesOnCassettes, type PlayRequest } from './play.ts';

/** Which cassettes are held against the environment of today. */
export interface ContractRequest extends PlayRequest {
  readonly suite: string;
  /** Globs over case ids; any may match. Default: all. */
  readonly cases?: readonly string[];
  /** Options over the suite's, such as another binding of its services. */
  readonly environmentOptions?: { readonly [name: string]: Json };
}

/** Whether tools still take and answer what cassettes have of them. */
export interface ContractReport {
  readonly type: 'contract';
  readonly suite: string;
  readonly batch: string;
  readonly cassettes: number;
  /** Tools of which at least one recorded reply was compared with one of today. */
  readonly tools: readonly string[];
  /** By tool, in order of their names; empty: nothing has drifted. */
  readonly drift: readonly (Drift & { readonly tool: string; readonly cassettes: readonly string[] })[];
  /** Cassettes whose calls could not be made again, and why. */
  readonly notPlayed: readonly { readonly cassette: string; readonly why: string }[];
}

/**
 * Makes the recorded calls of cassettes again, each in a world of its case, and compares shapes, never values: what each tool takes by its schema, and what it answers by the examples.
 *
 * @throws {CassetteError} @throws {NothingToRunError} @throws {SuiteFileError}
 */
export async function checkContract(root: Root, request: ContractRequest, workFor: WorkFor): Promise<ContractReport> {
  const { suite, environment } = await readSuite({ suite: request.suite, environmentOptions: request.environmentOptions ?? {}, agents: ['reference'] }, root);
  if (bindingOf(environment.environment) === 'production')
    throw new CassetteError(`environment ${environment.environment.name} is bound to production; recorded calls are made again in a fixture or a sandbox only`);
  const cases = selectCases(suite.cases, request);
  const played = await casesOnCassettes(suite, cases, request);
  const trials = played.flatMap(({ kase }): (PlannedTrial & { readonly cassette: Cassette })[] => {
    const cassette = kase.cassette?.cassette;
    const own = cases.find((one) => one.kase.id === cassette?.case);
    return cassette && own ? [{ kase: own, schedule: null, agent: callsAgain(cassette), repetition: 1, cassette }] : [];
  });
  const options = { isolation: 'schema', keep: 'never', concurrency: 8, retries: 2 } as const;
  const plan = await planBatch({ suite: { ...suite, name: `${suite.name} (contract)` }, environment, trials, options, seed: null });
  await root.store.putDocuments({
    cases: [...new Map(trials.map(({ kase }) => [kase.hash, { hash: kase.hash, kase: kase.kase }])).values()],
    agents: [...new Map(trials.map(({ agent }) => [agent.hash, { hash: agent.hash, spec: agent.spec }])).values()],
  });
  await root.store.createBatch(plan);
  const batch = await root.store.batch(plan.id);
  if (!batch) throw new Error(`batch ${plan.id} was stored and cannot be found`);
  const { taskQueue, broken } = await workFor(batch);
  const handle = startBatch(root, batch, false, broken, taskQueue);
  await handle.result();
  const replies = new Replies();
  const notPlayed: { readonly cassette: string; readonly why: string }[] = [];
  for (const [index, { cassette }] of trials.entries()) {
    const name = `${cassette.case}@${cassette.variant}`;
    const row = await root.store.trial(plan.trials[index]?.id ?? '');
    const record = row?.summary ? await root.store.record(row.id, row.summary.attempt) : null;
    if (!record) notPlayed.push({ cassette: name, why: row?.summary?.why ?? 'its trial has no record' });
    for (const { tool, told, result } of cassette.interactions) if (told === 'committed') replies.add(tool, 'recorded', result, name);
    for (const { tool, told, result } of record?.operations ?? []) if (told === 'committed') replies.add(tool, 'now', result, name);
  }
  const drift = [...takenDrift(trials, environment), ...replies.drift()].toSorted((a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0));
  return { type: 'contract', suite: suite.name, batch: plan.id, cassettes: trials.length, tools: replies.compared, drift, notPlayed };
}

/** An agent that makes the calls of a cassette in their order. */
function callsAgain({ variant, interactions }: Cassette): LoadedAgent {
  const steps = interactions.flatMap(({ tool, args }) => (isObject(args) ? [{ call: tool, with: plainArguments(args) }] : []));
  const spec = { kind: 'script', name: `calls of ${variant}`, version: '1', solution: { steps, answer: '' } } as const;
  return { spec, hash: contentHash(spec) };
}

/** Arguments that hold no reference, whatever signs are in them. */
function plainArguments(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, item]) => [key, plain(item)]));
}

function plain(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (value === null || typeof value !== 'object') return value;
  return isList(value) ? value.map(plain) : plainArguments(value as JsonObject);
}

/** What tools take today, against the schemas in the cassettes. */
function takenDrift(trials: readonly { readonly cassette: Cassette }[], { toolSchemas }: LoadedEnvironment): readonly ContractReport['drift'][number][] {
  const found = new Map<string, ContractReport['drift'][number]>();
  for (const { cassette } of trials) {
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

/** Replies by tool, as recorded and as of today. */
class Replies {
  private readonly byTool = new Map<string, { readonly recorded: Json[]; readonly now: Json[]; readonly cassettes: Set<string> }>();

  get compared(): readonly string[] {
    return [...this.byTool]
      .filter(([, { recorded, now }]) => recorded.length > 0 && now.length > 0)
      .map(([tool]) => tool)
      .sort();
  }

  add(tool: string, side: 'recorded' | 'now', reply: Json, cassette: string): void {
    const known = this.byTool.get(tool) ?? { recorded: [], now: [], cassettes: new Set() };
    this.byTool.set(tool, known);
    known[side].push(reply);
    if (side === 'recorded') known.cassettes.add(cassette);
  }

  drift(): readonly ContractReport['drift'][number][] {
    return this.compared.flatMap((tool) => {
      const { recorded = [], now = [], cassettes = new Set<string>() } = this.byTool.get(tool) ?? {};
      return shapeDrift(shapeOf(recorded), shapeOf(now), 'result').map((drift) => ({ ...drift, tool, cassettes: [...cassettes].sort() }));
    });
  }
}
