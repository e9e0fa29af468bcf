import { schemaDigest, scopeDigest, scopeOf } from '../cassettes/digests.ts';
import type { Case } from '../domain/case.ts';
import type { Cassette, Interaction } from '../domain/cassette.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { printable } from '../domain/text/bounded.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { startHash } from '../suite/cassette-file.ts';
import { argumentsOf } from './draft-case.ts';
import type { TracedConversation } from './conversation.ts';

/** Name of a cassette that a trace told. */
export const TRACE_VARIANT = 'trace';

/** A call with its reply, as a trace tells it: content, which is redacted. */
export interface TracedInteraction {
  readonly tool: string;
  readonly args: JsonObject;
  readonly result: Json;
  readonly problem: Interaction['problem'];
}

/** What tools of the environment answered, in the order of the calls, and what of the trace cannot be in a cassette. */
export function interactionsOf({ messages }: TracedConversation, { environment }: Pick<LoadedEnvironment, 'environment'>) {
  const left: string[] = [];
  const interactions: TracedInteraction[] = [];
  for (const message of messages) {
    for (const call of message.role === 'assistant' ? message.calls : []) {
      const tool = environment.tools.find(({ name }) => name === call.tool);
      const named = printable(call.tool, 100);
      if (!tool) left.push(`${named}: the environment has no such tool; --tool ${named}=NAME says which of its tools is meant`);
      else if (call.reply === null) left.push(`${named}: the trace does not tell what a call of it was answered`);
      else if (tool.builtin === undefined && !tool.input.safeParse(call.args).success)
        left.push(`${named}: takes other arguments in this environment than a call in the trace has`);
      else if (tool.builtin === undefined) {
        const { result, problem } = call.reply;
        interactions.push({ tool: call.tool, args: argumentsOf(call), result: problem === null ? result : null, problem });
      }
    }
  }
  return { interactions, left: [...new Set(left)] };
}

/** The cassette of a drafted case. What its calls changed a trace does not tell. `interactions`: redacted. */
export function draftedCassette(kase: Case, environment: LoadedEnvironment, of: string, interactions: readonly TracedInteraction[]): Cassette {
  const scope = scopeDigest(kase.permission);
  const schemas: { [digest: string]: { tool: string; input: JsonObject } } = {};
  const made = interactions.map(({ tool, args, result, problem }): Interaction => {
    const schema = environment.toolSchemas.find(({ name }) => name === tool);
    const digest = schema ? schemaDigest(schema) : '';
    if (schema) schemas[digest] = { tool, input: schema.inputSchema };
    const told = problem === null ? 'committed' : 'failed';
    const known = told === 'committed' ? told : isRead(environment, tool) ? 'failed' : 'undetermined';
    return { tool, args, told, result, problem, known, effects: [], scope, schema: digest };
  });
  return {
    version: 1,
    case: kase.id,
    variant: TRACE_VARIANT,
    binding: 'trace',
    recorded: {
      agent: TRACE_VARIANT,
      schedule: 'none',
      environment: environment.environment.name,
      generation: environment.generation,
      // What the world held is answered later, by a person, and no part of what was recorded.
      start: startHash({ ...kase, state: [] }),
      caseHash: '0'.repeat(64),
      verdict: { pass: 'undetermined', outcome: 'undetermined', constraints: 'undetermined', effects: 'undetermined' },
    },
    scopes: { [scope]: scopeOf(kase.permission) },
    schemas,
    interactions: made,
    others: [],
    tables: {},
    referenceEffects: null,
    draft: { of, effects: made.flatMap(({ tool }, index) => (isRead(environment, tool) ? [] : [index + 1])) },
  };
}

function isRead({ environment }: LoadedEnvironment, tool: string): boolean {
  return environment.tools.find(({ name }) => name === tool)?.effect === 'read';
}
