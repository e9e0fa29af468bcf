import type { Answer, ScheduleComparison } from './comparison.ts';

/**
 * Under which schedules the two differ, for the third line. It names the smaller side: the schedules with a difference where these are few, else those without one. Then under which of them the candidate is worse on balance, whatever
 * the whole says, and under which a difference is shown by the trials of that schedule alone.
 */
export function schedulesText(schedules: readonly ScheduleComparison[], changes: number, candidate: string): string {
  const [only] = schedules;
  if (only === undefined) return 'nothing was compared.';
  if (schedules.length === 1) return `every trial was under ${only.schedule}; of other schedules nothing is known.`;
  if (changes === 0) return `no trial came out otherwise under any of ${schedules.length} schedules.`;
  const differ = schedules.filter(({ better, worse }) => better + worse > 0).sort((one, other) => weightOf(other) - weightOf(one));
  const same = schedules.filter(({ better, worse }) => better + worse === 0);
  const where = differ.length <= same.length ? underFew(differ, same) : underMost(schedules.length, differ, same);
  return [where, againstText(differ, candidate), aloneText(differ)].filter((part) => part !== '').join(' ');
}

function underFew(differ: readonly ScheduleComparison[], same: readonly ScheduleComparison[]): string {
  const rest = same.some(({ schedule }) => schedule === NONE)
    ? same.length === 1
      ? 'without faults every trial came out the same'
      : `without faults, and under the other ${count(same.length - 1)}, every trial came out the same`
    : `under the other ${count(same.length)} every trial came out the same`;
  return `yes: all that differs lies under ${named(differ, balanceText)}; ${rest}.`;
}

function underMost(all: number, differ: readonly ScheduleComparison[], same: readonly ScheduleComparison[]): string {
  const bare = differ.some(({ schedule }) => schedule === NONE) ? ', also without faults' : '';
  const rest = same.length === 0 ? `each of ${all} schedules` : `${differ.length} of ${all} schedules`;
  const equal = same.length === 0 ? '' : ` Only under ${named(same, ({ schedule }) => schedule)} every trial came out the same.`;
  return `no: trials differ under ${rest}${bare}, most of all under ${named(differ.slice(0, MOST_SHOWN), balanceText)}.${equal}`;
}

/** What holds on the whole need not hold under each schedule. */
function againstText(differ: readonly ScheduleComparison[], candidate: string): string {
  const worse = differ.filter((one) => one.worse > one.better);
  // Of a single one the balance stands there already.
  if (differ.length === 1) return '';
  if (worse.length === 0) return `Under none of them ${candidate} is worse on balance.`;
  if (worse.length === differ.length) return `Under each of them ${candidate} is worse on balance.`;
  return `${candidate} is worse on balance under ${named(worse, balanceText)}.`;
}

function aloneText(differ: readonly ScheduleComparison[]): string {
  const shown = differ.filter(({ safer, useful }) => isShown(safer) || isShown(useful));
  return shown.length === 0
    ? 'By the trials of one schedule alone no difference is shown.'
    : `By its own trials alone a difference is shown under ${named(shown, ({ schedule }) => schedule)}.`;
}

const NONE = 'none';
/** Schedules that a sentence names. */
const MOST_NAMED = 6;
/** Of many that differ. */
const MOST_SHOWN = 3;

function isShown({ answer }: Answer): boolean {
  return answer !== 'not_shown';
}

/** How far a schedule's trials lean to one side; between equal ones, how many differ. */
function weightOf({ better, worse, trials }: ScheduleComparison): number {
  return Math.abs(better - worse) + (better + worse) / (2 * trials + 1);
}

function balanceText({ schedule, better, worse, trials }: ScheduleComparison): string {
  return `${schedule} (${better} better, ${worse} worse of ${trials})`;
}

function named(schedules: readonly ScheduleComparison[], text: (one: ScheduleComparison) => string): string {
  const names = schedules.slice(0, MOST_NAMED).map(text);
  const left = schedules.length - names.length;
  return `${names.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function count(number: number): string {
  return number === 1 ? 'one' : String(number);
}
