import { matchesGlob } from 'node:path';
import { partsOf } from '../../domain/agent.ts';
import { caseOnCassette } from '../../domain/cassette.ts';
import { beginsAs, cassetteFolder, onCassette, openEffects, readCassettes } from '../../suite/cassette-file.ts';
import { type FileProblem, type LoadedAgent, type LoadedCase, type Suite, SuiteFileError } from '../../suite/suite.ts';
import type { PlannedTrial } from '../plan.ts';
import { CassetteError } from './errors.ts';

/** What of a suite is played on cassettes. */
export interface PlayRequest {
  /** Default: the folder `cassettes` of the suite. */
  readonly folder?: string;
  /** Globs over names of variants; any may match. Default: see {@link onVariantsOfItsOwn}. */
  readonly variants?: readonly string[];
  /** Models are asked, also where a cassette holds what they replied. Default false: such replies are the only ones. */
  readonly liveModels?: boolean;
}

const NAMED = 10;

/**
 * Each case once for each of its chosen cassettes. `drafts`: whether those of which nobody has said what their calls changed are used all the same, where only answers count.
 *
 * @throws {CassetteError} for cases that have none, and for cassettes of cases that begin otherwise today
 * @throws {SuiteFileError} for files that are none, and for drafts with open questions
 */
export async function casesOnCassettes(
  suite: Suite,
  cases: readonly LoadedCase[],
  { folder, variants, liveModels }: PlayRequest,
  drafts: 'use' | 'refuse' = 'refuse',
): Promise<readonly LoadedCase[]> {
  const place = folder ?? cassetteFolder(suite);
  const missing: string[] = [];
  const stale: string[] = [];
  const open: FileProblem[] = [];
  const played: LoadedCase[] = [];
  for (const loaded of cases) {
    const all = await readCassettes(place, loaded.kase.id);
    const chosen = variants === undefined ? all : all.filter(({ variant }) => variants.some((glob) => matchesGlob(variant, glob)));
    if (chosen.length === 0) missing.push(loaded.kase.id);
    for (const cassette of chosen) {
      if (drafts === 'refuse') open.push(...(await openEffects(place, cassette)));
      if (!beginsAs(loaded.kase, cassette)) stale.push(caseOnCassette(loaded.kase.id, cassette.variant));
      else played.push(onCassette(loaded, cassette, suite.cassettes?.normalise ?? [], liveModels));
    }
  }
  if (open.length > 0) throw new SuiteFileError(open);
  if (stale.length > 0)
    throw new CassetteError(
      `${listed(stale)} ${stale.length === 1 ? 'was' : 'were'} recorded when the case began otherwise (its state, clock, user or messages have changed since); "trialbed record ${suite.name}/CASE" records anew`,
    );
  if (missing.length > 0) {
    const of = variants === undefined ? 'cassette' : `cassette ${variants.map((glob) => `"${glob}"`).join(' or ')}`;
    throw new CassetteError(
      `there is no ${of} of ${listed(missing)} in ${place}; "trialbed record ${suite.name}/CASE" records one, and --case chooses cases that have one`,
    );
  }
  return played;
}

/** What agents on cassettes cannot have. @throws {CassetteError} */
export function requireNoAccess(agents: readonly LoadedAgent[]): void {
  for (const spec of agents.flatMap((agent) => partsOf(agent.spec))) {
    if ('access' in spec && (spec.access?.length ?? 0) > 0)
      throw new CassetteError(`agent ${spec.name} has clients of its own for services of the world (access), and on a cassette there is no world`);
  }
}

/** On a cassette with replies of models no other model is asked: not one that the gateway passes on to either. @throws {CassetteError} */
export function requireRecordedModels(trials: readonly PlannedTrial[]): void {
  const asking = trials.find(({ kase, agent }) => {
    const played = kase.kase.cassette;
    return played?.cassette.models !== undefined && played.liveModels !== true && asksOtherwise(agent);
  });
  if (asking)
    throw new CassetteError(
      `${asking.kase.kase.id} holds replies of a model to an agent of kind model, and agent ${asking.agent.spec.name} asks models in another way; --live-models lets it ask them, --variant chooses other cassettes`,
    );
}

function asksOtherwise({ spec }: LoadedAgent): boolean {
  if (spec.kind === 'team') return partsOf(spec).some((part) => part.kind === 'model' || 'routes' in part);
  return 'routes' in spec && (spec.routes ?? []).length > 0;
}

/** Where no variant was asked for: an agent is played on the cassettes that were recorded with it where the case has such, else on all of them. */
export function onVariantsOfItsOwn(trials: readonly PlannedTrial[]): readonly PlannedTrial[] {
  const recordedWith = new Map<string, Set<string>>();
  for (const { kase } of trials) {
    const cassette = kase.kase.cassette?.cassette;
    if (!cassette) continue;
    const agents = recordedWith.get(cassette.case) ?? new Set();
    recordedWith.set(cassette.case, agents.add(cassette.recorded.agent));
  }
  return trials.filter(({ kase, agent }) => {
    const cassette = kase.kase.cassette?.cassette;
    if (!cassette || !recordedWith.get(cassette.case)?.has(agent.spec.name)) return true;
    return cassette.recorded.agent === agent.spec.name;
  });
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`;
}
