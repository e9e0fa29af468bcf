import type { BatchProgress, ProgressCounts, RunningTrial, WaitReason } from '../domain/progress.ts';
import { durationText } from '../report/duration-text.ts';
import { pad, plainText, shorten } from '../report/plain-text.ts';
import { agentName } from './trial-line.ts';
import { wrap } from './trial-timeline.ts';

/** Where a batch stands, in as many lines as the columns need. */
export function progressLines(progress: BatchProgress, columns: number): readonly string[] {
  const { trials, done, running, waiting, perMinute, secondsLeft, seconds, state } = progress;
  const stands = [
    `${done} of ${trials} done`,
    ...(running > 0 ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting${waitsText(progress)}`] : []),
    ...(state === 'running' || state === 'finished' ? [] : [state]),
  ];
  const speed = [
    ...(perMinute === null ? [] : [`${rateText(perMinute)} a minute`]),
    ...(secondsLeft === null || secondsLeft === 0 ? [] : [`${durationText(secondsLeft)} left`]),
    durationText(seconds),
  ];
  return [stands, [...endedParts(progress), ...speed]].flatMap((parts) => wrap(parts.join(', '), columns));
}

/** The same in one line, for a log. */
export function progressLine(progress: BatchProgress): string {
  return progressLines(progress, Number.POSITIVE_INFINITY).join('; ');
}

/** Trials that run for longest, a line for each. */
export function runningLines(running: readonly RunningTrial[], columns: number): readonly string[] {
  const narrow = columns < 72;
  return running.map((trial) => {
    const name = plainText(trial.repetition > 1 ? `${trial.case} #${trial.repetition}` : trial.case);
    const what = trial.waits === null ? trial.phase : `${trial.phase}, waits for ${WAITS[trial.waits]}`;
    const again = trial.attempt > 1 ? `, attempt ${trial.attempt}` : '';
    const age = durationText(trial.seconds).padStart(11);
    const end = `${what}${again}`;
    if (narrow) return shorten(`${pad(shorten(name, 14), 14)} ${age.trimStart()} ${end}`, columns);
    return shorten(`${pad(shorten(name, 30), 30)}  ${pad(shorten(plainText(agentName(trial)), 20), 20)}  ${age}  ${end}`, columns);
  });
}

/** Why trials wait, in words. */
export const WAITS: { readonly [why in WaitReason]: string } = {
  turn: 'their turn',
  paused: 'the batch to be resumed',
  launcher: 'somebody to go on with the batch',
  worker: 'a worker',
  world: 'a world',
  approval: 'an approval',
  model: "a model's rate limit",
  retry: 'another attempt',
};

const ORDER: readonly WaitReason[] = ['worker', 'approval', 'model', 'world', 'retry', 'launcher', 'paused', 'turn'];

function waitsText({ waits, waiting }: ProgressCounts): string {
  const parts = ORDER.filter((why) => (waits[why] ?? 0) > 0).map((why) => [waits[why] ?? 0, WAITS[why]] as const);
  const [first] = parts;
  if (parts.length === 1 && first && first[0] === waiting) return ` for ${first[1]}`;
  return ` (${parts.map(([count, why]) => `${count} for ${why}`).join(', ')})`;
}

function endedParts(counts: ProgressCounts): readonly string[] {
  const { passed, failed, undetermined, infraErrors, userErrors, cancelled } = counts;
  return [
    `${passed} passed`,
    `${failed} failed`,
    ...(undetermined > 0 ? [`${undetermined} undetermined`] : []),
    ...(infraErrors > 0 ? [`${infraErrors} infrastructure error${infraErrors === 1 ? '' : 's'}`] : []),
    ...(userErrors > 0 ? [`${userErrors} fault${userErrors === 1 ? '' : 's'} of the simulated user`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
  ];
}

function rateText(perMinute: number): string {
  return perMinute >= 10 ? perMinute.toFixed(0) : String(Number(perMinute.toPrecision(2)));
}
