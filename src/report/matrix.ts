import type { TrialFacts } from '../domain/trial-facts.ts';

/** A trial as a table counts it. */
export type CountedTrial = Pick<TrialFacts, 'case' | 'schedule' | 'agent' | 'ending' | 'pass'>;

/** Case by agent, a row for each fault schedule. Columns and rows are in the order in which they first occur, the rows of a case together. */
export interface Matrix {
  /** Names of the first columns and the agents: the schedule is named where there is more than one. */
  readonly head: readonly string[];
  /** What stands in the first columns, and how each agent did. */
  readonly rows: readonly { readonly names: readonly string[]; readonly cells: readonly (Cell | null)[] }[];
}

/** The trials of one case and one agent, counted. */
export interface Cell {
  readonly trials: number;
  readonly passed: number;
  readonly failed: number;
  readonly undetermined: number;
  readonly infraErrors: number;
  /** The simulated user failed. */
  readonly userErrors: number;
  /** A recording held no answer. */
  readonly misses: number;
  readonly cancelled: number;
}

/** How a cell stands: the worst of what was scored; `infra`, `user` (the simulated user failed), `miss` (a recording held no answer) or `cancelled` only where nothing was scored. */
export type CellState = 'pass' | 'fail' | 'undetermined' | 'infra' | 'user' | 'miss' | 'cancelled';

/** Counts trials that have ended by case, schedule and agent. */
export function matrix(all: readonly CountedTrial[]): Matrix {
  const trials = all.filter(({ ending }) => ending !== null);
  const many = new Set(trials.map((t) => t.schedule)).size > 1;
  const agents = [...new Set(trials.map((t) => t.agent))];
  const cases = new Map<string, Map<string, Map<string, Cell>>>();
  for (const trial of trials) {
    const schedules = entry(cases, trial.case, () => new Map<string, Map<string, Cell>>());
    const row = entry(schedules, trial.schedule, () => new Map<string, Cell>());
    row.set(trial.agent, add(row.get(trial.agent) ?? EMPTY, trial));
  }
  const rows = [...cases].flatMap(([id, schedules]) =>
    [...schedules].map(([schedule, row]) => ({ names: many ? [id, schedule] : [id], cells: agents.map((agent) => row.get(agent) ?? null) })),
  );
  return { head: [...(many ? ['case', 'faults'] : ['case']), ...agents], rows };
}

/** How a cell stands. */
export function cellState(cell: Cell): CellState {
  if (cell.failed > 0) return 'fail';
  if (cell.undetermined > 0) return 'undetermined';
  if (cell.passed > 0) return 'pass';
  return cell.infraErrors > 0 ? 'infra' : cell.userErrors > 0 ? 'user' : cell.misses > 0 ? 'miss' : 'cancelled';
}

/** A cell in a few characters: `pass`, `2/3 pass, 1 infra`. What was not scored is named, never counted as passed or failed. */
export function cellText(cell: Cell): string {
  const scored = cell.passed + cell.failed + cell.undetermined;
  const notes = [
    cell.undetermined > 0 && cell.trials > 1 ? `${cell.undetermined} undetermined` : null,
    cell.infraErrors > 0 ? (cell.infraErrors === 1 && cell.trials === 1 ? 'infra error' : `${cell.infraErrors} infra`) : null,
    cell.userErrors > 0 ? (cell.userErrors === 1 && cell.trials === 1 ? 'user error' : `${cell.userErrors} user errors`) : null,
    cell.misses > 0 ? (cell.misses === 1 && cell.trials === 1 ? 'not recorded' : `${cell.misses} not recorded`) : null,
    cell.cancelled > 0 ? (cell.trials === 1 ? 'cancelled' : `${cell.cancelled} cancelled`) : null,
  ].filter((note) => note !== null);
  if (scored === 0) return notes.join(', ');
  const main = cell.trials === 1 ? cellState(cell) : `${cell.passed}/${scored} pass`;
  return [main, ...notes].join(', ');
}

/** What became of a trial, in one word. */
export function trialState(trial: Pick<CountedTrial, 'ending' | 'pass'>): CellState {
  if (trial.ending === 'infra_error') return 'infra';
  if (trial.ending === 'user_error') return 'user';
  if (trial.ending === 'cassette_miss') return 'miss';
  if (trial.ending === 'cancelled') return 'cancelled';
  return trial.pass ?? 'undetermined';
}

const EMPTY: Cell = { trials: 0, passed: 0, failed: 0, undetermined: 0, infraErrors: 0, userErrors: 0, misses: 0, cancelled: 0 };

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

function add(cell: Cell, trial: CountedTrial): Cell {
  const state = trialState(trial);
  return {
    trials: cell.trials + 1,
    passed: cell.passed + (state === 'pass' ? 1 : 0),
    failed: cell.failed + (state === 'fail' ? 1 : 0),
    undetermined: cell.undetermined + (state === 'undetermined' ? 1 : 0),
    infraErrors: cell.infraErrors + (state === 'infra' ? 1 : 0),
    userErrors: cell.userErrors + (state === 'user' ? 1 : 0),
    misses: cell.misses + (state === 'miss' ? 1 : 0),
    cancelled: cell.cancelled + (state === 'cancelled' ? 1 : 0),
  };
}
