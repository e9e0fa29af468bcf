import { stringify } from 'csv-stringify/sync';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { ReportData } from './data.ts';
import { seriesName } from '../domain/series-name.ts';
import { standingOf } from '../domain/standing.ts';
import { type Isolation, strayEffects } from './figures/isolation.ts';
import { plainText, shorten } from './plain-text.ts';

/**
 * A row for each trial, with a header (RFC 4180, UTF-8); at the end a column for each series of a judge, and one for what most people said by each text of a rubric. Foreign text opens in spreadsheets: what begins like a formula gets an apostrophe before it, as OWASP advises against CSV injection, and every character that
 * cannot be seen is shown as an escape. Numbers are as they are; what was not measured is empty.
 */
export function reportCsv({ facts, judges, raters, isolation }: Pick<ReportData, 'facts' | 'judges' | 'raters' | 'isolation'>): string {
  const people = raters.map(({ rubric, version, digest, labelled }) => ({
    column: text(`people ${rubric} ${version} (${digest.slice(0, 8)})`),
    categories: new Map(labelled.map(({ trial, category }) => [trial, category ?? 'split'])),
  }));
  const said = judges.map(({ series, judgements }) => ({
    column: text(`judge ${seriesName(series)}`),
    categories: new Map(judgements.map(({ trial, category, problem }) => [trial, category ?? `error: ${problem?.code ?? 'unknown'}`])),
  }));
  const rated = [...said, ...people];
  const rows = facts.map((one) => ({
    ...rowOf(one, isolation),
    ...Object.fromEntries(rated.map(({ column, categories }) => [column, text(categories.get(one.trial) ?? '')])),
  }));
  const columns = [...COLUMNS, ...rated.map(({ column }) => column)].map((key) => ({ key }));
  return stringify(rows, { header: true, columns, record_delimiter: 'windows', escape_formulas: true });
}

const COLUMNS = [
  'trial',
  'batch',
  'case',
  'title',
  'schedule',
  'agent',
  'repetition',
  'attempts',
  'standing',
  'ending',
  'pass',
  'outcome',
  'constraints',
  'effects',
  'category',
  'forbidden_effects',
  'unknowns',
  'severity',
  'tags',
  'quarantined_until',
  'calls',
  'input_tokens',
  'output_tokens',
  'money',
  'wall_ms',
  'agent_ms',
  'tool_ms',
  'wait_ms',
  'faults_injected',
  'rules_that_never_fired',
  'disturbed',
  'stray_effects',
  'leaked_worlds_of_batch',
  'unlike_worlds_of_batch',
  'why',
  'finding_codes',
  'case_hash',
  'schedule_hash',
  'agent_hash',
  'generation',
  'grader',
] as const;

type Row = { readonly [column in (typeof COLUMNS)[number]]: string | number | null };

function rowOf(one: TrialFacts, isolation: Isolation): Row {
  const { times } = one;
  return {
    trial: text(one.trial),
    batch: text(one.batch),
    case: text(one.case),
    title: text(one.title ?? ''),
    schedule: text(one.schedule),
    agent: text(one.agent),
    repetition: one.repetition,
    attempts: one.attempts,
    standing: standingOf(one),
    ending: one.ending,
    pass: one.pass,
    outcome: one.outcome,
    constraints: one.constraints,
    effects: one.effects,
    category: one.category,
    forbidden_effects: one.forbidden,
    unknowns: one.unknowns,
    severity: one.severity,
    tags: text(one.tags.join(' ')),
    quarantined_until: one.quarantine === null ? null : text(one.quarantine.until),
    calls: one.calls,
    input_tokens: one.tokens?.input ?? null,
    output_tokens: one.tokens?.output ?? null,
    money:
      one.money === null
        ? null
        : text(
            Object.entries(one.money)
              .map(([currency, amount]) => `${amount} ${currency}`)
              .join(' + '),
          ),
    wall_ms: times?.wallMs ?? null,
    agent_ms: times?.agentMs ?? null,
    tool_ms: times?.toolMs ?? null,
    wait_ms: times?.waitMs ?? null,
    faults_injected: one.faults?.injected ?? null,
    rules_that_never_fired: one.faults?.unfired ?? null,
    disturbed: one.disturbed ? 'yes' : 'no',
    stray_effects: one.diagnostics === null ? null : strayEffects(one),
    leaked_worlds_of_batch: isolation.leakedWorlds,
    unlike_worlds_of_batch: isolation.unlikeWorlds,
    why: text(one.why ?? ''),
    finding_codes: text([...new Set(one.findings.map(({ code }) => code))].join(' ')),
    case_hash: text(one.caseHash),
    schedule_hash: text(one.scheduleHash ?? ''),
    agent_hash: text(one.agentHash),
    generation: text(one.generation),
    grader: text(one.graded?.grader ?? ''),
  };
}

const CELL = 2_000;

function text(value: string): string {
  return shorten(plainText(value), CELL).trimStart();
}
