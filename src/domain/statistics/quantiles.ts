import normal from '@stdlib/stats-base-dists-normal-quantile';
import student from '@stdlib/stats-base-dists-t-quantile';
import { quantileSorted } from 'd3-array';

/** How many standard errors a two-sided interval of this level reaches to each side: of the normal distribution, or of Student's t with so many degrees of freedom. */
export function critical(level: number, freedom: number = Number.POSITIVE_INFINITY): number {
  return quantileOf((1 + level) / 2, freedom);
}

/** Quantile of the standard normal distribution, or of Student's t with so many degrees of freedom. */
export function quantileOf(p: number, freedom: number = Number.POSITIVE_INFINITY): number {
  return Number.isFinite(freedom) && freedom < ALMOST_NORMAL ? student(p, freedom) : normal(p, 0, 1);
}

/** The value below which a share `p` of a sorted sample lies, between two values in proportion (type 7 of Hyndman and Fan, 1996). Null: the sample is empty. */
export function quantile(sorted: readonly number[], p: number): number | null {
  return quantileSorted([...sorted], p) ?? null;
}

/** From here on t and normal quantiles agree in six digits. */
const ALMOST_NORMAL = 1e6;
