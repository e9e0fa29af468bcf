import type { OpenSession } from '../gateway/gateway.ts';

/**
 * Where an agent's process asks models through the gateway, as variables of its environment. `asProviders`: also under the names that providers' libraries read,
 * with the token as the key.
 */
export function modelVariables(
  { token, models: { openai, anthropic } }: { readonly token: string; readonly models: OpenSession['models'] },
  asProviders: boolean,
): { readonly [name: string]: string } {
  return {
    ...((openai !== undefined || anthropic !== undefined) && { TRIALBED_TOKEN: token }),
    ...(openai !== undefined && { TRIALBED_MODEL_OPENAI: openai, ...(asProviders && { OPENAI_BASE_URL: openai, OPENAI_API_KEY: token }) }),
    ...(anthropic !== undefined && { TRIALBED_MODEL_ANTHROPIC: anthropic, ...(asProviders && { ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_API_KEY: token }) }),
  };
}
