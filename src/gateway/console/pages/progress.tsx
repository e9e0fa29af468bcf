import type { Outcomes } from '../../../client/api.ts';

/** How the trials of a batch ended, as a bar and in words. */
export function Progress({ outcomes, trials }: { readonly outcomes: Outcomes | null; readonly trials: number }) {
  const parts = outcomes === null ? [] : PARTS.map(([name, tone, word]) => ({ tone, word, count: outcomes[name] })).filter(({ count }) => count > 0);
  const text = parts.length === 0 ? 'none yet' : parts.map(({ word, count }) => `${count} ${word}`).join(', ');
  let from = 0;
  return (
    <span class="progress">
      <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {parts.map(({ tone, count }) => {
          const x = from;
          const width = trials === 0 ? 0 : (count / trials) * 100;
          from += width;
          return <rect class={`fill-${tone}`} x={x.toFixed(2)} y="0" width={width.toFixed(2)} height="6" />;
        })}
      </svg>
      <span>{text}</span>
    </span>
  );
}

const PARTS = [
  ['passed', 'good', 'passed'],
  ['failed', 'bad', 'failed'],
  ['undetermined', 'wait', 'undetermined'],
  ['infraErrors', 'plain', 'infra errors'],
  ['cancelled', 'plain', 'cancelled'],
] as const satisfies readonly (readonly [keyof Outcomes, string, string])[];
