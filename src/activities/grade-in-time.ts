import { createContext, Script } from 'node:vm';
import type { Case } from '../domain/case.ts';
import { grade } from '../domain/grading/grade.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { Verdict } from '../domain/verdict.ts';

/** Shorter than a missed heartbeat: while it grades, a worker does nothing else. */
const LIMIT_MS = 3_000;

/** A regular expression of the case that tries without end on what the agent wrote. No verdict: neither pass nor fail. Another attempt would meet it again. */
export class GraderTimeoutError extends Error {
  override readonly name = 'GraderTimeoutError';
  readonly code = 'grader_timeout';
  readonly caseId: string;

  constructor(caseId: string, limitMs: number) {
    super(
      `case ${caseId}: grading took more than ${limitMs / 1000} s; write its \`matches\` patterns so that no repetition stands within another, then regrade the batch`,
    );
    this.caseId = caseId;
  }
}

/** Grades, for at most `limitMs` of real time: a grader that hangs must not take the worker's other trials with it. @throws {GraderTimeoutError} */
export function gradeInTime(kase: Case, caseHash: string, record: TrialRecord, limitMs = LIMIT_MS): Verdict {
  let verdict: Verdict | null = null;
  const work = () => {
    verdict = grade(kase, caseHash, record);
  };
  try {
    STAGE['work'] = work;
    // Synchronous code, a regular expression in the midst of it too, can be stopped in no other way within its process.
    GRADE.runInContext(STAGE, { timeout: limitMs });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new GraderTimeoutError(kase.id, limitMs);
    throw error;
  }
  if (verdict === null) throw new GraderTimeoutError(kase.id, limitMs);
  return verdict;
}

const GRADE = new Script('work()');

/** Made once: that takes longer than grading most cases. Nothing but the work is ever in it. */
const STAGE = createContext();
