import type { Normalisation, NormalisationRule } from '../domain/cassette.ts';
import type { Json } from '../domain/json.ts';
import { isList, isObject } from '../domain/text/bounded.ts';
import { decimalOf, decimalText } from '../domain/text/decimal.ts';
import { dateTimeOf } from '../domain/text/instant.ts';
import { mailbox } from '../domain/text/mailbox.ts';
import { canonicalJson } from '../suite/identity.ts';

/** Arguments of a tool with what a suite's rules let be different taken out. */
export function normalised(tool: string, args: Json, rules: readonly NormalisationRule[]): Json {
  return rules.filter((rule) => rule.tool === '*' || rule.tool === tool).reduce((value, rule) => at(value, rule.field.split('.'), rule.as), args);
}

function at(value: Json, path: readonly string[], as: Normalisation): Json {
  const [step = '', ...rest] = path;
  const each = step.endsWith('[]');
  const name = each ? step.slice(0, -2) : step;
  if (!isObject(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: found = null, ...others } = value;
  if (rest.length === 0 && !each) {
    const changed = compared(found, as);
    return changed === undefined ? others : { ...value, [name]: changed };
  }
  if (!each) return { ...value, [name]: at(found, rest, as) };
  if (!isList(found)) return value;
  const items = rest.length > 0 ? found.map((item) => at(item, rest, as)) : found.flatMap((item) => compared(item, as) ?? []);
  return { ...value, [name]: items };
}

/** Undefined: it does not count at all. A value of another kind stays as it is. */
function compared(value: Json, as: Normalisation): Json | undefined {
  switch (as) {
    case 'ignore':
      return undefined;
    case 'unordered':
      return isList(value) ? [...value].sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1)) : value;
    case 'number': {
      const number = typeof value === 'number' || typeof value === 'string' ? decimalOf(value) : null;
      return number === null ? value : decimalText(number);
    }
    default:
      return typeof value === 'string' ? textAs(value, as) : value;
  }
}

function textAs(value: string, as: 'caseless' | 'spaces' | 'instant' | 'mailbox'): string {
  if (as === 'caseless') return value.normalize('NFC').toLowerCase();
  if (as === 'spaces') return value.trim().replace(/\s+/g, ' ');
  if (as === 'mailbox') return mailbox(value).toLowerCase();
  const time = dateTimeOf(value);
  return time === null ? value : `${time.nanos}${time.offset ? ' UTC' : ''}`;
}
