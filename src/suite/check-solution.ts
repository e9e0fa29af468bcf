import type { ScriptStep } from '../domain/case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { problemAt } from './issues.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { parseText, ScriptError } from './script.ts';
import type { FileProblem } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** Steps, answer and structured answer, as a file says them. */
export interface WrittenSolution {
  readonly steps?: readonly ScriptStep[] | undefined;
  readonly answer: string;
  readonly data?: JsonObject | undefined;
}

/** References must be well formed and name an earlier step; a step's name must be its own. */
export function checkSolution(source: YamlFile, at: Path, solution: WrittenSolution): FileProblem[] {
  const problems: FileProblem[] = [];
  const all = (solution.steps ?? []).flatMap((step) => ('call' in step && step.as !== undefined ? [step.as] : []));
  const known = new Set<string>();
  for (const [index, step] of (solution.steps ?? []).entries()) {
    const path = [...at, 'steps', index];
    if ('say' in step) {
      problems.push(...checkValue(source, [...path, 'say'], step.say, known, all));
      continue;
    }
    problems.push(...checkValue(source, [...path, 'with'], step.with ?? {}, known, all));
    if (step.as === undefined) continue;
    if (known.has(step.as)) problems.push(problemAt(source, [...path, 'as'], `a step before this is named "${step.as}" already; give each its own name`));
    known.add(step.as);
  }
  problems.push(...checkValue(source, [...at, 'answer'], solution.answer, known, all), ...checkValue(source, [...at, 'data'], solution.data ?? {}, known, all));
  return problems;
}

function checkValue(source: YamlFile, path: Path, value: Json, known: ReadonlySet<string>, all: readonly string[]): FileProblem[] {
  if (typeof value === 'string') return checkText(source, path, value, known, all);
  if (value === null || typeof value !== 'object') return [];
  const items: readonly (readonly [string | number, Json])[] = Array.isArray(value) ? [...(value as readonly Json[]).entries()] : Object.entries(value);
  return items.flatMap(([key, item]) => checkValue(source, [...path, key], item, known, all));
}

function checkText(source: YamlFile, path: Path, text: string, known: ReadonlySet<string>, all: readonly string[]): FileProblem[] {
  if (!text.includes('${')) return [];
  try {
    return parseText(text).flatMap((part) => {
      if (typeof part === 'string' || known.has(part.step)) return [];
      if (all.includes(part.step)) return [problemAt(source, path, `${part.text}: the step "${part.step}" comes later; only earlier steps have a result`)];
      const suggestion = nearestName(part.step, known);
      return [problemAt(source, path, `${part.text}: no step before this is named "${part.step}" (with "as: ${part.step}")`, suggestion)];
    });
  } catch (error) {
    if (error instanceof ScriptError) return [problemAt(source, path, error.message)];
    throw error;
  }
}
