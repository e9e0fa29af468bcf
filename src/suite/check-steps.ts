import type { ScriptStep } from '../domain/case.ts';
import { argumentProblems, type CheckedTool } from './check-arguments.ts';
import { problemAt, unknownName } from './issues.ts';
import { namesIn } from './script.ts';
import type { FileProblem } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/**
 * Calls of a reference or a script, in the list at `at`, that the door would reject: no such tool, arguments that it does not take, a key that it does
 * not take. A step that says `invalid: true` means to be rejected, and is told of when it would not be.
 */
export function stepProblems(source: YamlFile, at: Path, steps: readonly ScriptStep[], tools: readonly CheckedTool[]): readonly FileProblem[] {
  return steps.flatMap((step, index) => {
    if (!('call' in step)) return [];
    const place: Path = [...at, index];
    const problems = callProblems(source, place, step, tools);
    if (step.invalid !== true) return problems;
    // With results of earlier steps it may still become invalid.
    if (problems.length > 0 || namesIn(step.with ?? {}).size > 0) return [];
    return [
      problemAt(source, [...place, 'invalid'], `nothing is wrong with this call of ${step.call}; leave "invalid" out, or make the call what it is meant to be`),
    ];
  });
}

/** A tool by its name in a file. */
export function toolProblems(source: YamlFile, at: Path, name: string, tools: readonly CheckedTool[]): readonly FileProblem[] {
  const known = tools.map((tool) => tool.name);
  return known.includes(name) ? [] : [unknownName(source, at, 'tool', name, known)];
}

function callProblems(source: YamlFile, at: Path, step: Extract<ScriptStep, { call: string }>, tools: readonly CheckedTool[]): readonly FileProblem[] {
  const tool = tools.find(({ name }) => name === step.call);
  if (tool === undefined) return toolProblems(source, [...at, 'call'], step.call, tools);
  const key = step.key === undefined || tool.idempotent === true ? [] : [problemAt(source, [...at, 'key'], `${tool.name} takes no idempotency key`)];
  return [...argumentProblems(source, [...at, 'with'], tool, step.with ?? {}), ...key];
}
