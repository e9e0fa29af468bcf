import type { ContractCheck } from '../../domain/contract-check.ts';
import type { EnvironmentFacts } from '../../domain/environment-facts.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchCassettes } from '../../domain/trial.ts';

/** What a batch shows, and what it cannot show whatever its results are. */
export interface Proofs {
  readonly shows: readonly string[];
  readonly doesNotShow: readonly string[];
  /** With when each was last compared with the real one. Null: the batch is of before this was kept. */
  readonly services: EnvironmentFacts['services'] | null;
  /** Against what the tools of this environment were last held, each in a sentence; none: it never was. */
  readonly contracts: readonly string[];
}

export interface ProofRequest {
  readonly facts: readonly TrialFacts[];
  readonly environment: { readonly name: string; readonly version: string; readonly generation: string; readonly facts?: EnvironmentFacts };
  /** Schedules of which no rule fired in any trial. */
  readonly neverFired: readonly string[];
  /** Checks that this generation of the environment was a side of, the newest first. */
  readonly contracts: readonly ContractCheck[];
  /** How trials went along cassettes; absent: all had a world. */
  readonly cassettes?: Pick<BatchCassettes, 'trials' | 'recordedRoutes'>;
  /** Agents with clients of their own, and the services that these reach. */
  readonly ownAccess: readonly { readonly agent: string; readonly services: readonly string[] }[];
}

/** Written from the case and the environment, so that no report is without it. */
export function proofsOf({ facts, environment, neverFired, ownAccess, cassettes, contracts }: ProofRequest): Proofs {
  const schedules = [...new Set(facts.map(({ schedule }) => schedule))].filter((name) => name !== 'none');
  const repetitions = Math.max(0, ...facts.map(({ repetition }) => repetition));
  const undetermined = facts.filter(({ pass }) => pass === 'undetermined').length;
  const checkedAt = (name: string) => contracts.find(({ live }) => live.includes(name))?.at ?? null;
  const services = environment.facts?.services.map((one) => (one.kind === 'fixture' ? { ...one, checkedAt: checkedAt(one.name) } : one)) ?? null;
  return {
    services,
    contracts: lastChecks(contracts, environment.generation).map((check) => checkText(check, environment.generation)),
    shows: [
      'In a trial that passed, the rows and mails that its case expects were there when the door was closed, read from the systems of record, and no other change was.',
      'No write came in later: after the fence the database and the mail server refuse it.',
      `All of it in worlds of ${environment.name} ${environment.version}, generation ${environment.generation.slice(0, 12)}; each trial in one of its own.`,
    ],
    doesNotShow: [
      ...(cassettes
        ? [
            `Anything about a world in ${cassettes.trials - cassettes.recordedRoutes} of ${cassettes.trials} trials that were played on cassettes: they left the recorded route. In the others effects are those that were recorded, and none was observed.`,
          ]
        : []),
      schedules.length === 0
        ? 'How the agent copes with failures: no fault was injected.'
        : `How the agent copes with failures that no schedule holds: injected were those of ${listed(schedules)}.`,
      ...(neverFired.length > 0 ? [`Anything of ${listed(neverFired)}: no rule of it ever fired.`] : []),
      ...(services === null
        ? ['Which services are fixtures: the batch is of before this was kept.']
        : services.flatMap((service) => (service.kind === 'fixture' ? [fixtureText(service)] : [liveText(service)]))),
      ...(repetitions < 2 ? ['How often it will succeed: each case was run once, and one trial of a model is one draw.'] : []),
      'That it does no harm elsewhere: graded is what the world holds, not what the agent does on the network or in files.',
      ...ownAccess.map(
        ({ agent, services: reached }) =>
          `In which order ${agent} did what it did by clients of its own (${reached.join(', ')}): that is in no ledger, only its effects are seen.`,
      ),
      ...(undetermined > 0 ? [`What became of ${undetermined} trials that code could not decide.`] : []),
      'That an answer is good: claims hold facts against the world, not tone and usefulness.',
      'That the cases are the right ones: they stand for the users only as far as their author knew them.',
    ],
  };
}

function fixtureText({ name, contract, checkedAt, cannotShow }: EnvironmentFacts['services'][number]): string {
  const checked = checkedAt === null ? 'never compared with the real one' : `compared with the real one on ${checkedAt.slice(0, 10)}`;
  return `That the real service for ${name} behaves so: here it is a fixture (${contract}), ${checked}. It cannot show ${cannotShow.join('; ')}.`;
}

function liveText({ name, cannotShow }: EnvironmentFacts['services'][number]): string {
  return `That ${name} will behave so tomorrow: it is live, and a fence there only revokes the account.${cannotShow.length > 0 ? ` It cannot show ${cannotShow.join('; ')}.` : ''}`;
}

/** The newest against each other side. */
function lastChecks(contracts: readonly ContractCheck[], generation: string): readonly ContractCheck[] {
  const newest = Map.groupBy(contracts, (check) => otherSide(check, generation)?.generation ?? null);
  return [...newest.values()].flatMap(([first]) => first ?? []).slice(0, MOST_CHECKS);
}

const MOST_CHECKS = 10;

function otherSide({ environment, generation, against }: ContractCheck, own: string): ContractCheck['against'] {
  return against !== null && against.generation === own ? { environment, generation } : against;
}

function checkText(check: ContractCheck, own: string): string {
  const { live, tools, differences, notPlayed, at } = check;
  const other = otherSide(check, own);
  const real = live.length === 0 ? '' : `, of which one side has the real ${live.join(' and ')}`;
  const what = other === null ? 'what cassettes have of them' : `${other.environment}, generation ${other.generation.slice(0, 12)}${real}`;
  const found = differences === 0 ? 'nothing differed' : `${differences} ${differences === 1 ? 'shape' : 'shapes'} differed`;
  const not = notPlayed === 0 ? '' : `, and ${notPlayed} could not be made again`;
  return `On ${at.slice(0, 10)} the replies of ${tools} ${tools === 1 ? 'tool' : 'tools'} were held against ${what}: ${found}${not}. Shapes were compared, not values.`;
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 10).join(', ')}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`;
}
