import type { TrialPhase } from '../domain/trial.ts';
import { printable } from '../domain/text/bounded.ts';

const MAX_PROBLEM_LENGTH = 2_000;

/** Codes of trouble that another attempt would meet again. */
export const HOPELESS: ReadonlySet<string> = new Set([
  'TrialMissing',
  'GenerationMismatch',
  'EnvironmentLoadError',
  'EnvironmentDefinitionError',
  'WorldBuildError',
  'WorldStateError',
  'AccessNeedsDatabase',
  'FaultNotApplicable',
  'AgentProgramMissing',
  'AgentHeaderMissing',
  'ToolSchemaError',
  'GraderTimeoutError',
  'PreviewError',
  'ModelSetup',
  'OriginMissing',
  'RestoreError',
  'PointError',
]);

/** What ended an attempt before it had a verdict, as its summary says it. */
export function problemOf(error: unknown, phase: TrialPhase): { code: string; message: string } {
  const root = rootCause(error);
  const type = (root as { type?: unknown }).type;
  return {
    code: typeof type === 'string' ? type : 'infrastructure',
    message: `${phase}: ${printable(root instanceof Error ? root.message : String(root), MAX_PROBLEM_LENGTH)}`,
  };
}

function rootCause(error: unknown): unknown {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  return current;
}
