import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type {
  AttemptPlan,
  AttemptRef,
  BegunAttempt,
  ConversationEnd,
  GradeResult,
  ScriptMove,
  TrialActivities,
  UserTurn,
  WorldAttempt,
} from '../activities/contract.ts';
import { printable } from '../domain/text/bounded.ts';
import type { TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Ending } from '../domain/verdict.ts';
import { act, answerUser, missedBy } from './acting.ts';
import { AttemptTrace } from './attempt-trace.ts';
import { Decisions } from './decisions.ts';
import { detailsText } from './details.ts';
import { Dialogue } from './dialogue.ts';
import { dispatchCall } from './dispatch.ts';
import { Door } from './door.ts';
import { Gate } from './gate.ts';
import { leaseMs } from './lease-time.ts';
import { LOST_AFTER, type TrialInput } from './messages.ts';
import { PATIENT } from './patience.ts';
import { ScriptAgent } from './script-agent.ts';
import type { TrialStanding } from './standing.ts';
import type { TeamEnd } from './team.ts';
import { HOPELESS, problemOf } from './trouble.ts';

/** How long the fence waits for calls in flight before it cuts them off. */
export const DRAIN_MS = 10_000;

const short = proxyLocalActivities<TrialActivities>(PATIENT);
/** What is repeated step by step where it fails. */
const once = proxyLocalActivities<TrialActivities>({ ...PATIENT, retry: { maximumAttempts: 1 } });
const slow = proxyActivities<TrialActivities>({
  ...PATIENT,
  startToCloseTimeout: '3 minutes',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout: LOST_AFTER,
});

/** In a line of the log. */
const MAX_ERROR_LENGTH = 2_000;

/** A run refuses its 2,001st Update. */
const MAX_UPDATES = 1_900;

/** What ends an attempt beside its world and its agent's end. */
interface SettleOptions {
  readonly keep: AttemptPlan['keep'];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** How an attempt went until its agent's end, or until it could not go on. */
interface Course {
  /** Null: it did not come to begin. */
  readonly plan: AttemptPlan | null;
  /** Null: it got no world. */
  readonly at: WorldAttempt | null;
  /** Null: the agent did not come to an end. */
  readonly end: (ConversationEnd & Partial<TeamEnd>) | null;
  readonly ending: Ending;
  readonly problem: ConversationEnd['problem'];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A run of a trial's workflow: its attempts, and whoever calls, decides or asks meanwhile. */
export class TrialRun {
  /** The last attempt ended by something that no other attempt can mend. */
  hopeless = false;
  /** What people decide of calls that wait for an approval. */
  readonly decisions = new Decisions(
    () => this.current.attempt,
    () => this.updates++,
  );
  private readonly input: TrialInput;
  /** Updates of all attempts of this run that called a tool, ended a turn or decided. */
  private updates = 0;
  /** Updates that the attempt may need at most: its calls, its turns, and where people decide a decision for each call. */
  private budget = 0;
  private phase: TrialPhase = 'waiting';
  private current: AttemptRef;
  private plan: AttemptPlan | null = null;
  private door: Door | null = null;
  /** Of a case with a simulated user. */
  private dialogue: Dialogue | null = null;
  private trace: AttemptTrace | null = null;

  constructor(input: TrialInput) {
    this.input = input;
    this.current = { trial: input.trial, attempt: input.firstAttempt };
  }

  /** Whether one more attempt can use up its budget within this run. */
  get fitsAnother(): boolean {
    return this.updates + this.budget <= MAX_UPDATES;
  }

  /** Whether another attempt follows this one if it ends `infra_error`. */
  mayFollow(attempt: number): boolean {
    return attempt - this.input.firstAttempt < this.input.retries && !this.hopeless;
  }

  /** Reported by the activity that records the end: the trial's own history has nothing of it. */
  private get reportTo(): Pick<TrialInput, 'reportTo'> {
    return this.input.reportTo === undefined ? {} : { reportTo: this.input.reportTo };
  }

  status() {
    const waiting = this.decisions.waiting.map(({ id, tool }) => `${id} ${tool}`);
    return { phase: this.phase, attempt: this.current.attempt, calls: this.door?.calls ?? 0, inFlight: this.door?.inFlight ?? [], waiting };
  }

  standing(): TrialStanding {
    const { door, dialogue, plan } = this;
    const operations = (door?.notes ?? []).map(({ id, tool, told, ended, problem }) => ({
      id,
      tool,
      state: ended?.state ?? told,
      problem: ended ? ended.problem : problem,
    }));
    const { calls, turns, wallMs } = plan?.budget ?? { calls: 0, turns: 0, wallMs: 0 };
    return {
      kind: 'trial',
      ...this.status(),
      budget: plan ? { calls, turns, wallMs } : null,
      turns: dialogue?.turns ?? (door ? 1 : 0),
      beyondBudget: door?.beyondBudget ?? 0,
      operations,
    };
  }

  told() {
    return { attempt: this.current.attempt, notes: this.door?.notes ?? [] };
  }

  async call(call: Parameters<Door['call']>[0], attempt = this.current.attempt): ReturnType<Door['call']> {
    this.updates++;
    // A late call of an attempt that has ended must not become one of its successor. Histories of earlier versions name no attempt.
    if (!this.door || attempt !== this.current.attempt) {
      return { operation: call.id, state: 'rejected', problem: { code: 'door_closed', message: 'The trial takes no calls now.' } };
    }
    const outcome = await this.door.call(call);
    const over = this.door.missed ?? this.dialogue?.over;
    return over ? { ...outcome, over } : outcome;
  }

  /** An agent outside the workflow has ended a turn. */
  async hear(attempt: number): Promise<UserTurn> {
    this.updates++;
    if (!this.dialogue || attempt !== this.current.attempt) return { kind: 'left' };
    return this.dialogue.next();
  }

  async attempt(attempt: number): Promise<TrialSummary> {
    const ref = { trial: this.input.trial, attempt };
    this.current = ref;
    this.plan = null;
    this.door = null;
    this.dialogue = null;
    this.trace = null;
    this.decisions.open(null, null);
    const startedAt = Date.now();
    let ending: Ending = 'infra_error';
    let end: (ConversationEnd & Partial<TeamEnd>) | null = null;
    let problem: ConversationEnd['problem'] = null;
    let at: WorldAttempt | null = null;
    let plan: AttemptPlan | null = null;
    try {
      const begun = await this.begin(ref);
      plan = begun.plan;
      if (plan.done) return plan.done;
      this.plan = plan;
      this.budget = plan.budget.calls * (plan.approver?.by === 'people' ? 2 : 1) + plan.budget.turns;
      if (plan.traced) this.trace = new AttemptTrace({ ...this.input, attempt }, startedAt);
      const entered = begun.entered ?? (await this.enterWorld(plan, ref));
      at = { ...ref, world: entered.world };
      const driven = await this.drive(plan, at, entered.next);
      // A cancellation answers calls with "unknown", and what an agent makes of that before it is stopped itself is no result.
      if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the trial was cancelled while its agent acted');
      end = driven;
      ({ ending, problem } = end);
    } catch (error) {
      ending = isCancellation(error) ? 'cancelled' : 'infra_error';
      problem = problemOf(error, this.phase);
      this.hopeless = HOPELESS.has(problem.code);
      log.warn('the attempt ended without a verdict', { ...ref, phase: this.phase, problem });
    }
    // What follows decides nothing for the agent any more and must happen even when the trial is being cancelled.
    return CancellationScope.nonCancellable(() => this.conclude(ref, { plan, at, end, ending, problem, startedAt }));
  }

  /** Fences, grades, keeps, releases and records, whatever became of the attempt. */
  private async conclude(ref: AttemptRef, { plan, at, end, startedAt, ...course }: Course): Promise<TrialSummary> {
    let { ending, problem } = course;
    let grade: GradeResult | null = null;
    let snapshot: string | null = null;
    const door = this.door;
    if (plan && this.atOnce(plan) && at && end && door) {
      const settled = await this.settle(door, { ...at, ...end, keep: plan.keep, startedAt });
      if (settled) return this.done(settled);
    }
    if (at) {
      try {
        await this.enter('fence');
        await door?.close(DRAIN_MS);
        await short.fence(at);
        if (end && door) {
          await this.enter('grade');
          const beyondBudget = door.beyondBudget + (end.beyondBudget ?? 0);
          grade = await short.gradeTrial({
            ...at,
            ending: end.ending,
            problem: end.problem,
            operations: door.notes,
            ...(beyondBudget > 0 && { beyondBudget }),
            ...(end.handOvers && { handOvers: end.handOvers }),
          });
          if (plan?.keep === 'always' || (plan?.keep === 'failed' && grade.pass !== 'pass')) {
            // What is kept for a closer look decides nothing.
            snapshot = await short.keepWorld(at).catch((error: unknown) => {
              log.warn('the snapshot could not be kept', { ...ref, error: String(error) });
              return null;
            });
          }
        }
      } catch (error) {
        ending = 'infra_error';
        grade = null;
        problem = problemOf(error, this.phase);
        this.hopeless = HOPELESS.has(problem.code);
      }
      // Of an attempt without a verdict the world is all that shows how it came to that.
      if (grade === null && plan?.keep === 'always' && patched('kept-without-verdict')) snapshot = await once.keepWorld(at).catch(() => null);
      await this.enter('release').catch(ignoreUntilSwept(ref));
      // A world that cannot be released now is found by the sweeper; the verdict does not depend on it.
      await (plan?.slowWorld ? slow : short).releaseWorld(at).catch(ignoreUntilSwept(ref));
    }
    const summary = await short.finishAttempt({
      ...ref,
      ending,
      grade,
      problem,
      calls: door?.calls ?? 0,
      durationMs: Date.now() - startedAt,
      ...this.agentMs(end?.usedMs),
      disturbed: door?.disturbed ?? false,
      snapshot,
      another: this.mayFollow(ref.attempt),
      ...this.reportTo,
    });
    return this.done(summary);
  }

  private async begin(ref: AttemptRef): Promise<BegunAttempt> {
    if (!this.input.togetherFromStart) {
      return { plan: await short.beginAttempt({ ...ref, ...(this.input.together && { phase: 'provision' as const }), ...this.reportTo }), entered: null };
    }
    this.phase = 'provision';
    this.show(null);
    const begun = await short.startAttempt({ ...ref, ...this.reportTo });
    if (begun.entered) this.phase = 'drive';
    this.show(null);
    return begun;
  }

  private async enterWorld(plan: AttemptPlan, ref: AttemptRef): Promise<{ readonly world: WorldAttempt['world']; readonly next?: ScriptMove }> {
    const request = { ...ref, leaseMs: leaseMs(plan) };
    if (this.atOnce(plan)) {
      this.phase = 'provision';
      this.show(null);
      const entered = await short.enterWorld({ ...request, script: plan.agent === 'script' });
      this.phase = 'drive';
      this.show(null);
      return entered;
    }
    await this.enter('provision');
    const world = await (plan.slowWorld ? slow : short).provision(request);
    await this.enter('drive');
    return { world };
  }

  /** Whether steps are taken together. What is slow has the patience of an activity of its own, and a trace shows each step. */
  private atOnce({ slowWorld }: AttemptPlan): boolean {
    return this.input.together === true && !slowWorld && !this.trace;
  }

  /** All that follows on `drive`, in one step. Null where it failed: what it did not come to is to be done step by step, with the patience that each has. */
  private async settle(
    door: Door,
    { startedAt, ending, problem, handOvers, beyondBudget = 0, usedMs, ...at }: WorldAttempt & ConversationEnd & Partial<TeamEnd> & SettleOptions,
  ): Promise<TrialSummary | null> {
    this.phase = 'fence';
    this.show(null);
    await door.close(DRAIN_MS);
    this.phase = 'grade';
    const beyond = door.beyondBudget + beyondBudget;
    const { calls, disturbed, notes: operations } = door;
    const { trial, attempt, world, keep } = at;
    const graded = { trial, attempt, world, ending, problem, operations, ...(beyond > 0 && { beyondBudget: beyond }), ...(handOvers && { handOvers }) };
    try {
      return await once.settleAttempt({ ...graded, keep, calls, disturbed, durationMs: Date.now() - startedAt, ...this.agentMs(usedMs), ...this.reportTo });
    } catch (error) {
      log.warn('the attempt could not be settled in one step', { trial, attempt, error: String(error) });
      return null;
    }
  }

  /** A script is played by us and has no time of its own. */
  private agentMs(usedMs: number | undefined): { readonly agentMs?: number } {
    const agentMs = usedMs ?? (this.plan?.agent === 'script' ? 0 : undefined);
    return agentMs === undefined ? {} : { agentMs };
  }

  private done(summary: TrialSummary): TrialSummary {
    this.trace?.end(summary, this.door?.notes ?? []);
    this.phase = 'done';
    this.show(summary);
    return summary;
  }

  private async drive(plan: AttemptPlan, at: WorldAttempt, first?: ScriptMove): Promise<ConversationEnd & Partial<TeamEnd>> {
    const dialogue = plan.user ? new Dialogue({ budget: plan.budget.turns, answer: (request) => answerUser(plan, { ...at, ...request }) }) : null;
    this.dialogue = dialogue;
    const { approver } = plan;
    const { trace } = this;
    const onChange = () => this.show(null);
    const stage = { outside: plan.agent !== 'script' && plan.agent !== 'model' };
    const gate = approver && new Gate({ at, approver, activities: short, impatient: () => stage.outside, onChange });
    const ahead = this.input.together === true && !dialogue && !gate;
    const script = plan.agent === 'script' ? new ScriptAgent(at, { ahead, first }) : null;
    const door = new Door({
      tools: plan.tools,
      budget: plan.budget.calls,
      rules: plan.rules ?? [],
      words: plan.words ?? {},
      dispatch: async (dispatch) => {
        if (dialogue && dispatch.tool.asks) return dialogue.ask(dispatch.call.id);
        const outcome = await dispatchCall(at, dispatch, script?.playOn);
        script?.took(outcome);
        return outcome;
      },
      ...(dialogue && { refuseQuestion: () => dialogue.refusal() }),
      onChange,
      ...(plan.recorded !== undefined && {
        recall: {
          calls: plan.recorded,
          note: ({ id }) => short.recallCall({ trial: at.trial, attempt: at.attempt, operation: id }),
          ask: async ({ id }) => dialogue?.ask(id),
        },
      }),
      ...(trace && {
        onCall: (call, outcome) => void trace.call(call, Object.hasOwn(plan.tools, call.tool), outcome, (id) => door.notes.find((note) => note.id === id)),
      }),
      ...(gate && { gate }),
    });
    this.door = door;
    this.decisions.open(gate ?? null, door);
    const end = await (script ? script.play(door, dialogue) : act(door, dialogue, plan, at, stage));
    if (door.broken) throw door.broken;
    const missed = door.missed ?? missedBy(door.calls, plan.recorded ?? 0);
    if (missed) return { ...end, ...missed };
    return dialogue?.over ? { ...end, ...dialogue.over } : end;
  }

  private async enter(phase: TrialPhase): Promise<void> {
    this.phase = phase;
    this.trace?.enter(phase);
    this.show(null);
    await short.setPhase({ ...this.current, phase });
  }

  /** What the Temporal UI shows of the trial while it runs and after. */
  private show(summary: TrialSummary | null): void {
    const { door, phase } = this;
    const { case: kase, agent } = this.input;
    const calls = door && { made: door.calls, budget: door.budget, inFlight: door.inFlight, notes: door.notes, waiting: this.decisions.waiting };
    setCurrentDetails(detailsText({ case: kase, agent, attempt: this.current.attempt, phase, calls, summary }));
  }
}

function ignoreUntilSwept({ attempt }: AttemptRef) {
  return (error: unknown): void =>
    log.warn('the world could not be released; the sweeper will find it', { attempt, error: printable(String(error), MAX_ERROR_LENGTH) });
}
