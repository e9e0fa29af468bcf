import { matchesGlob } from 'node:path';
import type { Solution } from '../domain/case.ts';
import { covers, type FaultRule } from '../domain/fault.ts';
import type { FileProblem, LoadedCase, LoadedSchedule } from './suite.ts';

/**
 * Rules of schedules that hit no call of the reference solution of any of their cases, since it never calls the tool, or not so often: an agent that does what the
 * reference does never meets them. What a service sees is not known here, so rules on services are passed over; so are schedules that are for none of the cases, and
 * rules on `recovery`: tools that are for whoever has met a fault already, a look-up or a wait, where another rule of the schedule can fire.
 */
export function idleRules(schedules: readonly LoadedSchedule[], cases: readonly LoadedCase[], recovery: readonly string[] = []): readonly FileProblem[] {
  return schedules.flatMap((loaded) => {
    const { schedule, file, lineOf } = loaded;
    const own = cases.filter(({ kase }) => schedule.cases.some((glob) => matchesGlob(kase.id, glob)));
    if (own.length === 0) return [];
    const most = (tool: string): number => Math.max(...own.map(({ kase }) => callsOf(kase.reference, tool)));
    const fires = (rule: FaultRule): boolean => rule.on === 'start' || 'service' in rule.on || hitsWithin(rule, most(rule.on.tool));
    const someFires = schedule.rules.some(fires);
    return schedule.rules.flatMap((rule, index): FileProblem[] => {
      if (rule.on === 'start' || 'service' in rule.on || fires(rule)) return [];
      const { tool } = rule.on;
      if (someFires && recovery.includes(tool)) return [];
      const calls = most(tool);
      const seen = calls === 0 ? `never calls ${tool}` : `calls ${tool} ${calls === 1 ? 'once' : `${calls} times`} at most`;
      const message = `faults[${index}]: can never fire on a reference solution of its ${own.length === 1 ? 'case' : 'cases'}, which ${seen}`;
      return [{ file, line: lineOf(`faults[${index}]`), column: null, message, suggestion: null }];
    });
  });
}

/** Calls of a tool that have a position: those that are meant to be rejected have none. */
function callsOf({ steps }: Solution, tool: string): number {
  return steps.filter((step) => 'call' in step && step.call === tool && step.invalid !== true).length;
}

function hitsWithin(rule: FaultRule, calls: number): boolean {
  return Array.from({ length: calls }, (_none, n) => n + 1).some((position) => covers(rule, position));
}
