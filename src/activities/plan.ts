import type { AgentSpec } from '../domain/agent.ts';
import type { DrawnRule, FaultRule } from '../domain/fault.ts';
import type { Tool } from '../environments/define.ts';
import { isLive } from '../environments/live.ts';
import { runtimeOf } from '../environments/runtime-tools.ts';
import { NOBODY } from '../domain/approval.ts';
import { asksForApproval } from './approval-need.ts';
import { SERVER_CALL_MS } from '../environments/tool-server.ts';
import { type AttemptPlan, type ApproverPlan, APPROVAL_VOID, NOT_AS_RECORDED, type PlannedRule, type ToolPlan } from './contract.ts';
import { SERVICE_FAILURES } from './failures.ts';
import { timesOut } from './inject.ts';
import { modelPlanOf, teamPlanOf } from './model-agent/model-plan.ts';
import type { TrialContext } from './trial-context.ts';

const DEFAULT_TOOL_TIMEOUT_MS = 60_000;
/** A read that declares no more than this may run as a local activity. */
const LOCAL_READ_MS = 200;
/** Start-to-close of a call that a slow reply lets time out, real milliseconds. */
const SLOW_TIMEOUT_MS = 300;
/** Failures with which the schedule refuses a call before it is sent. */
const INJECTED_FAILURES: readonly string[] = ['rate_limited', 'unavailable', 'payload_too_large', 'malformed_reply'];

/** What the workflow has to know of a trial. */
export function planOf({ environment, batch, kase, agent, rules }: TrialContext): AttemptPlan {
  const tools: Record<string, ToolPlan> = {};
  // How long a real service takes is not for its tools to say.
  const live = isLive(environment.environment);
  for (const tool of environment.environment.tools) {
    tools[tool.name] = {
      effect: tool.effect,
      timeoutMs: tool.served ? servedMs(tool) : (tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS),
      local: !tool.served && !live && tool.effect === 'read' && (tool.typicalMs ?? LOCAL_READ_MS) <= LOCAL_READ_MS,
      definite: definiteOf(tool),
      // Whoever ends a server twice does so a third time.
      ...(tool.served ? { redispatches: 1 } : {}),
      ...(tool.ends ? { ends: true } : {}),
      ...(tool.builtin === 'lookup' ? { looksUp: true } : {}),
      ...(tool.builtin === 'ask' ? { asks: true } : {}),
    };
  }
  const { words } = runtimeOf(environment.environment);
  return {
    done: null,
    agent: kindOf(agent),
    ...(agent.kind === 'model' && { model: modelPlanOf(kase, agent) }),
    ...(agent.kind === 'team' && teamPlanOf(kase, agent)),
    tools,
    budget: kase.budget,
    keep: batch.options.keep,
    slowWorld: !kase.cassette && (batch.options.isolation !== 'schema' || environment.environment.toolServer !== undefined || live),
    ...(rules.length > 0 && { rules: plannedRules({ rules, environment }) }),
    ...(Object.keys(words).length > 0 && { words }),
    ...(kase.conversation && { user: kase.conversation.user }),
    ...(asksForApproval(environment.environment, kase.permission) && { approver: approverOf({ batch, kase }) }),
  };
}

/** Failures of a tool that are known to have had no effect. A write whose reply cannot be read is no refusal. */
export function definiteOf({ failures = [], effect }: Pick<Tool, 'failures' | 'effect'>): readonly string[] {
  return [...failures, ...SERVICE_FAILURES, ...INJECTED_FAILURES, APPROVAL_VOID, NOT_AS_RECORDED].filter(
    (code) => effect === 'read' || code !== 'malformed_reply',
  );
}

function approverOf({ batch, kase }: Pick<TrialContext, 'batch' | 'kase'>): ApproverPlan {
  if (batch.options.human) return { by: 'people', unverified: batch.options.unverified !== 'refuse' };
  const { decides, afterMs, name, reason, changes } = kase.approver ?? NOBODY;
  const decided = decides === 'change_world_then_approve' ? 'approve' : decides;
  return { by: 'case', decides: decided, name, afterMs, changes: changes !== undefined, ...(reason !== undefined && { reason }) };
}

/** How the workflow drives it. */
function kindOf({ kind }: AgentSpec): AttemptPlan['agent'] {
  return kind === 'reference' || kind === 'do-nothing' ? 'script' : kind;
}

/** A call of a tool server waits for those before it, and for a server that has to be started again. */
function servedMs({ timeoutMs = SERVER_CALL_MS }: Tool): number {
  return MAX_IN_FLIGHT * timeoutMs + SERVER_STARTS_MS;
}

/** Calls of a trial that are carried out at once. */
const MAX_IN_FLIGHT = 8;
const SERVER_STARTS_MS = 120_000;

function plannedRules({ rules, environment }: Pick<TrialContext, 'rules' | 'environment'>): PlannedRule[] {
  const runtime = runtimeOf(environment.environment);
  return rules.flatMap((rule) => {
    const { on, fault, index, calls, where } = rule;
    if (!ofTool(on)) return [];
    const afterMs = timesOut(fault, runtime) ? ('afterMs' in fault ? fault.afterMs : SLOW_TIMEOUT_MS) : undefined;
    return [
      {
        index,
        tool: on.tool,
        kind: fault.kind,
        ...(calls && { calls }),
        ...(where && { where: true as const }),
        ...(afterMs !== undefined && { afterMs }),
        ...(fault.kind === 'schema_changed' && { contract: contractText(on.tool, rule) }),
      },
    ];
  });
}

function ofTool(on: FaultRule['on']): on is { readonly tool: string } {
  return on !== 'start' && 'tool' in on;
}

/** What a service says of a call under a contract that is gone. */
function contractText(tool: string, { fault }: DrawnRule): string {
  if (fault.kind !== 'schema_changed') return '';
  const renamed = Object.entries(fault.rename).map(([name, now]) => `${name} is now called ${now}`);
  const removed = fault.remove.map((name) => `${name} is not taken any more`);
  return `The arguments of ${tool} have changed: ${[...renamed, ...removed].join('; ')}.`;
}
