import type { Trace } from './trace.ts';
import { stepTitle, stepTone } from './words.ts';

/** Beyond so many steps their names are left to the list. */
const MOST_NAMED = 300;

/**
 * The whole trial at a glance, a column for each step: what the verdict blames, how each step ended, which faults hit, and what changed. The list of steps says the same in words,
 * so that this is for the eye and the mouse alone.
 */
export function Strip({ trace: { steps, findings, focus } }: { readonly trace: Trace }) {
  const width = 100 / Math.max(1, steps.length);
  const left = (n: number) => `${((n - 1) * width).toFixed(3)}%`;
  const middle = (n: number) => `${((n - 0.5) * width).toFixed(3)}%`;
  const named = steps.length <= MOST_NAMED;
  const blamed = steps.filter((step) => step.findings.length > 0);
  const lane = (y: number) => ({ y: String(y) });
  return (
    <div class="strip" aria-hidden="true">
      <div class="lanes">
        <span>verdict</span>
        <span>steps</span>
        <span>faults</span>
        <span>changes</span>
      </div>
      <svg width="100%" height="76">
        <title>Steps at a glance</title>
        <rect id="cursor" x={left(focus)} y="0" width={`${width.toFixed(3)}%`} height="76" class="cursor" />
        {steps.map((step) => (
          <a href={`#step-${step.n}`} tabindex={-1}>
            <rect x={left(step.n)} {...lane(19)} width={`${(width * (steps.length > 60 ? 1 : 0.94)).toFixed(3)}%`} height="18" class={`s-${stepTone(step)}`}>
              {named && <title>{`${step.n} ${plain(stepTitle(step))}`}</title>}
            </rect>
          </a>
        ))}
        {blamed.map(({ n, findings: places }) => {
          const [worst] = places.map((place) => findings[place]).filter((finding) => finding !== undefined);
          return (
            <a href={`#step-${n}`} tabindex={-1}>
              <circle
                cx={middle(n)}
                cy="9"
                r={worst?.cause === n ? '6' : '4'}
                class={`${worst?.judgement === 'fail' ? 'm-bad' : 'm-wait'}${worst?.cause === n ? '' : ' hollow'}`}
              />
            </a>
          );
        })}
        {steps
          .filter(({ faults }) => faults.length > 0)
          .map(({ n }) => (
            <rect x={middle(n)} {...lane(42)} width="9" height="9" class="m-wait diamond" />
          ))}
        {steps
          .filter(({ changes, mails }) => changes.length + mails.length > 0)
          .map(({ n }) => (
            <rect x={middle(n)} {...lane(61)} width="8" height="8" class="m-change" />
          ))}
      </svg>
    </div>
  );
}

/** Nothing that a tip of a mouse pointer could be led astray by. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 80);
}
