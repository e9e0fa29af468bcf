import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { caseSchema } from './case-schema.ts';
import { faultsSchema } from './fault-schema.ts';
import { routeSchema } from './route-schema.ts';
import { rubricSchema } from './rubric-schema.ts';
import { agentSchema, suiteSchema } from './suite-schema.ts';

/** JSON Schemas (draft 2020-12) of the files that people write, for completion and checks in editors. */
export function schemas(): {
  readonly suite: JsonObject;
  readonly case: JsonObject;
  readonly agent: JsonObject;
  readonly faults: JsonObject;
  readonly route: JsonObject;
  readonly rubric: JsonObject;
} {
  return {
    suite: schemaOf(suiteSchema, 'suite.yaml', 'A suite: one environment, and the cases beside this file.'),
    case: schemaOf(caseSchema, 'Case file', 'A case: where the world starts, what the user asks, and what counts as success.'),
    agent: schemaOf(agentSchema, 'Agent file', 'An agent: fixed steps, a module, a program of its own, or one that does nothing.'),
    faults: schemaOf(faultsSchema, 'Fault schedule', 'A fault schedule: what goes wrong, at which calls.'),
    route: schemaOf(routeSchema, 'Route', 'A way to a model: where it is, how it is asked, and what it costs.'),
    rubric: schemaOf(rubricSchema, 'Rubric', 'A rubric: what a judge, or a person, is asked of a trial, and between which categories.'),
  };
}

function schemaOf(schema: z.ZodType, title: string, description: string): JsonObject {
  return { ...(z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' }) as JsonObject), title, description };
}
