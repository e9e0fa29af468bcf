import type { JudgeModel, JudgeSeries } from '../domain/judging.ts';
import type { ModelRoute } from '../domain/model.ts';
import type { StoredRubric } from '../domain/rubric.ts';
import { contentHash } from '../suite/identity.ts';
import { PROMPT_VERSION } from './prompt.ts';

const ID_DIGITS = 16;

/** The series to which judgements by this rubric and route belong. Prices, limits, the key and the route's name do not count: they change nothing that a judge says. */
export function seriesFor({ rubric, digest }: Pick<StoredRubric, 'rubric' | 'digest'>, route: ModelRoute): JudgeSeries {
  const { api, url, model, parameters, seed } = route;
  const judge: JudgeModel = { api, url, model, parameters, seed };
  const id = contentHash({ digest, judge, prompt: PROMPT_VERSION }).slice(0, ID_DIGITS);
  return { id, rubric: rubric.name, version: rubric.version, digest, route: route.name, judge, prompt: PROMPT_VERSION };
}
