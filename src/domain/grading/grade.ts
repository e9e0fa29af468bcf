import type { Case } from '../case.ts';
import { claimFindings } from '../claims/claims.ts';
import type { TrialRecord } from '../record.ts';
import { printable } from '../text/bounded.ts';
import type { Ending, Finding, Judgement, Verdict, View } from '../verdict.ts';
import { constraintFindings } from './constraints.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { type NetChanges, netChanges } from './net.ts';
import { recoveryFindings, recoveryNotes } from './recovery.ts';
import { byWhom } from './tell-effect.ts';
import { judgeWorld, undeterminedOperations, type WorldJudgement } from './world.ts';

/** Changes whenever the same record could get another verdict. */
export const GRADER_VERSION = '1';

/**
 * The verdict on a trial: a pure function of the case and the record.
 *
 * A trial that the agent's own fault ended (`agent_timeout`, `agent_error`, `budget_exhausted`) is judged by the world that it left and by what was said; that it
 * ended so is no finding of its own. An agent that never answered fails only where the case asks for claims or a structured answer. Where the conversation was cut by a
 * recording (`cassette_miss`), what is missing is undetermined; what must not be there still fails. Where the simulated user failed (`user_error`), or a cassette held no answer,
 * nothing passes or fails: what was found is shown, and undetermined. On a cassette, effects are the recorded ones; where they do not go together, nothing passes by them.
 *
 * @throws {NotGradableError} for `infra_error` and `cancelled`, which have no verdict.
 */
export function grade(kase: Case, caseHash: string, record: TrialRecord): Verdict {
  if (record.ending === 'infra_error' || record.ending === 'cancelled') throw new NotGradableError(record.ending);
  const changes = netChanges(record.effects, record.tables);
  const world = judgeWorld(kase, record, changes);
  const view = (findings: readonly Finding[]): View => viewOf(isUndecided(record) ? findings.map(undecided) : findings);
  const open = openFindings(record);
  const reached = world.missing.length === 0 && world.extra.length === 0 && open.length === 0;
  const outcome = view([
    ...open,
    ...(open.length > 0 ? world.missing.map(soften) : world.missing),
    ...reachedFindings(world, reached),
    ...claimFindings(kase, record, changes),
    ...routeFindings(record),
  ]);
  const constraints = view([...constraintFindings(kase, record), ...recoveryFindings(record)]);
  const effects = view([
    ...world.extra,
    ...routeFindings(record),
    ...unexplainedFindings(record),
    ...refusedFindings(changes, record),
    ...violationFindings(record),
  ]);
  return {
    pass: judgementOf([outcome.judgement, constraints.judgement, effects.judgement]),
    outcome,
    constraints,
    effects,
    reached: reached ? world.outcome.name : null,
    diagnostics: diagnosticsOf(record),
    recovery: recoveryNotes(record),
    ...(record.replayed && { replayed: record.replayed }),
    graderVersion: GRADER_VERSION,
    caseHash,
  };
}

/** A trial that ended through no doing of the agent was given to the grader. It is counted apart and never scored. */
export class NotGradableError extends Error {
  override readonly name = 'NotGradableError';
  readonly code = 'not_gradable';
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(`a trial that ended as ${ending} has no verdict; it is counted apart and run again as a new attempt`);
    this.ending = ending;
  }
}

/** Any fail is a fail; else any undetermined is undetermined; else pass. */
function judgementOf(judgements: readonly Judgement[]): Judgement {
  return judgements.includes('fail') ? 'fail' : judgements.includes('undetermined') ? 'undetermined' : 'pass';
}

function viewOf(findings: readonly Finding[]): View {
  return { judgement: judgementOf(findings.map((finding) => finding.judgement)), findings };
}

/** Why the world's end state cannot be called complete. */
function openFindings(record: TrialRecord): Finding[] {
  const findings: Finding[] = undeterminedOperations(record).map((op) => ({
    code: 'undetermined_operation',
    judgement: 'undetermined',
    rule: 'outcome',
    message: `Whether ${printable(op.tool)} (operation ${printable(op.id)}) had its effect is not known.`,
    operations: [op.id],
  }));
  if (record.ending === 'user_error' || record.ending === 'cassette_miss') {
    const why = record.problem === null ? '' : `: ${printable(record.problem.message)}`;
    findings.push({
      code: 'cut_short',
      judgement: 'undetermined',
      rule: 'outcome',
      message: `The conversation was cut short by no fault of the agent (${record.ending}${why}).`,
    });
  }
  return findings;
}

/** Nothing passes or fails: the agent was not told what it would have been told. */
function isUndecided({ ending, replayed }: TrialRecord): boolean {
  return ending === 'user_error' || (ending === 'cassette_miss' && replayed !== undefined);
}

/** Recorded effects stand on each other: of calls that were left out or made in another order, they show no state that any world was in. */
function routeFindings({ replayed }: TrialRecord): Finding[] {
  if (!replayed || replayed.writesInOrder) return [];
  const message = `The calls with effects are not those of cassette ${printable(replayed.variant)} in its order, so its effects do not show in what state a world would be.`;
  return [{ code: 'other_route', judgement: 'undetermined', rule: 'cassette', message }];
}

/** What is missing may be there, or might have come. */
function soften(finding: Finding): Finding {
  return finding.code === 'wrong_answer' ? finding : { ...finding, judgement: 'undetermined' };
}

function reachedFindings(world: WorldJudgement, reached: boolean): Finding[] {
  return reached
    ? [{ code: 'reached', judgement: 'pass', rule: 'outcome', message: `The world is in the accepted end state "${printable(world.outcome.name)}".` }]
    : [];
}

/** A failure of which the agent may not be the cause, since what it was told by the user was none of the case's. */
function undecided(finding: Finding): Finding {
  return finding.judgement === 'fail' ? { ...finding, judgement: 'undetermined' } : finding;
}

/** The world is not as seed and journal say: something was changed past all that was to record it. */
function unexplainedFindings({ ownAccess }: TrialRecord): Finding[] {
  if (ownAccess?.unexplained === undefined) return [];
  const base = { rule: 'closed world' };
  if (ownAccess.unexplained === null) {
    const message = 'Whether something was changed past the journal is not known: the world could not be compared with its seed.';
    return [{ ...base, code: 'difference_unknown', judgement: 'undetermined', message }];
  }
  return ownAccess.unexplained.slice(0, 20).map((what) => ({
    ...base,
    code: 'unexplained_change',
    judgement: 'fail',
    message: `The ${printable(what, 200)} of the world differs from its seed, and no entry of the journal says how.`,
  }));
}

/** Mails that the inbox refused have no effect; they are shown because they were tried. */
function refusedFindings(changes: NetChanges, record: TrialRecord): Finding[] {
  return changes.refused.slice(0, 20).map((mail) => ({
    code: 'refused_mail',
    judgement: 'pass',
    rule: 'closed world',
    message: `The inbox refused a mail${byWhom(mail.operation === null ? [] : [mail.operation], record)}: ${
      mail.recipients
        .slice(0, 20)
        .map((to) => `${printable(to.address, 120)} ${to.code}`)
        .join(', ') || 'no recipient'
    }; it had no effect.`,
    ...(mail.operation === null ? {} : { operations: [mail.operation] }),
  }));
}

/** Mails that broke a rule of their format arrive nevertheless, as at a real server; they are shown because others may read them otherwise. */
function violationFindings({ effects }: TrialRecord): Finding[] {
  const broken = effects.flatMap((effect) => (effect.kind === 'mail' && effect.accepted && effect.violations.length > 0 ? [effect] : []));
  return broken.slice(0, 20).map((mail) => ({
    code: 'encoding_violation',
    judgement: 'pass',
    rule: 'closed world',
    message: `A mail broke rules of its format (${mail.violations
      .slice(0, 20)
      .map((violation) => printable(violation, 60))
      .join(', ')}); it is judged as it could be read.`,
    ...(mail.operation === null ? {} : { operations: [mail.operation] }),
  }));
}
