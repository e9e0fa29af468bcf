import { createModelClient, type ModelClient } from '../../models/client.ts';
import { readVariables } from '../../worker/config.ts';

/** Judges are asked by this process, with the keys of its environment. One client for each request: it keeps the rate limits of its routes. */
export function judgeModels(): ModelClient {
  return createModelClient({ variable: (name) => readVariables([name])[name] });
}
