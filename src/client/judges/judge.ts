import type { JudgeSeries, Judgement } from '../../domain/judging.ts';
import { type ModelRoute, addUp } from '../../domain/model.ts';
import { askJudge } from '../../judges/ask-judge.ts';
import type { JudgeStanding } from '../../judges/standing.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { Store, TrialRow } from '../../store/store.ts';
import { JudgeRefusedError, JudgeSetupError, JudgeStoppedError } from './errors.ts';
import { type JudgeRequest, type PlannedJudging, planJudging } from './plan.ts';
import { addressesOf, showToJudge } from './show-to-judge.ts';
import { standingOfSeries } from '../../judges/standing-of-series.ts';

/** What became of a request, and how the batch's judgements of this series stand. */
export interface JudgeReport {
  readonly batch: string;
  readonly series: JudgeSeries;
  /** What this request has added: categories, and judgements that are errors. */
  readonly added: { readonly judged: number; readonly failed: number };
  /** All there is of the series in the batch, this request's included. `open`: trials with a verdict that are not judged; `unjudgeable`: those among them whose record was removed. */
  readonly stands: { readonly trials: number; readonly judged: number; readonly failed: number; readonly open: number; readonly unjudgeable: number };
  /** Trials of each category, in the rubric's order. */
  readonly categories: { readonly [category: string]: number };
  /** Errors by their code. */
  readonly problems: { readonly [code: string]: number };
  /** Of all judgements of the series in the batch. */
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** By currency; null: not measured. */
  readonly cost: { readonly [currency: string]: number } | null;
  /** Why not all were asked about; null: all were. */
  readonly stopped: 'max_cost' | null;
  /** Against people, over all batches. */
  readonly standing: JudgeStanding;
}

export interface JudgeServices {
  readonly store: Store;
  readonly models: Pick<ModelClient, 'ask'>;
  readonly now: () => Date;
}

const AT_ONCE = 4;

/**
 * Has the trials of a batch judged that have no judgement of the series yet. Each judgement is stored as soon as its reply has come, so whatever ends this, the same request goes on with the rest.
 * @throws as `planJudging` @throws {JudgeSetupError} @throws {JudgeStoppedError} @throws the signal's reason
 */
export async function judge(services: JudgeServices, request: JudgeRequest): Promise<JudgeReport> {
  const { store } = services;
  const plan = await planJudging(store, request);
  // Two who ask the same would pay twice for one judgement.
  const mark = `judge ${plan.series.id} ${plan.batch.id}`;
  if ((await store.driven([mark])).has(mark))
    throw new JudgeRefusedError(`another process has batch ${plan.batch.id} judged by ${plan.rubric.rubric.name} with this model already; wait for it`);
  await using _ = await store.drive(mark);
  await store.judging.putSeries(plan.series);
  const round = new Round(services, plan, request);
  await round.run();
  return reportOf(store, plan, round);
}

/** One request's way through the trials that are open. */
class Round {
  judged = 0;
  failed = 0;
  unjudgeable = 0;
  stopped: JudgeReport['stopped'] = null;
  readonly #services: JudgeServices;
  readonly #plan: PlannedJudging;
  readonly #request: JudgeRequest;
  readonly #stop = new AbortController();
  #next = 0;
  #done = 0;
  #spent: number;

  constructor(services: JudgeServices, plan: PlannedJudging, request: JudgeRequest) {
    this.#services = services;
    this.#plan = plan;
    this.#request = request;
    this.#spent = plan.before.reduce((sum, { price }) => sum + (price && price.currency === request.maxCost?.currency ? price.amount : 0), 0);
  }

  /** @throws what stopped it, once what was under way has ended and is stored. */
  async run(): Promise<void> {
    const { signal, concurrency = AT_ONCE } = this.#request;
    const atOnce = Math.max(1, Math.min(concurrency, this.#plan.route.rate.atOnce ?? concurrency, this.#plan.open.length));
    const interrupted = () => this.#stop.abort(signal?.reason);
    if (signal?.aborted) interrupted();
    signal?.addEventListener('abort', interrupted, { once: true });
    try {
      const ends = await Promise.allSettled(Array.from({ length: atOnce }, () => this.#work()));
      const failure = ends.find((end) => end.status === 'rejected');
      // Whoever leaves because another one failed has nothing to tell.
      if (this.#stop.signal.aborted) throw this.#told(this.#stop.signal.reason);
      if (failure) throw failure.reason;
    } finally {
      signal?.removeEventListener('abort', interrupted);
    }
  }

  async #work(): Promise<void> {
    const { open } = this.#plan;
    while (this.#next < open.length && !this.#stop.signal.aborted && this.stopped === null) {
      if (this.#request.maxCost && this.#spent >= this.#request.maxCost.amount) {
        this.stopped = 'max_cost';
        return;
      }
      const trial = open[this.#next++];
      try {
        if (trial) await this.#judge(trial);
      } catch (error) {
        this.#stop.abort(error);
        return;
      }
      this.#done++;
      this.#request.onProgress?.(this.#done, open.length);
    }
  }

  async #judge(trial: TrialRow): Promise<void> {
    const { store, models, now } = this.#services;
    const { route, rubric, batch, series } = this.#plan;
    const sent = await showToJudge(store, this.#plan, trial);
    if (sent === null) {
      this.unjudgeable++;
      return;
    }
    const asked = await askJudge(sent.messages, { models, route, rubric: rubric.rubric, stop: this.#stop.signal, addresses: addressesOf(batch), now });
    const judgement: Judgement = { series: series.id, trial: trial.id, attempt: trial.attempt, ...asked, shortened: sent.shortened };
    await store.judging.addJudgement(judgement);
    if (judgement.category === null) this.failed++;
    else this.judged++;
    this.#pay(judgement, route);
  }

  #pay({ price, problem }: Judgement, route: ModelRoute): void {
    if (!this.#request.maxCost) return;
    if (price) this.#spent += price.amount;
    else if (problem?.code === 'bad_reply' || problem === null)
      throw new JudgeRefusedError(`route ${route.name} reports no tokens, so that a limit of money cannot be kept; leave the limit out`);
  }

  /** An error of a model as one of judging. */
  #told(reason: unknown): unknown {
    if (!(reason instanceof ModelError)) return reason;
    const { route } = this.#plan;
    if (reason.kind === 'setup') {
      const why =
        reason.code === 'no_key' && route.key !== null ? `route ${route.name} needs a key in the variable ${route.key}, which holds none here` : reason.message;
      return new JudgeSetupError(why);
    }
    const left = this.#plan.open.length - this.#done;
    return new JudgeStoppedError(
      `${reason.message}; ${this.judged + this.failed} judgements are kept, and the same command goes on with the ${left} that are left`,
      this.judged,
    );
  }
}

async function reportOf(store: Store, { batch, rubric, series, trials }: PlannedJudging, round: Round): Promise<JudgeReport> {
  const all = await store.judging.judgements(batch.id, series.id);
  const judged = all.filter(({ category }) => category !== null);
  const failed = all.filter(({ category }) => category === null);
  const used = all.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const paid = all.flatMap(({ price }) => (price === null ? [] : [price]));
  return {
    batch: batch.id,
    series,
    added: { judged: round.judged, failed: round.failed },
    stands: { trials: trials.length, judged: judged.length, failed: failed.length, open: trials.length - all.length, unjudgeable: round.unjudgeable },
    categories: Object.fromEntries(rubric.rubric.scale.map(({ category }) => [category, judged.filter((one) => one.category === category).length])),
    problems: Object.fromEntries([...Map.groupBy(failed, ({ problem }) => problem?.code ?? 'unknown')].map(([code, own]) => [code, own.length])),
    tokens: used.length === 0 ? null : { input: used.reduce((sum, { input }) => sum + input, 0), output: used.reduce((sum, { output }) => sum + output, 0) },
    cost: paid.length === 0 ? null : addUp(paid),
    stopped: round.stopped,
    standing: standingOfSeries(rubric, await store.judging.ratedByBoth(series.id)),
  };
}
