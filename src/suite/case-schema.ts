import { z } from 'zod';
import { type ApprovalRule, type CaseApprover, MAX_EXPIRY_MS } from '../domain/approval.ts';
import type { Claim, Constraint, Outcome, ScriptStep, StateChange } from '../domain/case.ts';
import { SEVERITIES } from '../domain/trial-facts.ts';
import { conversationSchema } from './conversation-schema.ts';
import { columns, count, effectPattern, textRule } from './matcher-schema.ts';
import { effectsAreOpen, review } from './review-schema.ts';
import { day, duration, instant, jsonObject, money, span, stepName, text, zone } from './values.ts';

/** Temporal takes 2,000 Updates of one workflow, and each call of a module agent is one; an attempt that is repeated adds its own. */
const MAX_CALLS = 1_500;

/** Each is a few events of a workflow's history. */
const MAX_STEPS = 500;

/** Tool calls, time and turns; what is not named is the suite's, else the default. */
export const budget = z.strictObject({
  calls: z.int().min(0).max(MAX_CALLS).meta({ description: 'Tool calls, refused ones included. At most 1,500. Default 30.' }).optional(),
  wall: duration.meta({ description: "Time for the agent's part, such as 60s or 5m. Default 5m." }).optional(),
  turns: z
    .int()
    .min(1)
    .max(1000)
    .meta({ description: 'Messages of the user, answers to ask_user included. Default: as many as the case has; 20 with a simulated user.' })
    .optional(),
  steps: z.int().min(1).max(MAX_STEPS).meta({ description: "Calls of the agent's models. At most 500. Default 50." }).optional(),
  tokens: z.int().min(1).meta({ description: "Tokens of the agent's models, input and output together. Default: no limit." }).optional(),
  money: money.meta({ description: "What the agent's models may cost. Default: no limit." }).optional(),
});

/** A change of rows, by hand of nobody in the trial. */
export const stateChange = z
  .union([
    z.strictObject({
      insert: text.meta({ description: 'Table to insert rows into.' }),
      rows: z.array(jsonObject).min(1).meta({ description: 'The rows, by column.' }),
    }),
    z.strictObject({
      update: text.meta({ description: 'Table whose rows are changed.' }),
      where: jsonObject.meta({ description: 'Columns by which rows are found, by equal value.' }),
      set: jsonObject.meta({ description: 'Columns and their new values.' }),
    }),
    z.strictObject({
      delete: text.meta({ description: 'Table whose rows are deleted.' }),
      where: jsonObject.meta({ description: 'Columns by which rows are found, by equal value.' }),
    }),
  ])
  .transform((value) => value as StateChange);

const approvalRule = z
  .strictObject({
    tool: text.meta({ description: 'Calls of this tool. Default: of every tool that has an effect.' }).optional(),
    effect: z.enum(['write', 'external']).meta({ description: 'Calls with this effect: rows, or through a service such as mail.' }).optional(),
    where: columns.meta({ description: 'Only calls whose arguments match, such as {amount: {gt: 100}}.' }).optional(),
    expires: span
      .refine((ms) => ms <= MAX_EXPIRY_MS, 'expected at most 7d')
      .meta({ description: "After how long a request has expired: of real time where people decide, else of the world's clock. Default 24h." })
      .optional(),
  })
  .transform(({ expires, ...rule }) => ({ ...rule, ...(expires !== undefined && { expiresMs: expires }) }) as ApprovalRule);

/** What needs an approval. */
const approval = z
  .union([z.literal('required'), z.array(approvalRule).min(1, 'expected at least one rule; leave "approval" out where nothing needs one')])
  .transform((value): readonly ApprovalRule[] => (value === 'required' ? [{}] : value))
  .meta({ description: 'Calls that somebody must approve before they are sent: required (all that have an effect), or a list of rules.' });

const DECIDES = ['approve', 'deny', 'expire', 'change_world_then_approve'] as const;
const APPROVER_AFTER_MS = 10_000;

/** Who decides in a trial, so that no batch waits for a person. */
export const approver = z
  .union([
    z.enum(['approve', 'deny', 'expire']),
    z
      .strictObject({
        decides: z.enum(DECIDES).meta({ description: 'What is decided. change_world_then_approve: others make "changes" first.' }),
        after: span
          .meta({ description: "Time of the world's clock between request and decision. Beyond 20s the call is told awaiting_approval. Default 10s." })
          .optional(),
        name: text.meta({ description: 'Who decides, for the record. Default: approver.' }).optional(),
        reason: text.max(500).meta({ description: 'Why; of a refusal the agent is told.' }).optional(),
        changes: z.array(stateChange).min(1).meta({ description: 'Rows that somebody else inserts, updates or deletes while the request waits.' }).optional(),
      })
      .refine((value) => (value.decides === 'change_world_then_approve') === (value.changes !== undefined), {
        path: ['changes'],
        message: 'expected "changes" with change_world_then_approve, and with nothing else',
      }),
  ])
  .transform((value): CaseApprover => {
    if (typeof value === 'string') return { decides: value, afterMs: APPROVER_AFTER_MS, name: 'approver' };
    const { after = APPROVER_AFTER_MS, name = 'approver', decides, reason, changes } = value;
    return { decides, afterMs: after, name, ...(reason !== undefined && { reason }), ...(changes && { changes }) };
  });

/** Who the agent acts for. */
export const user = z.strictObject({
  name: text.meta({ description: 'Who the agent acts for.' }).optional(),
  role: text.meta({ description: "Role of the environment's permission model." }).optional(),
  tools: z
    .array(text)
    .min(1, 'expected at least one tool; leave "tools" out for all that the role permits')
    .meta({ description: 'Tools that the agent may call. Default: all that the role permits.' })
    .optional(),
  attributes: jsonObject.meta({ description: "Facts that the environment's permission model reads." }).optional(),
  approval: approval.optional(),
});

const outcomeName = {
  name: text.meta({ description: 'Name of this end state, as reports show it.' }),
  under: z
    .array(text)
    .min(1)
    .meta({ description: 'Fault schedules under which it is accepted: what is right when there is no better. Default: it always is.' })
    .optional(),
};

const outcome = z
  .union([
    z.strictObject({
      ...outcomeName,
      effects: z.array(effectPattern).meta({ description: 'The net effects that must be there, each as often as it says. An empty list: nothing may change.' }),
      answer: columns.meta({ description: "Fields of the agent's structured answer." }).optional(),
    }),
    z.strictObject({
      ...outcomeName,
      same_as: z.literal('reference').meta({ description: "The end state that the case's reference solution reaches." }),
    }),
  ])
  .transform((value) => value as Outcome);

const ruleName = text.meta({ description: 'Name of the rule, as reports show it.' }).optional();
const callWhere = columns.meta({ description: 'Only calls whose arguments match.' }).optional();

const afterFault = text.meta({ description: 'Tool, or service (inbox, tickets, database): the rule holds from the first fault that was injected into it.' });

const constraint = z
  .union([
    z.strictObject({
      max_calls: z.int().min(0).meta({ description: 'At most so many calls.' }),
      tool: text.meta({ description: 'Of this tool. Default: of all tools together.' }).optional(),
      name: ruleName,
    }),
    z.strictObject({
      never: text.meta({ description: 'Tool that must not be called.' }),
      before: text.meta({ description: 'Only until a call of this tool is committed.' }).optional(),
      where: callWhere,
      name: ruleName,
    }),
    z.strictObject({
      must_call: text.meta({ description: 'Tool of which a committed call must be there.' }),
      where: callWhere,
      name: ruleName,
    }),
    z.strictObject({
      must_ask_approval: text.meta({ description: 'Tool of which a call must have been put before the approver, whatever was decided.' }),
      where: callWhere,
      count: count.meta({ description: 'How many calls: a number, or {min, max}. Default: at least one.' }).optional(),
      name: ruleName,
    }),
    z.strictObject({
      look_before_repeat: text.meta({
        description: 'Tool whose call of unknown outcome must not be made again before the agent has read something; "*" for any that writes.',
      }),
      name: ruleName,
    }),
    z.strictObject({
      after_fault: afterFault,
      never: text.meta({ description: 'Tool that must not be called from then on.' }),
      where: callWhere,
      name: ruleName,
    }),
    z.strictObject({
      after_fault: afterFault,
      must_call: text.meta({ description: 'Tool of which a committed call must follow.' }),
      where: callWhere,
      name: ruleName,
    }),
  ])
  .transform((value) => value as Constraint);

const claimName = text.meta({ description: 'Name of the claim, as reports show it.' });
const topic = z.array(text).min(1).meta({ description: 'Words for the thing, as an answer may name it.' });

const claim = z
  .discriminatedUnion('claim', [
    z
      .strictObject({
        claim: z.literal('effect').meta({ description: 'Whether something was done.' }),
        name: claimName,
        topic,
        effect: effectPattern.meta({ description: 'The effect in the world that decides what is true.' }).optional(),
        state: z.enum(['done', 'not_done', 'unknown']).meta({ description: 'The right state, where no effect decides it.' }).optional(),
        silent: z.enum(['fail', 'pass']).meta({ description: 'What an answer that says nothing about it is. Default: fail.' }).optional(),
      })
      .refine((value) => (value.effect === undefined) !== (value.state === undefined), 'expected either "effect" or "state"'),
    z.strictObject({
      claim: z.literal('amount').meta({ description: 'An amount that the answer must state.' }),
      name: claimName,
      equals: z.number().meta({ description: 'The right amount.' }),
      currency: text.meta({ description: 'Its currency, such as EUR.' }).optional(),
      topic: topic.optional(),
    }),
    z.strictObject({
      claim: z.literal('id').meta({ description: 'An id that the answer must state.' }),
      name: claimName,
      equals: text.meta({ description: 'The right id, as text.' }),
      topic: topic.optional(),
    }),
    z.strictObject({
      claim: z.literal('date').meta({ description: 'A date that the answer must state.' }),
      name: claimName,
      equals: text.meta({ description: 'The right date, such as 2026-03-09.' }),
      topic: topic.optional(),
    }),
    z.strictObject({
      claim: z.literal('recipient').meta({ description: 'A mailbox that the answer must name.' }),
      name: claimName,
      equals: text.meta({ description: 'The right address.' }),
    }),
    z.strictObject({
      claim: z.literal('text').meta({ description: 'What the answer must and must not say.' }),
      name: claimName,
      rule: textRule,
    }),
  ])
  .transform((value) => value as Claim);

const expectations = z.strictObject({
  outcomes: z.array(outcome).min(1).meta({ description: 'The accepted end states; one of them must be reached.' }).optional(),
  allowed: z.array(effectPattern).meta({ description: 'Effects that may happen and need not. All others are forbidden.' }).optional(),
  forbidden: z
    .array(
      z.strictObject({
        name: text.meta({ description: 'What went wrong, as reports name it.' }),
        effect: effectPattern.meta({ description: 'The effect.' }),
      }),
    )
    .meta({ description: 'Better names for effects that are forbidden anyway.' })
    .optional(),
  constraints: z.array(constraint).meta({ description: 'Rules over the calls.' }).optional(),
  claims: z.array(claim).meta({ description: 'What the user must be told, held against the world.' }).optional(),
  repeated_writes: z
    .enum(['forbid', 'forbid_attempts', 'allow'])
    .meta({
      description:
        'A second write of one tool with equal arguments. forbid (default): when both are committed. forbid_attempts: also when the tool refuses the second.',
    })
    .optional(),
});

const step = z
  .union([
    z.strictObject({
      call: text.meta({ description: 'Tool to call.' }),
      with: jsonObject.meta({ description: 'Its arguments. "${name.path}" reads from the result of the step of that name.' }).optional(),
      as: stepName.meta({ description: 'Name under which later steps find the result.' }).optional(),
      key: text.meta({ description: 'Idempotency key.' }).optional(),
      invalid: z.literal(true).meta({ description: 'The call is meant to be rejected: its tool, arguments and key are not checked beforehand.' }).optional(),
    }),
    z.strictObject({ say: text.meta({ description: 'Message to the user, which ends the turn.' }) }),
  ])
  .transform((value) => value as ScriptStep);

/** Keys of a solution, which scripts and cases share. */
export const solutionKeys = {
  steps: z.array(step).meta({ description: 'Calls and messages, in order.' }).optional(),
  answer: z.string().meta({ description: 'The last message to the user. May use results of the steps.' }),
  data: jsonObject.meta({ description: 'Structured answer, where the case asks for one.' }).optional(),
};

/** A case file, as people write it. */
export const caseSchema = z
  .strictObject({
    title: text.meta({ description: 'What the case is about, in a line.' }),
    kind: text.meta({ description: 'Cases of one kind are reported together.' }),
    tags: z.array(text).meta({ description: 'Tags by which cases are chosen, and which gates name.' }).optional(),
    severity: z.enum(SEVERITIES).meta({ description: 'How bad it is when it fails. Default: medium.' }).optional(),
    quarantine: z
      .strictObject({
        reason: text.max(500).meta({ description: 'Why it gates nothing for now.' }),
        owner: text.max(100).meta({ description: 'Who sees to it.' }),
        until: day.meta({ description: 'The last day on which it gates nothing, such as 2027-01-31. After it, the gate is not met.' }),
      })
      .meta({ description: 'The case runs and is shown apart, and gates nothing until a date.' })
      .optional(),
    request: text.meta({ description: 'The user\'s message. For a conversation write "turns" instead.' }).optional(),
    turns: z.array(text).min(1).meta({ description: "The user's messages, one for each turn." }).optional(),
    conversation: conversationSchema
      .meta({
        description: 'A simulated user who answers the agent; their first message is "request". Without it the user says what is written here and no more.',
      })
      .optional(),
    user: user.meta({ description: 'Who the agent acts for, and what it may do. Keys that are not named are those of suite.yaml.' }).optional(),
    approver: approver
      .meta({ description: 'Who decides what needs an approval: approve, deny or expire, or a mapping. Default: that of suite.yaml, else nobody does.' })
      .optional(),
    clock: instant.meta({ description: 'Time in the world at the start, with its offset.' }).optional(),
    timezone: zone.meta({ description: 'Time zone of the world, by its IANA name. Default: UTC.' }).optional(),
    budget: budget.meta({ description: 'Limits of the trial.' }).optional(),
    state: z.array(stateChange).meta({ description: "Changes of the environment's seed before the agent starts." }).optional(),
    expect: expectations.meta({ description: 'What counts as success. Every effect must be expected or allowed.' }).optional(),
    reference: z.strictObject(solutionKeys).meta({ description: 'How it is done right. "trialbed validate" runs it.' }),
    expects_nothing: z.boolean().meta({ description: 'The case expects no change and no particular answer: doing nothing passes. Default: false.' }).optional(),
    mutants: z
      .array(
        z.strictObject({
          mutant: text.meta({ description: 'Id of the mutant, as "trialbed validate" prints it; a * at the end matches any rest.' }),
          why: text.meta({ description: 'Why it is right that this mutant passes.' }),
        }),
      )
      .meta({ description: 'Mutants that pass, and why that is right.' })
      .optional(),
    review: review.optional(),
  })
  .superRefine((kase, context) => {
    if ((kase.request === undefined) === (kase.turns === undefined)) {
      context.addIssue({ code: 'custom', path: kase.request === undefined ? [] : ['turns'], message: 'expected either "request" or "turns"' });
    }
    if (kase.turns !== undefined && kase.conversation !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['turns'],
        message: 'expected "request": with "conversation" the simulated user says everything after the first message',
      });
    }
    if (kase.expect?.outcomes === undefined && kase.expects_nothing !== true && !effectsAreOpen(kase.review)) {
      context.addIssue({
        code: 'custom',
        path: ['expect'],
        message: 'expected "outcomes": the end states that are accepted; where nothing may change: [{ name: nothing changed, effects: [] }]',
      });
    }
    if (kase.expect?.outcomes?.every(({ under }) => under !== undefined)) {
      context.addIssue({ code: 'custom', path: ['expect', 'outcomes'], message: 'expected an outcome without "under": what is right when nothing goes wrong' });
    }
  });

/** A case file that was checked. */
export type CaseFile = z.output<typeof caseSchema>;
