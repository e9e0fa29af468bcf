import { z } from 'zod';
import { stateChange } from './case-schema.ts';
import { columns } from './matcher-schema.ts';
import { span, text } from './values.ts';

/** A wait that really takes place, in milliseconds. A trial sits through it, so it is short. */
const realWait = span
  .refine((ms) => ms <= 60_000, 'expected at most 60s: this wait is real')
  .meta({ description: 'After how long of real time the call times out. Default 300ms.' })
  .optional();
const retryAfter = span.meta({ description: "Time of the world's clock after which it may be tried again." }).optional();
const attempts = z
  .int()
  .min(1)
  .meta({ description: "How many of the production client's own tries of the call it hits. Default: all; of a limit, those before it has passed." })
  .optional();
const replyCode = z.int().min(400, 'expected an SMTP code from 400 to 599').max(599, 'expected an SMTP code from 400 to 599');
const changes = z.array(stateChange).min(1).meta({ description: 'Rows that somebody else inserts, updates or deletes.' });
const names = z.record(z.string(), text);

const rule = {
  on: z
    .union([
      text,
      z.strictObject({ tool: text.meta({ description: 'Tool whose calls are hit.' }) }),
      z.strictObject({
        service: z
          .enum(['inbox', 'tickets', 'database'])
          .meta({ description: "Service whose requests are hit, whoever makes them. database: reads of the world's tables by tools." }),
      }),
    ])
    .meta({ description: 'What is hit: the name of a tool, {service: inbox | tickets | database}, or start (once, before the agent begins).' }),
  call: z
    .int()
    .min(1)
    .meta({ description: 'Which call of the tool, or request of the service, from 1. Only calls that are valid and permitted count.' })
    .optional(),
  calls: z
    .union([
      z.array(z.int().min(1)).min(1),
      z
        .strictObject({
          from: z.int().min(1).meta({ description: 'First call that is hit.' }),
          to: z.int().min(1).meta({ description: 'Last call that is hit. Default: none is the last.' }).optional(),
        })
        .refine(({ from, to }) => to === undefined || from <= to, 'expected "to" to be no less than "from"'),
    ])
    .meta({ description: 'Which calls: a list, or {from, to}. Default: every call.' })
    .optional(),
  where: columns.meta({ description: 'Only calls whose arguments match.' }).optional(),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .meta({ description: 'Drawn for each call from seed, schedule, case, repetition and position. Default: certain.' })
    .optional(),
};

function kind<K extends string, S extends z.ZodRawShape>(name: K, description: string, parameters: S) {
  return z.strictObject({ ...rule, fault: z.literal(name).meta({ description }), ...parameters });
}

/** A rule: what is hit, at which calls, and what goes wrong, with the parameters of its kind. */
export const ruleSchema = z
  .discriminatedUnion('fault', [
    kind('rate_limited', 'Refused with no effect, until the world\'s clock has passed "retry_after".', {
      retry_after: span.meta({ description: "Time of the world's clock for which the limit stands. Default 1s." }).optional(),
      retry_after_as: z.enum(['seconds', 'http_date']).meta({ description: 'How the agent is told. Default: seconds.' }).optional(),
      attempts,
    }),
    kind('unavailable', 'Refused with no effect.', {
      attempts,
      committed: z.boolean().meta({ description: 'A service only: the request is carried out, and answered so nevertheless. Default: false.' }).optional(),
      retry_after: retryAfter,
    }),
    kind('timeout_before_commit', 'The request is lost: the call times out and had no effect.', { after: realWait }),
    kind('timeout_after_commit', 'The call has its effect, and its reply is lost: it times out.', { after: realWait }),
    kind('slow', "The reply comes later. Beyond the production client's patience: as timeout_after_commit.", {
      by: span.meta({ description: "By how much of the world's time." }),
    }),
    kind('stale_read', 'From then on reads answer as of an earlier time.', {
      as_of: z.enum(['trigger', 'start']).meta({ description: 'As of which time. Default: trigger.' }).optional(),
      reads: z.int().min(1).meta({ description: 'For so many reads. Default: to the end.' }).optional(),
      for: span.meta({ description: "For so long of the world's time. Default: to the end." }).optional(),
    }),
    kind('concurrent_change', 'Somebody else changes rows around the call.', {
      when: z.enum(['before', 'after']).meta({ description: 'Just before the call is carried out, or just after. Default: before.' }).optional(),
      changes,
    }),
    kind('conflicting_records', "Rows of one system are made to disagree with another's.", { changes }),
    kind('duplicate_delivery', 'The request arrives more than once, and each arrival is carried out.', {
      copies: z.int().min(1).max(10).meta({ description: 'So many more than one. Default 1.' }).optional(),
    }),
    kind('permission_revoked', 'The tool is refused from then on.', {}),
    kind('schema_changed', "The tool's contract is another from then on.", {
      rename: names.meta({ description: 'New names of arguments, by their old ones.' }).optional(),
      remove: z.array(text).min(1).meta({ description: 'Arguments that are gone.' }).optional(),
      rename_result: names.meta({ description: 'New names of fields of the result, by their old ones.' }).optional(),
    }),
    kind('malformed_reply', 'The call is carried out; its reply is cut off and cannot be read.', {}),
    kind('payload_too_large', 'Refused, since request or reply exceed a limit.', {
      limit_bytes: z.int().min(1).meta({ description: 'The limit, in bytes. Default 1024.' }).optional(),
    }),
    kind('smtp_connect', 'The mail connection ends before the mail begins.', {
      code: replyCode.meta({ description: 'With this reply. Default: with none.' }).optional(),
    }),
    kind('smtp_recipient', 'A recipient is refused.', {
      code: replyCode.meta({ description: 'With this reply. Default 450.' }).optional(),
      recipient: text.meta({ description: 'This address alone. Default: every one.' }).optional(),
    }),
    kind('smtp_data', 'The connection ends in the middle of the message.', {}),
    kind('smtp_final_dot', 'After the final dot.', {
      stored: z.boolean().meta({ description: 'Whether the mail is kept. Default: true.' }).optional(),
      code: replyCode.meta({ description: 'With this reply. Default: the reply is lost.' }).optional(),
    }),
  ])
  .superRefine((written, context) => {
    if (written.call !== undefined && written.calls !== undefined) {
      context.addIssue({ code: 'custom', path: ['calls'], message: 'expected either "call" or "calls"' });
    }
    for (const key of ['rename', 'rename_result'] as const) {
      const names = written.fault === 'schema_changed' ? Object.entries(written[key] ?? {}) : [];
      for (const [at, [old, now]] of names.entries()) {
        if (names.findIndex(([, other]) => other === now) < at)
          context.addIssue({ code: 'custom', path: [key, old], message: `expected another name: "${now}" is taken in this rule` });
      }
    }
    if (written.fault === 'schema_changed' && written.rename === undefined && written.remove === undefined && written.rename_result === undefined) {
      context.addIssue({ code: 'custom', path: [], message: 'expected "rename", "remove" or "rename_result"' });
    }
  });

/** A rule as people write it, checked. */
export type WrittenRule = z.output<typeof ruleSchema>;

/** `faults/NAME.yaml`, as people write it. */
export const faultsSchema = z.strictObject({
  title: text.meta({ description: 'What goes wrong, in a line. Default: the name.' }).optional(),
  cases: z.array(text).min(1).meta({ description: 'Globs over ids of cases: the schedule is combined with these only. Default: all cases.' }).optional(),
  faults: z.array(ruleSchema).min(1, 'expected at least one rule; the schedule without rules is "none"').meta({ description: 'What goes wrong, and when.' }),
});
