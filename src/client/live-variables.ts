import type { Environment } from '../environments/define.ts';
import { type LiveBindings, liveBindings } from '../environments/live.ts';
import { ConfigError, readVariables } from '../worker/config.ts';

/** Holds the variables that name an environment's real services against those of this process, which its workers inherit. @throws {ConfigError} */
export function requireLiveVariables(environment: Environment): void {
  const problems = Object.entries(liveBindings(environment)).flatMap(([service, binding]) => missing(service, binding));
  if (problems.length > 0) throw new ConfigError(problems);
}

function missing(service: string, { address, secret }: NonNullable<LiveBindings[keyof LiveBindings]>): readonly string[] {
  const what: readonly (readonly [string, string])[] = [
    ...(typeof address === 'string' ? [] : [[address.variable, 'the address of the real service'] as const]),
    [secret.variable, 'the secret of the account that makes accounts of trials there'],
  ];
  return what.flatMap(([variable, meaning]) =>
    readVariables([variable])[variable] ? [] : [`${variable}: expected ${meaning}, for ${service} of the environment`],
  );
}
