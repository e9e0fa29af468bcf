import type { PermissionContext } from '../domain/case.ts';
import type { Cassette, Interaction } from '../domain/cassette.ts';
import type { Effect } from '../domain/effect.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Operation } from '../domain/operation.ts';
import type { TrialRecord } from '../domain/record.ts';
import { isList, isObject } from '../domain/text/bounded.ts';
import type { Verdict } from '../domain/verdict.ts';
import { bindingOf } from '../environments/binding.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { startHash } from '../suite/cassette-file.ts';
import type { SuiteCassettes } from '../suite/cassette-schema.ts';
import type { LoadedCase } from '../suite/suite.ts';
import { schemaDigest, scopeDigest, scopeOf } from './digests.ts';
import { conversationOf, type ModelsToRecord, recordedModels } from './record-models.ts';
import { redactionRules } from './redaction-rules.ts';
import { Redactor } from './redactor.ts';

/** A trial that a cassette is made of. */
export interface TrialToRecord {
  readonly kase: LoadedCase;
  readonly variant: string;
  readonly environment: LoadedEnvironment;
  readonly agent: string;
  readonly schedule: string;
  readonly record: TrialRecord;
  readonly verdict: Verdict;
  /** Of a team: what a member may, beside the case's permission. */
  readonly memberPermission: (member: string) => PermissionContext | null;
  readonly rules: SuiteCassettes | null;
  /** What its agent's model was asked and replied, to be recorded as well; null: only what tools answered is. */
  readonly models: ModelsToRecord | null;
}

/** A trial of which no cassette can be made. */
export class NotRecordableError extends Error {
  override readonly name = 'NotRecordableError';
  readonly code = 'not_recordable';
}

/** Makes the cassette of a trial, redacted. `hidden`: how many values of each kind were replaced. @throws {NotRecordableError} */
export function cassetteOfTrial(trial: TrialToRecord): { readonly cassette: Cassette; readonly hidden: { readonly [kind: string]: number } } {
  const { kase, variant, environment, record, verdict, rules, models } = trial;
  const why = refusalOf(trial);
  if (why !== null) throw new NotRecordableError(why);
  const operations = record.operations.filter((operation) => isInteraction(operation, environment));
  const own = new Set(operations.map(({ id }) => id));
  const scopes: { [digest: string]: JsonObject } = {};
  const interactions = operations.map((operation) => {
    const member = operation.actor === undefined ? null : trial.memberPermission(operation.actor);
    const scope = scopeDigest(kase.kase.permission, member);
    scopes[scope] = scopeOf(kase.kase.permission, member);
    return interactionOf(operation, record, { scope, schema: schemaOf(environment, operation.tool) });
  });
  const redactor = new Redactor({ rules: redactionRules(rules), known: `${JSON.stringify(kase.kase)}\n${environment.policy ?? ''}\n${models?.prompt ?? ''}` });
  const conversation = models && conversationOf(models);
  if (models && conversation === null)
    throw new NotRecordableError('not all of its conversation with the model was kept, so that its replies cannot be found again');
  const parts = {
    scopes,
    schemas: schemasOf(environment, operations),
    interactions,
    others: numbered(record.effects.filter(({ operation }) => operation === null || !own.has(operation))),
    faults: faultsOf(record, operations),
    referenceEffects: record.referenceEffects === null ? null : numbered(record.referenceEffects),
    conversation,
  };
  // Met in whole first: what shows in one place only that it must not be written stands in others too.
  redactor.collect(parts as unknown as Json);
  const clean = sorted(withoutWorld(redactor.json(parts as unknown as Json))) as unknown as typeof parts;
  const cassette: Cassette = {
    version: 1,
    case: kase.kase.id,
    variant,
    binding: bindingOf(environment.environment) === 'sandbox' ? 'sandbox' : 'fixture',
    recorded: {
      agent: trial.agent,
      schedule: trial.schedule,
      environment: environment.environment.name,
      generation: environment.generation,
      start: startHash(kase.kase),
      caseHash: kase.hash,
      verdict: {
        pass: verdict.pass,
        outcome: verdict.outcome.judgement,
        constraints: verdict.constraints.judgement,
        effects: verdict.effects.judgement,
      },
    },
    scopes: clean.scopes,
    schemas: clean.schemas,
    interactions: clean.interactions.map((interaction) => inOrder(interaction)),
    others: clean.others,
    tables: record.tables,
    ...(clean.faults && { faults: clean.faults }),
    referenceEffects: clean.referenceEffects,
  };
  if (!models || !clean.conversation) return { cassette, hidden: redactor.counts };
  const ordinalOf = (place: number) => Number(operations[place]?.id.replace(/^op-/, '') ?? 0);
  const replies = recordedModels(models, clean.conversation, cassette, { scope: scopeDigest(kase.kase.permission), ordinalOf });
  return { cassette: { ...cassette, models: replies }, hidden: redactor.counts };
}

/** Why no cassette can be made of a trial; null: one can. */
function refusalOf({ environment, record, kase }: TrialToRecord): string | null {
  if (bindingOf(environment.environment) === 'production')
    return `environment ${environment.environment.name} is bound to production; only a fixture or a sandbox is recorded`;
  if (record.replayed) return 'it was itself played on a cassette; record from an environment';
  if (record.ending !== 'completed') return `it ended as ${record.ending}; only trials that were completed are recorded`;
  if (kase.kase.approver?.decides === 'change_world_then_approve')
    return 'its approver changes the world while a request waits, and on a cassette there is none to change';
  const byDoor = record.faults?.injected.find(({ kind }) => kind === 'permission_revoked' || kind === 'schema_changed');
  if (byDoor) return `its fault schedule changed what the door lets through (${byDoor.kind}), and that passes no tool`;
  if (record.ownAccess) return 'its agent has clients of its own for services of the world, and what it does by them passes no tool';
  if (record.removed) return `its ${record.removed.join(' and ')} was removed since`;
  return null;
}

/** A call that was answered by the tool itself: what the door refuses, or the test bed answers, it does again by itself. */
function isInteraction({ tool, told, ended, replayOf }: Operation, { environment }: LoadedEnvironment): boolean {
  const state = ended?.state ?? told;
  const known = environment.tools.find(({ name }) => name === tool);
  return known !== undefined && known.builtin === undefined && !replayOf && (state === 'committed' || state === 'failed' || state === 'unknown');
}

function interactionOf(operation: Operation, record: TrialRecord, under: Pick<Interaction, 'scope' | 'schema'>): Interaction {
  const { tool, args, ended, known } = operation;
  const told = (ended?.state ?? operation.told) as Interaction['told'];
  return {
    tool,
    args,
    ...under,
    told,
    result: told === 'unknown' ? foundLater(operation, record) : operation.result,
    problem: ended ? ended.problem : operation.problem,
    known,
    effects: numbered(record.effects.filter((effect) => effect.operation === operation.id)),
  };
}

/** The result of a call whose outcome was unknown, as a later look-up told it. */
function foundLater({ reconciled }: Operation, { operations }: TrialRecord): Json {
  const told = operations.find(({ id }) => id === reconciled?.by)?.result ?? null;
  return isObject(told) ? (told['result'] ?? null) : null;
}

/** What went wrong, by the interactions that it hit. Null without a schedule. */
function faultsOf({ faults }: TrialRecord, operations: readonly Operation[]): NonNullable<Cassette['faults']> | null {
  if (!faults || faults.rules.length === 0) return null;
  const places = new Map(operations.map(({ id }, index) => [id, index + 1]));
  const injected = faults.injected.map(({ operation, ...fault }) => ({
    ...fault,
    interaction: (operation === null ? undefined : places.get(operation)) ?? null,
  }));
  return { rules: faults.rules, injected };
}

/** Effects as those of no operation, counted from 1: where they stood in a journal says nothing here. */
function numbered(effects: readonly Effect[]): readonly Effect[] {
  return effects.map((effect, index) => ({ ...effect, seq: index + 1, operation: null }));
}

function schemaOf({ toolSchemas }: LoadedEnvironment, tool: string): string {
  const schema = toolSchemas.find(({ name }) => name === tool);
  if (!schema) throw new NotRecordableError(`tool ${tool} has no schema in this environment`);
  return schemaDigest(schema);
}

/** What the tools of these calls take. */
function schemasOf({ toolSchemas }: LoadedEnvironment, operations: readonly Operation[]): Cassette['schemas'] {
  const called = new Set(operations.map(({ tool }) => tool));
  return Object.fromEntries(
    toolSchemas.filter(({ name }) => called.has(name)).map((schema) => [schemaDigest(schema), { tool: schema.name, input: schema.inputSchema }]),
  );
}

/** What a reviewer reads first stands first. */
function inOrder({ tool, args, told, result, problem, known, effects, scope, schema }: Interaction): Interaction {
  return { tool, args, told, result, problem, known, effects, scope, schema };
}

/** Ids of mails name the world that sent them, which is another one each time. */
function withoutWorld(value: Json): Json {
  if (typeof value === 'string') return value.replace(/@[a-z0-9]{1,40}\.trialbed\.invalid\b/g, '@world.trialbed.invalid');
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(withoutWorld);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutWorld(item)]));
}

/** Keys in order, all the way down, so that equal content is equal text. */
function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted((value as JsonObject)[key] ?? null)]),
  );
}
