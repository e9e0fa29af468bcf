/** Trials of one kind that are to be run. */
export interface PlannedKind {
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  readonly trials: number;
  /** Its agent or its simulated user is known to ask models. */
  readonly asksModels: boolean;
}

/** What an earlier trial took, all its attempts included. */
export interface Sample {
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  readonly seconds: number;
  /** Calls of models, for the agent and for the simulated user. */
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  /** By currency. */
  readonly cost: { readonly [currency: string]: number };
  /** Calls with a reply of which tokens or price are not known: the sums leave them out. */
  readonly unmeasured: { readonly tokens: number; readonly cost: number };
}

/** What a sum is likely to be, and what it stays below nine times in ten. */
export interface Range {
  readonly likely: number;
  readonly high: number;
}

/** From which earlier trials a kind is estimated: those of the same case, schedule and agent; of the same case and agent; of the same agent; there are none. */
export type Basis = 'same' | 'case' | 'agent' | 'none';

export interface Estimate {
  readonly trials: number;
  /** Of these, by what they are estimated from. The ranges leave out those with `none`. */
  readonly basis: { readonly [basis in Basis]: number };
  /** Earlier trials that were looked at. */
  readonly samples: number;
  /** From the first trial's start to the last one's end; null: no earlier trial to estimate from. */
  readonly seconds: Range | null;
  /** Null: no earlier trial to estimate from, or none of these called a model that said how much it took. */
  readonly tokens: { readonly input: Range; readonly output: Range } | null;
  /** By currency; null as with tokens. */
  readonly cost: { readonly [currency: string]: Range } | null;
  /** Calls of models in those earlier trials; 0: they called none that was seen. */
  readonly calls: number;
  /** Of these, calls whose tokens or price are not known. */
  readonly unmeasured: { readonly tokens: number; readonly cost: number };
  /** Trials that ask models, and of which nothing tells what these will cost: the sums leave them out. */
  readonly unpriced: number;
  readonly kinds: readonly EstimatedKind[];
}

export interface EstimatedKind extends PlannedKind {
  readonly basis: Basis;
  /** Earlier trials that it is estimated from. */
  readonly samples: number;
}

/** Estimates a run from earlier trials. Nothing is ever 0 because it is not known. */
export function estimateRun(kinds: readonly PlannedKind[], samples: readonly Sample[], concurrency: number): Estimate {
  const based = kinds.filter(({ trials }) => trials > 0).map((kind) => ({ kind, ...basisOf(kind, samples) }));
  const trialsBy = (basis: Basis) => based.reduce((sum, one) => sum + (one.basis === basis ? one.kind.trials : 0), 0);
  const known = based.filter(({ basis }) => basis !== 'none');
  const used = [...new Set(known.flatMap((one) => one.samples))];
  const total = (pick: (sample: Sample) => number): Range => sumRange(known.map((one) => ({ trials: one.kind.trials, values: one.samples.map(pick) })));
  const count = (pick: (sample: Sample) => number) => used.reduce((sum, sample) => sum + pick(sample), 0);
  const calls = count((sample) => sample.calls);
  const measured = (what: 'tokens' | 'cost') => used.some((sample) => sample.calls > sample.unmeasured[what]);
  const currencies = [...new Set(used.flatMap((sample) => Object.keys(sample.cost)))].sort();
  return {
    trials: kinds.reduce((sum, { trials }) => sum + trials, 0),
    basis: { same: trialsBy('same'), case: trialsBy('case'), agent: trialsBy('agent'), none: trialsBy('none') },
    samples: used.length,
    seconds:
      known.length === 0
        ? null
        : elapsed(
            known,
            total(({ seconds }) => seconds),
            concurrency,
          ),
    tokens: measured('tokens') ? { input: total(({ input }) => input), output: total(({ output }) => output) } : null,
    cost: currencies.length === 0 ? null : Object.fromEntries(currencies.map((currency) => [currency, total(({ cost }) => cost[currency] ?? 0)])),
    calls,
    unmeasured: { tokens: count(({ unmeasured }) => unmeasured.tokens), cost: count(({ unmeasured }) => unmeasured.cost) },
    unpriced: based.reduce((sum, { kind, samples: own }) => sum + (kind.asksModels && !priced(own) ? kind.trials : 0), 0),
    kinds: based.map(({ kind, basis, samples: own }) => ({ ...kind, basis, samples: own.length })),
  };
}

function priced(samples: readonly Sample[]): boolean {
  return samples.length > 0 && samples.every(({ unmeasured }) => unmeasured.cost === 0);
}

interface Based {
  readonly kind: PlannedKind;
  readonly samples: readonly Sample[];
}

function basisOf(kind: PlannedKind, samples: readonly Sample[]): { readonly basis: Basis; readonly samples: readonly Sample[] } {
  const agent = samples.filter((sample) => sample.agent === kind.agent);
  const ofCase = agent.filter((sample) => sample.case === kind.case);
  const same = ofCase.filter((sample) => sample.schedule === kind.schedule);
  if (same.length > 0) return { basis: 'same', samples: same };
  if (ofCase.length > 0) return { basis: 'case', samples: ofCase };
  return { basis: agent.length > 0 ? 'agent' : 'none', samples: agent };
}

/** Ninth decile of the normal distribution. */
const HIGH = 1.2816;

/**
 * Sum over trials, each like one of its samples. Its spread is that of the trials and that of the means, which few samples know badly; of one sample it is taken to be as
 * large as the value itself.
 */
function sumRange(groups: readonly { readonly trials: number; readonly values: readonly number[] }[]): Range {
  let likely = 0;
  let variance = 0;
  for (const { trials, values } of groups) {
    const { mean, deviation } = momentsOf(values);
    likely += trials * mean;
    variance += deviation ** 2 * (trials + trials ** 2 / values.length);
  }
  return { likely, high: likely + HIGH * Math.sqrt(variance) };
}

/** A batch takes as long as its trials side by side, and no less than its longest. */
function elapsed(groups: readonly Based[], work: Range, concurrency: number): Range {
  const trials = groups.reduce((sum, { kind }) => sum + kind.trials, 0);
  const lanes = Math.max(1, Math.min(concurrency, trials));
  const one = groups.map(({ samples }) => momentsOf(samples.map(({ seconds }) => seconds)));
  const longest = Math.max(...one.map(({ mean }) => mean));
  const longestHigh = Math.max(...one.map(({ mean, deviation }) => mean + HIGH * deviation));
  return { likely: Math.max(longest, work.likely / lanes), high: Math.max(longestHigh, work.high / lanes) };
}

function momentsOf(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length < 2) return { mean, deviation: mean };
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)) };
}
