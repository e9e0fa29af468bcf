import { FAILURE_CATEGORIES } from '../failure-category.ts';
import { nearestName } from '../text/nearest.ts';
import { printable } from '../text/bounded.ts';
import { type Chosen, COMPARISONS, FIGURES, type Figure, type Gate } from './gate.ts';

/** A gate that cannot be read. Raised before anything runs; the message names the place, what was expected there and the nearest known name. */
export class GateSyntaxError extends Error {
  override readonly name = 'GateSyntaxError';
  readonly code = 'gate_syntax';
  readonly gate: string;
  /** From 1. */
  readonly column: number;

  constructor(gate: string, column: number, expected: string) {
    super(`gate ${JSON.stringify(printable(gate, MAX_GATE_LENGTH))}, column ${column}: ${expected}`);
    this.gate = gate;
    this.column = column;
  }
}

const MAX_GATE_LENGTH = 200;
const MAX_REPEATS = 1000;

const NAMES: readonly string[] = [...FIGURES, ...FAILURE_CATEGORIES.filter((name) => !(FIGURES as readonly string[]).includes(name))];

/** Figures of which there is a share of trials. `infra` has none: it is what is missing from the scored ones. */
const UNSHARED: ReadonlySet<string> = new Set(['pass', 'infra', 'cost', 'tokens', 'judge']);

/**
 * Reads a gate, such as `pass>=0.9`, `lower(pass)>=0.85`, `pass^3>=60%`, `forbidden[critical]==0` or `upper(share(forbidden))<=2%`. Its grammar is in `docs/how-to/gates.md`.
 * Whether a tag is one of the batch's cases is known only with the batch. @throws {GateSyntaxError}
 */
export function parseGate(written: string): Gate {
  const text = written.trim();
  if (text.length > MAX_GATE_LENGTH) throw new GateSyntaxError(text, MAX_GATE_LENGTH, `expected at most ${MAX_GATE_LENGTH} characters`);
  const reader = new Reader(text);
  const at = reader.word(['lower', 'upper'], '(') as 'lower' | 'upper' | null;
  if (at !== null) reader.take('(', '"("');
  const share = reader.word(['share'], '(') !== null;
  if (share) reader.take('(', '"("');
  const [figure, begin] = reader.name('a figure', NAMES);
  const repeats = figure === 'pass' ? reader.repeats() : null;
  const judge = figure === 'judge' ? reader.judge() : null;
  const chosen = judge === null ? reader.chosen() : judge.chosen;
  if (share) reader.take(')', '")" after what the share is of');
  if (at !== null) reader.take(')', `")" after what ${at} is of`);
  if (share && UNSHARED.has(figure))
    throw new GateSyntaxError(text, begin, `there is no share of "${figure}"; expected a figure that counts trials, such as forbidden`);
  const isShare = share || figure === 'pass' || figure === 'judge';
  if (at !== null && !isShare)
    throw new GateSyntaxError(
      text,
      begin,
      `"${figure}" is a count, which has no interval; expected a share, such as ${at}(share(${UNSHARED.has(figure) ? 'forbidden' : figure}))`,
    );
  if (figure === 'infra' && chosen[0] !== undefined)
    throw new GateSyntaxError(text, chosen[0].column, 'infrastructure errors are of the whole batch; expected no brackets');
  const comparison = reader.comparison();
  const value = reader.value(isShare);
  return { text, figure: figure as Figure, repeats, share, at: at ?? 'point', chosen, ...(judge && { judge: judge.of }), comparison, value };
}

/** Reads a text from its beginning. Spaces between parts do not count. */
class Reader {
  private readonly text: string;
  private place = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** One of these words, where `then` follows it. */
  word(words: readonly string[], then: string): string | null {
    const found = this.ahead(/^[a-z_]+/i);
    if (found === null || !words.includes(found) || !this.rest.slice(found.length).trimStart().startsWith(then)) return null;
    this.place += found.length;
    return found;
  }

  take(sign: string, expected: string): void {
    if (!this.rest.startsWith(sign)) this.fail(`expected ${expected}`);
    this.place += sign.length;
  }

  name(what: string, known: readonly string[]): readonly [string, number] {
    const found = this.ahead(/^[\p{L}\p{N}_-]+/u);
    const column = this.place + 1;
    if (found === null) this.fail(`expected ${what}: ${known.join(', ')}`);
    if (!known.includes(found)) {
      const near = nearestName(found, known);
      this.fail(`"${found}" is no figure${near === null ? '' : ` (did you mean "${near}"?)`}; expected one of ${known.join(', ')}`);
    }
    this.place += found.length;
    return [found, column];
  }

  repeats(): Gate['repeats'] {
    const sign = this.ahead(/^[\^@]/);
    if (sign === null) return null;
    this.place += 1;
    const digits = this.ahead(/^\d+/);
    const k = Number(digits);
    if (digits === null || k < 1 || k > MAX_REPEATS) this.fail(`expected a number of repetitions from 1 to ${MAX_REPEATS}, as in pass${sign}3`);
    this.place += digits.length;
    return { of: sign === '^' ? 'every' : 'any', k };
  }

  /** `[RUBRIC]`, `[RUBRIC@SERIES]`, and severities or tags after it. */
  judge(): { readonly of: NonNullable<Gate['judge']>; readonly chosen: readonly Chosen[] } {
    const [first, ...chosen] = this.chosen('the name of a rubric, as in judge[tone]');
    if (first === undefined) this.fail('expected the name of a rubric in brackets, as in judge[tone]');
    const [, rubric = '', series = null] = /^([^@]*)(?:@(.*))?$/.exec(first.label) ?? [];
    if (rubric === '' || series === '')
      throw new GateSyntaxError(this.text, first.column, 'expected a rubric, or a rubric and its version or series, as in judge[tone@1.2.0]');
    return { of: { rubric, series }, chosen };
  }

  chosen(what = 'a severity or a tag, as in forbidden[critical]'): readonly Chosen[] {
    if (!this.rest.startsWith('[')) return [];
    const chosen: Chosen[] = [];
    do {
      this.place += 1;
      const label = this.ahead(/^[^\s,[\]()<>=]+/u);
      if (label === null) this.fail(`expected ${chosen.length === 0 ? what : 'a severity or a tag, as in forbidden[critical]'}`);
      chosen.push({ label, column: this.place + 1 });
      this.place += label.length;
    } while (this.rest.startsWith(','));
    this.take(']', '"]" or "," after a severity or tag');
    return chosen;
  }

  comparison(): Gate['comparison'] {
    const found = COMPARISONS.find((sign) => this.rest.startsWith(sign));
    if (found === undefined) this.fail(`expected ${COMPARISONS.join(', ')}`);
    this.place += found.length;
    return found;
  }

  value(isShare: boolean): number {
    const digits = this.ahead(/^\d{1,12}(?:\.\d{1,9})?/);
    const begin = this.place;
    if (digits === null) this.fail(isShare ? 'expected a share, such as 0.9 or 90%' : 'expected a number');
    this.place += digits.length;
    const percent = this.rest.startsWith('%');
    if (percent && !isShare) this.fail('this figure is a count and no share; expected a number without "%"');
    if (percent) this.place += 1;
    if (this.rest !== '') this.fail('expected nothing more; several gates are several options');
    const value = percent ? Number(digits) / 100 : Number(digits);
    if (isShare && value > 1) {
      this.place = begin;
      this.fail(`a share is at most 1; for percent write ${digits}%`);
    }
    return value;
  }

  private get rest(): string {
    const spaces = this.text.slice(this.place).length - this.text.slice(this.place).trimStart().length;
    this.place += spaces;
    return this.text.slice(this.place);
  }

  private ahead(pattern: RegExp): string | null {
    return pattern.exec(this.rest)?.[0] ?? null;
  }

  private fail(expected: string): never {
    throw new GateSyntaxError(this.text, this.place + 1, expected);
  }
}
