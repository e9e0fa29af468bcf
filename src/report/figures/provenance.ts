import { type AgentSpec, partsOf } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelRoute } from '../../domain/model.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchDocuments } from '../../store/store.ts';

/** What the trials of a batch were made of, beside the batch's own row. */
export interface Provenance {
  readonly agents: readonly AgentProvenance[];
  /** Where the world's clocks begin. */
  readonly clocks: readonly { readonly clock: string; readonly timezone: string; readonly cases: number }[];
  /** Versions of the graders of the current verdicts. */
  readonly graders: readonly string[];
  /** Trials whose current verdict is by another case than they ran with. */
  readonly regraded: number;
  /** Sums over the current verdicts, by agent. Never part of a verdict. */
  readonly diagnostics: readonly AgentDiagnostics[];
}

export interface AgentProvenance {
  readonly name: string;
  readonly version: string;
  readonly kind: AgentSpec['kind'];
  readonly hash: string;
  readonly routes: readonly {
    readonly name: string;
    readonly api: string;
    readonly model: string;
    readonly seed: number | null;
    readonly parameters: JsonObject;
  }[];
  /** Services for which it had clients of its own: what it did by them is in no ledger. */
  readonly access: readonly string[];
}

export interface AgentDiagnostics {
  readonly agent: string;
  /** Trials with a verdict. */
  readonly trials: number;
  readonly counts: { readonly [name: string]: number };
}

export function provenanceOf(facts: readonly TrialFacts[], { agents, cases }: Pick<BatchDocuments, 'agents' | 'cases'>): Provenance {
  const clocks = Map.groupBy(cases, ({ kase }) => JSON.stringify([kase.clock, kase.timezone]));
  return {
    agents: agents.map(({ hash, spec }) => agentOf(hash, spec)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    clocks: [...clocks.values()].flatMap((own) => (own[0] ? [{ clock: own[0].kase.clock, timezone: own[0].kase.timezone, cases: own.length }] : [])),
    graders: [...new Set(facts.flatMap(({ graded }) => graded?.grader ?? []))].sort(),
    regraded: facts.filter(({ graded, caseHash }) => graded !== null && graded.caseHash !== caseHash).length,
    diagnostics: [...Map.groupBy(facts, ({ agent }) => agent)].map(([agent, trials]) => diagnosticsOf(agent, trials)),
  };
}

function agentOf(hash: string, spec: AgentSpec): AgentProvenance {
  const parts = partsOf(spec);
  const routes = parts.flatMap((part): readonly ModelRoute[] => (part.kind === 'model' ? [part.route] : 'routes' in part ? (part.routes ?? []) : []));
  return {
    name: spec.name,
    version: spec.version,
    kind: spec.kind,
    hash,
    routes: routes.map(({ name, api, model, seed, parameters }) => ({ name, api, model, seed, parameters })),
    access: [...new Set(parts.flatMap((part) => ('access' in part ? (part.access ?? []) : [])))].sort(),
  };
}

function diagnosticsOf(agent: string, trials: readonly TrialFacts[]): AgentDiagnostics {
  const graded = trials.flatMap(({ diagnostics }) => diagnostics ?? []);
  const counts: Record<string, number> = {};
  for (const one of graded) {
    for (const [name, value] of Object.entries(one)) if (typeof value === 'number') counts[name] = (counts[name] ?? 0) + value;
  }
  const disturbed = trials.filter((one) => one.disturbed).length;
  return { agent, trials: graded.length, counts: { ...counts, disturbedTrials: disturbed } };
}
