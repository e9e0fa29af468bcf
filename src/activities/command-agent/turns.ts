import { ApplicationFailure } from '@temporalio/common';
import type { AgentSpec } from '../../domain/agent.ts';
import { MAX_ANSWER_BYTES } from '../gateway-agent/answer.ts';
import type { TakeTurn } from '../gateway-agent/conversation.ts';
import { modelVariables } from '../model-variables.ts';
import { findProgram } from '../../processes/find-program.ts';
import { traceHeaders } from '../trace-headers.ts';
import { runProgram } from './program.ts';

/**
 * Turns of a command agent: its program, once for each message, with the conversation so far on its standard input. `env`: variables of its environment, beside those
 * of the gateway. A turn @throws when there is no such program.
 */
export function programTurns(agent: Extract<AgentSpec, { kind: 'command' }>, env: { readonly [name: string]: string }): TakeTurn {
  return async ({ document, door, signal, clock }) => {
    clock.hold();
    const file = await findProgram(agent.program, agent.folder, env['PATH'] ?? '');
    clock.release();
    if (file === null) {
      const where = agent.program.includes('/') ? agent.folder : 'PATH';
      throw ApplicationFailure.nonRetryable(
        `there is no program ${agent.program} in ${where} of the machine whose worker runs agent ${agent.name}`,
        'AgentProgramMissing',
      );
    }
    const { traceparent } = traceHeaders();
    const access = { TRIALBED_GATEWAY: door.gateway, TRIALBED_MCP: door.mcp, TRIALBED_TOKEN: door.token };
    return runProgram({
      file,
      args: agent.args,
      folder: agent.folder,
      env: { ...(traceparent && { TRACEPARENT: traceparent }), ...env, ...access, ...modelVariables(door, agent.providerVariables ?? false) },
      marker: 'TRIALBED_TOKEN',
      stdin: `${JSON.stringify(document)}\n`,
      maxOutputBytes: MAX_ANSWER_BYTES,
      signal,
    });
  };
}
