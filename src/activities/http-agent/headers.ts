import { ApplicationFailure } from '@temporalio/common';
import type { AgentSpec } from '../../domain/agent.ts';

const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** Values of an agent's headers, from the variables that its description names. @throws `AgentHeaderMissing` for one that is not set or cannot be sent; never with the value. */
export function headersOf(
  { name: agent, headers }: Extract<AgentSpec, { kind: 'http' }>,
  environmentOf: (names: readonly string[]) => { readonly [name: string]: string },
): { readonly [name: string]: string } {
  const values = environmentOf(Object.values(headers));
  return Object.fromEntries(
    Object.entries(headers).map(([name, variable]) => {
      const value = values[variable] ?? '';
      if (VALUE.test(value)) return [name, value];
      const why = value === '' ? 'is not set where the worker runs' : 'holds what no header can carry';
      throw ApplicationFailure.nonRetryable(`${variable}, which agent ${agent} sends as header ${name}, ${why}`, 'AgentHeaderMissing');
    }),
  );
}
