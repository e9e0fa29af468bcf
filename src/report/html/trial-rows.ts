import type { TrialFacts } from '../../domain/trial-facts.ts';
import { durationText } from '../duration-text.ts';
import { trialState } from '../matrix.ts';
import { plainText, shorten } from '../plain-text.ts';
import { RESULT_WORDS, RESULTS, resultClass, type Result } from './words.tsx';

/** Every trial, small enough for ten thousand of them in one file: texts stand once, and rows name them by place. All of it is safe to show. */
export interface TrialRows {
  /** What all ids of trials begin with. */
  readonly prefix: string;
  readonly texts: readonly string[];
  /** Results, the worst first: name, word, class of its badge. */
  readonly results: readonly (readonly [Result, string, string])[];
  /** Members of a row, in order. */
  readonly members: readonly string[];
  readonly rows: readonly (readonly (number | string | null)[])[];
}

/** A trial as the table shows it. */
export interface ShownTrial {
  readonly ordinal: number;
  readonly trial: string;
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  readonly repetition: number;
  readonly result: Result;
  readonly ending: string;
  readonly category: string;
  readonly severity: string;
  readonly tags: string;
  readonly forbidden: number;
  readonly unknowns: number;
  readonly calls: number;
  readonly attempts: number;
  readonly wallMs: number | null;
  readonly spent: string;
  readonly why: string;
  /** Id of the element with its evidence; empty: there is none in the file. */
  readonly evidence: string;
}

/** Trials in the order in which a reader wants them: what did not pass first, then by the manifest. */
export function shownTrials(facts: readonly TrialFacts[], evidence: ReadonlyMap<string, string>): readonly ShownTrial[] {
  const trials = facts
    .map((one): ShownTrial => ({ ...shownTrial(one), evidence: evidence.get(one.trial) ?? '' }))
    .sort((a, b) => RESULTS.indexOf(a.result) - RESULTS.indexOf(b.result) || a.ordinal - b.ordinal);
  // What the texts of why take is bounded: those that come first have theirs.
  let left = WHY_CHARACTERS;
  const told = new Set<string>();
  return trials.map((one) => {
    if (!told.has(one.why)) {
      if (one.why.length > left) return { ...one, why: '' };
      told.add(one.why);
      left -= one.why.length;
    }
    return one;
  });
}

/** Packs trials for the script. */
export function packed(trials: readonly ShownTrial[]): TrialRows {
  const places = new Map<string, number>();
  const place = (text: string): number => {
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, places.size);
    return places.size - 1;
  };
  const prefix = commonStart(trials.map(({ trial }) => trial));
  const rows = trials.map((one) =>
    MEMBERS.map((member) => {
      const value = one[member];
      if (member === 'trial') return one.trial.slice(prefix.length);
      return typeof value === 'string' ? place(value) : value;
    }),
  );
  return { prefix, texts: [...places.keys()], results: RESULTS.map((result) => [result, RESULT_WORDS[result], resultClass(result)]), members: MEMBERS, rows };
}

/** `0.4 s`; what was not measured is empty. */
export function wallText(wallMs: number | null): string {
  return wallMs === null ? '' : durationText(wallMs / 1000);
}

const MEMBERS: readonly (keyof ShownTrial)[] = [
  'ordinal',
  'trial',
  'case',
  'schedule',
  'agent',
  'repetition',
  'result',
  'ending',
  'category',
  'severity',
  'tags',
  'forbidden',
  'unknowns',
  'calls',
  'attempts',
  'wallMs',
  'spent',
  'why',
  'evidence',
];

const NAME = 120;
const WHY = 240;
const WHY_CHARACTERS = 250_000;

function shownTrial(one: TrialFacts): Omit<ShownTrial, 'evidence'> {
  const { ordinal, repetition, severity, forbidden, unknowns, calls, attempts, tokens, money, times } = one;
  return {
    ordinal,
    trial: safe(one.trial, NAME),
    case: safe(one.case, NAME),
    schedule: safe(one.schedule, NAME),
    agent: safe(one.agent, NAME),
    repetition,
    result: one.ending === null ? 'open' : trialState(one),
    ending: one.ending ?? 'not ended',
    category: one.category ?? '',
    severity,
    tags: one.tags
      .map((tag) => safe(tag, 40))
      .slice(0, 20)
      .join(' '),
    forbidden,
    unknowns,
    calls,
    attempts,
    wallMs: times === null ? null : Math.round(times.wallMs),
    spent: [
      tokens === null ? null : `${tokens.input} tokens in, ${tokens.output} out`,
      ...Object.entries(money ?? {}).map(([currency, amount]) => `${Number(amount.toPrecision(4))} ${safe(currency, 10)}`),
    ]
      .filter((part) => part !== null)
      .join(', '),
    why: safe(one.why ?? '', WHY),
  };
}

function safe(text: string, columns: number): string {
  return shorten(plainText(text.slice(0, columns * 4)), columns);
}

function commonStart(texts: readonly string[]): string {
  const [first = ''] = texts;
  let length = first.length;
  for (const text of texts) while (length > 0 && !text.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
