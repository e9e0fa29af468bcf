import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { schemaDigest, scopeDigest } from '../cassettes/digests.ts';
import type { PermissionContext } from '../domain/case.ts';
import { printable } from '../domain/text/bounded.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { NOT_AS_RECORDED } from './contract.ts';

export interface CallToReplay {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly operation: string;
  readonly tool: string;
  readonly dispatch: number;
  /** The case's, and that of the member of a team who calls. */
  readonly permission: PermissionContext;
  readonly member: PermissionContext | null;
}

/**
 * Answers a call from the trial's cassette; nothing acts.
 *
 * @throws {ApplicationFailure} of the recorded code where the recorded call did not commit, or its outcome was unknown; `not_as_recorded` where the cassette holds no such call.
 */
export async function replayCall({ world, environment, operation, tool, dispatch, permission, member }: CallToReplay): Promise<void> {
  const schema = environment.toolSchemas.find(({ name }) => name === tool);
  if (!world.replay || !schema) throw ApplicationFailure.nonRetryable(`tool ${tool} of ${operation} is not in the environment`, 'LedgerMissing');
  const answer = await world.replay({ operation, attempt: dispatch, scope: scopeDigest(permission, member), schema: schemaDigest(schema) });
  if (answer.state === 'committed') return;
  if (answer.state === 'missing') throw failure(NOT_AS_RECORDED, answer.why);
  const { code, message, retryAfterSeconds } = answer.problem;
  // By its type the workflow tells a refusal from an open outcome, as it did when this was recorded.
  throw failure(code, message, retryAfterSeconds === undefined ? [] : [{ retryAfterSeconds }]);
}

function failure(type: string, message: string, details: readonly { readonly retryAfterSeconds: number }[] = []): ApplicationFailure {
  return ApplicationFailure.create({
    message: printable(message, MAX_PROBLEM_LENGTH),
    type: printable(type),
    nonRetryable: true,
    details: [...details],
    category: ApplicationFailureCategory.BENIGN,
  });
}
