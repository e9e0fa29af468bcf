import type { TrialSummary } from '../domain/trial.ts';

/** Case by agent. Columns and rows are in the order in which they first occur. */
export interface Matrix {
  /** Agents; with more than one fault schedule, `agent / schedule`. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly case: string; readonly cells: readonly (Cell | null)[] }[];
}

/** The trials of one case and one agent, counted. */
export interface Cell {
  readonly trials: number;
  readonly passed: number;
  readonly failed: number;
  readonly undetermined: number;
  readonly infraErrors: number;
  readonly cancelled: number;
}

/** How a cell stands: the worst of what was scored; `infra` or `cancelled` only where nothing was scored. */
export type CellState = 'pass' | 'fail' | 'undetermined' | 'infra' | 'cancelled';

/** Counts trials by case and agent. */
export function matrix(trials: readonly TrialSummary[]): Matrix {
  const many = new Set(trials.map((t) => t.schedule)).size > 1;
  const column = (t: TrialSummary): string => (many ? `${t.agent} / ${t.schedule}` : t.agent);
  const columns = [...new Set(trials.map(column))];
  const cells = new Map<string, Map<string, Cell>>();
  for (const trial of trials) {
    const row = cells.get(trial.case) ?? new Map<string, Cell>();
    row.set(column(trial), add(row.get(column(trial)) ?? EMPTY, trial));
    cells.set(trial.case, row);
  }
  return { columns, rows: [...cells].map(([id, row]) => ({ case: id, cells: columns.map((c) => row.get(c) ?? null) })) };
}

/** How a cell stands. */
export function cellState(cell: Cell): CellState {
  if (cell.failed > 0) return 'fail';
  if (cell.undetermined > 0) return 'undetermined';
  if (cell.passed > 0) return 'pass';
  return cell.infraErrors > 0 ? 'infra' : 'cancelled';
}

/** A cell in a few characters: `pass`, `2/3 pass, 1 infra`. What was not scored is named, never counted as passed or failed. */
export function cellText(cell: Cell): string {
  const scored = cell.passed + cell.failed + cell.undetermined;
  const notes = [
    cell.undetermined > 0 && cell.trials > 1 ? `${cell.undetermined} undetermined` : null,
    cell.infraErrors > 0 ? (cell.infraErrors === 1 && cell.trials === 1 ? 'infra error' : `${cell.infraErrors} infra`) : null,
    cell.cancelled > 0 ? (cell.trials === 1 ? 'cancelled' : `${cell.cancelled} cancelled`) : null,
  ].filter((note) => note !== null);
  if (scored === 0) return notes.join(', ');
  const main = cell.trials === 1 ? cellState(cell) : `${cell.passed}/${scored} pass`;
  return [main, ...notes].join(', ');
}

/** What became of a trial, in one word. */
export function trialState(trial: TrialSummary): CellState {
  if (trial.ending === 'infra_error') return 'infra';
  if (trial.ending === 'cancelled') return 'cancelled';
  return trial.pass ?? 'undetermined';
}

const EMPTY: Cell = { trials: 0, passed: 0, failed: 0, undetermined: 0, infraErrors: 0, cancelled: 0 };

function add(cell: Cell, trial: TrialSummary): Cell {
  const state = trialState(trial);
  return {
    trials: cell.trials + 1,
    passed: cell.passed + (state === 'pass' ? 1 : 0),
    failed: cell.failed + (state === 'fail' ? 1 : 0),
    undetermined: cell.undetermined + (state === 'undetermined' ? 1 : 0),
    infraErrors: cell.infraErrors + (state === 'infra' ? 1 : 0),
    cancelled: cell.cancelled + (state === 'cancelled' ? 1 : 0),
  };
}
