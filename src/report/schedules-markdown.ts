import type { ReportData } from './data.ts';
import type { RuleReport, ScheduleReport } from './fault-counts.ts';
import { runtimeTexts } from './fault-words.ts';
import { mdCellCode, mdCode, mdTable, mdText } from './markdown.ts';

/** Schedules that are listed with their rules. */
const LISTED = 50;

/** The fault schedules of a batch: how their trials ended, each rule in words with how often it fired, and what production is like. Empty without a schedule. */
export function schedulesText({ summary, schedules, runtime }: Pick<ReportData, 'summary' | 'schedules' | 'runtime'>): string {
  if (schedules.length === 0) return '';
  const counted = (summary.schedules ?? []).map((one) => [mdCellCode(one.schedule), ...[one.trials, one.passed, one.failed, one.injected].map(String)]);
  const never = (summary.schedules ?? []).filter((one) => one.neverFired).map((one) => mdCode(one.schedule));
  return [
    'A result holds under its fault schedule only.',
    ...(counted.length > 0 ? [mdTable(['schedule', 'trials', 'passed', 'failed', 'faults injected'], counted)] : []),
    ...(never.length > 0 ? [`**Never fired in any trial, so nothing was tested:** ${never.join(', ')}`] : []),
    ...schedules.slice(0, LISTED).map(scheduleText),
    ...(schedules.length > LISTED ? [`and ${schedules.length - LISTED} more, in \`report.json\``] : []),
    ...(runtime === null ? [] : [`Production, as the agents met it: ${runtimeTexts(runtime).map(mdText).join('; ')}.`]),
  ].join('\n\n');
}

function scheduleText({ schedule, title, trials, rules }: ScheduleReport): string {
  const name = title === schedule ? mdCode(schedule) : `${mdCode(schedule)}: ${mdText(title)}`;
  return [`### ${name}`, '', ...rules.map((rule) => `- ${mdText(rule.rule)} (${firedText(rule, trials)})`)].join('\n');
}

function firedText({ fired, inTrials, atLeast }: RuleReport, trials: number): string {
  if (trials === 0) return 'not recorded';
  if (fired === 0) return '**never fired: tested nothing**';
  return `fired ${atLeast ? 'at least ' : ''}${fired === 1 ? 'once' : `${fired} times`}, in ${inTrials} of ${trials} ${trials === 1 ? 'trial' : 'trials'}`;
}
