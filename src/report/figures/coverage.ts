import type { Case, Columns, EffectPattern, Outcome } from '../../domain/case.ts';
import type { EnvironmentFacts } from '../../domain/environment-facts.ts';
import type { TableFacts } from '../../domain/record.ts';

/** What the grading of one case looks at. */
export interface CaseCoverage {
  readonly case: string;
  readonly title: string;
  readonly caseHash: string;
  /** Compared with what the case expects. */
  readonly checked: readonly Covered[];
  /** May happen, or hold whatever value, without being looked at. */
  readonly allowed: readonly Covered[];
  /** What a change of would not be seen, or cannot be read. */
  readonly unobservable: readonly string[];
  /** Tables in which any change at all fails the case. Null: the tables are not known. */
  readonly closed: readonly string[] | null;
}

/** A table, `mail`, `answer`, `claims` or `calls`. */
export interface Covered {
  readonly what: string;
  /** Columns, or parts of a mail; null: all of them. */
  readonly parts: readonly string[] | null;
}

/** `tables`: as a record has them; null where no trial has one. */
export function coverageOf(
  kase: Case,
  caseHash: string,
  { tables, services }: { readonly tables: { readonly [table: string]: TableFacts } | null; readonly services: EnvironmentFacts['services'] | null },
): CaseCoverage {
  const { outcomes, allowed, constraints, claims, forbidden } = kase.expect;
  const checked = outcomes.flatMap(checkedBy);
  const named = new Set([...checked, ...allowed.map(patternWhat)].map(({ what }) => what));
  const whole = outcomes.some((outcome) => 'same_as' in outcome);
  return {
    case: kase.id,
    title: kase.title,
    caseHash,
    checked: merged([
      ...checked,
      ...(whole ? [{ what: 'every table and mail, as the reference leaves them', parts: null }] : []),
      ...(claims.length > 0 ? [{ what: 'claims', parts: claims.map(({ name }) => name) }] : []),
      ...(constraints.length > 0 ? [{ what: 'calls', parts: [`${constraints.length} ${constraints.length === 1 ? 'constraint' : 'constraints'}`] }] : []),
      ...(forbidden.length > 0 ? [{ what: 'named forbidden effects', parts: forbidden.map(({ name }) => name) }] : []),
    ]),
    allowed: merged([...allowed.map(freeIn), ...outcomes.flatMap((outcome) => ('effects' in outcome ? outcome.effects.flatMap(freeBeside) : []))]),
    unobservable: [
      ...Object.entries(tables ?? {}).flatMap(([table, { ignored }]) => ignored.map((column) => `${table}.${column}: never compared`)),
      ...(services === null
        ? []
        : ['inbox', 'tickets'].filter((name) => !services.some((one) => one.name === name)).map((name) => `${name}: the world has none`)),
      ...(claims.length === 0 ? ['what the user was told: the case makes no claim'] : []),
      'what the agent does outside the world: network, files, other systems',
    ],
    closed: tables === null ? null : Object.keys(tables).filter((table) => !named.has(`table ${table}`)),
  };
}

function checkedBy(outcome: Outcome): readonly Covered[] {
  if (!('effects' in outcome)) return [];
  return [
    ...outcome.effects.map((pattern) => ({ ...patternWhat(pattern), parts: partsChecked(pattern) })),
    ...(outcome.answer === undefined ? [] : [{ what: 'answer', parts: Object.keys(outcome.answer) }]),
  ];
}

function patternWhat(pattern: EffectPattern): Covered {
  return { what: 'row' in pattern ? `table ${pattern.row}` : 'mail', parts: null };
}

function partsChecked(pattern: EffectPattern): readonly string[] {
  if ('row' in pattern) return [...new Set([...names(pattern.where), ...names(pattern.before), ...(pattern.only ?? [])])];
  return [
    'recipients',
    ...(pattern.from === undefined ? [] : ['from']),
    ...(pattern.subject === undefined ? [] : ['subject']),
    ...(pattern.body === undefined ? [] : ['body']),
  ];
}

/** What an effect that may happen leaves open. */
function freeIn(pattern: EffectPattern): Covered {
  const parts = partsChecked(pattern);
  return { ...patternWhat(pattern), parts: parts.length === 0 ? null : [`any but ${parts.join(', ')}`] };
}

/** What an effect that is expected leaves open: of an update only named columns may differ. */
function freeBeside(pattern: EffectPattern): readonly Covered[] {
  if ('row' in pattern && pattern.change === 'update') return [];
  return [freeIn(pattern)];
}

function names(columns: Columns | undefined): readonly string[] {
  return Object.keys(columns ?? {});
}

/** Each thing once. */
function merged(covered: readonly Covered[]): readonly Covered[] {
  return [...Map.groupBy(covered, ({ what }) => what)].map(([what, all]) => ({
    what,
    parts: all.some(({ parts }) => parts === null) ? null : [...new Set(all.flatMap(({ parts }) => parts ?? []))],
  }));
}
