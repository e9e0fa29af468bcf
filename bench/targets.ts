import type { Figures } from './figures.ts';

/** A figure that is to be met, as a ratio within one run or a bound. */
export interface Target {
  readonly what: string;
  readonly target: string;
  readonly measured: number;
  readonly met: boolean;
}

/** Those of the targets whose figures were measured. `docs/performance.md` has the table. */
export function targetsOf(figures: Figures): readonly Target[] {
  const value = (name: string, at?: string): number | null => {
    const figure = figures[name];
    if (figure === undefined || figure === null) return null;
    return typeof figure === 'number' ? figure : at === undefined ? null : (figure[at] ?? null);
  };
  const ratio = (of: number | null, to: number | null) => (of === null || to === null || to === 0 ? null : of / to);
  const rows: (readonly [what: string, bound: 'at least' | 'at most', limit: number, measured: number | null])[] = [
    ['trials a second to bare workflows, 50 in flight', 'at least', 0.8, value('trials_to_bare', '50')],
    ['trials a second to samples of Inspect AI, 50 in flight', 'at least', 2, ratio(value('trials_per_s', '50'), value('inspect_per_s'))],
    ['share of the harness, a model of one second, 20 in flight', 'at most', 0.1, value('slow_model_harness_share')],
    ['CPU of the worker a trial, ms, 50 in flight', 'at most', 100, value('worker_cpu_ms_per_trial', '50')],
    ['reset of a world with its check, p50, ms', 'at most', 10, value('world_reset_ms_p50')],
    [
      'reset with the large seed to the small one',
      'at most',
      1.5,
      ratio(value('world_reset_ms_p50_by_seed', 'large'), value('world_reset_ms_p50_by_seed', 'small')),
    ],
    ['call through the gateway to a bare Update, p50, alone', 'at most', 1.3, value('tool_call_to_bare_update', '1')],
    ['call through the gateway to a bare Update, p50, 50 in flight', 'at most', 1.3, value('tool_call_to_bare_update', '50')],
    ['rate of the last thousand to the second', 'at least', 0.95, value('ten_thousand_last_to_second')],
  ];
  return rows.flatMap(([what, bound, limit, measured]) =>
    measured === null
      ? []
      : [{ what, target: `${bound} ${limit}`, measured: Number(measured.toFixed(3)), met: bound === 'at least' ? measured >= limit : measured <= limit }],
  );
}
