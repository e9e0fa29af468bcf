import type { Binding } from '../domain/cassette.ts';
import type { EnvironmentDefinition } from './define.ts';

/** What an environment's services are; without a word they are a fixture's, since its worlds are made by us. */
export function bindingOf({ binding = 'fixture' }: Pick<EnvironmentDefinition, 'binding'>): Binding {
  return binding;
}
