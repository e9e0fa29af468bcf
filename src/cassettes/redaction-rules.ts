import type { SuiteCassettes } from '../suite/cassette-schema.ts';
import { NO_RULES, type RedactionRules } from './redactor.ts';

/** What a suite says is not to be kept, ready to be used. */
export function redactionRules(rules: SuiteCassettes | null): RedactionRules {
  if (rules === null) return NO_RULES;
  return {
    fields: rules.fields.map(({ field, as }) => ({ field: new RegExp(`^${field.replace(/[.-]/g, '\\$&').replaceAll('*', '.*')}$`, 'i'), as })),
    patterns: rules.patterns.map(({ pattern, as }) => ({ pattern: new RegExp(pattern, 'gu'), as })),
  };
}
