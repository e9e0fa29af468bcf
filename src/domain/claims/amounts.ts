import { compareDecimals, type Decimal, decimalOf } from '../text/decimal.ts';
import { datesIn } from './dates.ts';
import type { Candidate } from './candidates.ts';

/** Amounts of money in a sentence against the one that is expected. A bare number counts where it is equal and names nothing else (an order, days, a percentage). */
export function amountsIn(sentence: string, expected: number, currency: string | undefined): Candidate[] {
  if (!/\d/.test(sentence)) return [];
  const wanted = decimalOf(expected);
  const taken = datesIn(sentence);
  const found: Candidate[] = [];
  for (const match of sentence.matchAll(AMOUNT)) {
    const at = match.index;
    const end = at + match[0].length;
    if (taken.some((date) => at < date.end && date.at < end)) continue;
    const { before, digits = '', after } = match.groups ?? {};
    const codes = codesOf(before) ?? codesOf(after);
    if (codes === null && namesSomethingElse(sentence.slice(0, at), sentence.slice(end))) continue;
    const { sure, perhaps } = readingsOf(digits, codes !== null);
    const equals = (value: Decimal): boolean => wanted !== null && compareDecimals(value, wanted) === 0;
    const currencyFits = codes === null || currency === undefined || codes.includes(currency.toUpperCase());
    if (sure !== null && equals(sure) && currencyFits) found.push({ at, end, text: match[0], match: minusBefore(sentence, at) ? 'maybe' : 'right' });
    else if (perhaps.some(equals) && currencyFits) found.push({ at, end, text: match[0], match: 'maybe' });
    else if (codes !== null || /[.,]\d\d$/u.test(digits)) found.push({ at, end, text: match[0], match: 'wrong' });
  }
  return found;
}

/** Whether a sentence writes an amount of money in words, which these rules do not read. */
export function amountInWords(sentence: string): boolean {
  return /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\p{L}+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)\b[\s-](?:and |\p{L}+[\s-]){0,4}?(?:euros?|dollars?|pounds?|francs?|cents?|eur|usd|gbp|chf)\b/iu.test(
    sentence,
  );
}

const SYMBOLS: { readonly [symbol: string]: readonly string[] } = {
  '€': ['EUR'],
  euro: ['EUR'],
  euros: ['EUR'],
  $: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN'],
  us$: ['USD'],
  dollar: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD'],
  dollars: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD'],
  '£': ['GBP'],
  pound: ['GBP'],
  pounds: ['GBP'],
  '¥': ['JPY', 'CNY'],
  yen: ['JPY'],
  '₹': ['INR'],
  franc: ['CHF'],
  francs: ['CHF'],
  kr: ['SEK', 'NOK', 'DKK'],
};
const CODES = 'EUR|USD|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|CNY|BRL|MXN|ZAR|SGD|HKD|KRW|TRY';
const UNITS = `US\\$|€|\\$|£|¥|₹|euros?|dollars?|pounds?|yen|francs?|kr|${CODES}`;
const AMOUNT = new RegExp(
  `(?<![\\p{L}\\p{N}_]|\\d[.,:/-]|[-/][\\p{L}\\p{N}]{0,20}-)(?:(?<before>${UNITS})\\s?)?(?<!\\d|\\d[.,:/-]|[\\p{L}_#]-)(?<digits>\\d{1,3}(?:[.,'\\u2019\\u00A0\\u202F]\\d{3})+(?:[.,]\\d{1,2})?|\\d+(?:[.,]\\d+)?)(?:\\s?(?<after>${UNITS}))?(?![\\p{L}\\p{N}_]|[.,:/-]\\d|-\\p{L})`,
  'giu',
);

/** Values that digits with separators can have: the sure one, and others where the separator could be read either way. */
function readingsOf(digits: string, money: boolean): { readonly sure: Decimal | null; readonly perhaps: readonly Decimal[] } {
  const plain = digits.replace(/['\u2019\u00A0\u202F]/gu, '');
  const point = plain.lastIndexOf('.');
  const comma = plain.lastIndexOf(',');
  const read = (text: string): Decimal | null => decimalOf(text);
  if (point >= 0 && comma >= 0) {
    const [grouping, decimal] = point > comma ? [',', '.'] : ['.', ','];
    return { sure: read(plain.replaceAll(grouping, '').replace(decimal, '.')), perhaps: [] };
  }
  const mark = point >= 0 ? '.' : ',';
  const parts = plain.split(mark);
  if (parts.length === 1) return { sure: read(plain), perhaps: [] };
  const joined = read(parts.join(''));
  if (parts.length > 2) return { sure: joined, perhaps: [] };
  const split = read(parts.join('.'));
  if (parts[1]?.length !== 3) return { sure: split, perhaps: [] };
  if (mark === ',') return { sure: joined, perhaps: split === null ? [] : [split] };
  const either = [joined, split].filter((value) => value !== null);
  return money ? { sure: null, perhaps: either } : { sure: split, perhaps: either };
}

function codesOf(unit: string | undefined): readonly string[] | null {
  if (unit === undefined) return null;
  const name = unit.toLowerCase();
  return Object.hasOwn(SYMBOLS, name) ? (SYMBOLS[name] ?? null) : [unit.toUpperCase()];
}

function namesSomethingElse(before: string, after: string): boolean {
  return (
    /(?:#|\b(?:orders?|tickets?|case|invoice|no\.?|nr\.?|number|id|customer|article|step|version|page|refund|payment|line|room|policy|section)\s*[:#]?\s?)$/iu.test(
      before,
    ) ||
    /^\s?(?:%|percent\b|days?\b|hours?\b|minutes?\b|weeks?\b|months?\b|years?\b|items?\b|pieces?\b|pcs\b|x\b|a\.?m\b|p\.?m\b|o'clock|business\b|working\b|calls?\b|tickets?\b|orders?\b|times\b|-?day\b)/iu.test(
      after,
    )
  );
}

function minusBefore(sentence: string, at: number): boolean {
  return /(?:^|\s)[-\u2212]\s?$/u.test(sentence.slice(Math.max(0, at - 3), at));
}
