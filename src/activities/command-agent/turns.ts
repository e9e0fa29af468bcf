import { ApplicationFailure } from '@temporalio/common';
import type { AgentSpec } from '../../domain/agent.ts';
import { MAX_ANSWER_BYTES } from '../gateway-agent/answer.ts';
import type { TakeTurn, Turn } from '../gateway-agent/conversation.ts';
import { findProgram } from '../../processes/find-program.ts';
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
    return runProgram({
      file,
      args: agent.args,
      folder: agent.folder,
      env: { ...env, ...doorVariables(door, agent.providerVariables ?? false) },
      marker: 'TRIALBED_TOKEN',
      stdin: `${JSON.stringify(document)}\n`,
      maxOutputBytes: MAX_ANSWER_BYTES,
      signal,
    });
  };
}

/** Where the program acts and asks models. */
function doorVariables({ gateway, mcp, token, models: { openai, anthropic } }: Turn['door'], asProviders: boolean): { readonly [name: string]: string } {
  return {
    ...{ TRIALBED_GATEWAY: gateway, TRIALBED_MCP: mcp, TRIALBED_TOKEN: token },
    ...(openai !== undefined && { TRIALBED_MODEL_OPENAI: openai, ...(asProviders && { OPENAI_BASE_URL: openai, OPENAI_API_KEY: token }) }),
    ...(anthropic !== undefined && { TRIALBED_MODEL_ANTHROPIC: anthropic, ...(asProviders && { ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_API_KEY: token }) }),
  };
}
