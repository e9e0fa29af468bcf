import type { ReportData } from './data.ts';
import { mdCode, mdText } from './markdown.ts';

/** Names of one kind that are listed. */
const LISTED = 30;

/** What was checked, with what, and where all of it came from. */
export function checkedMarkdown({ batch, summary, facts, provenance }: ReportData): string {
  const distinct = (values: readonly string[]): string[] => [...new Set(values)];
  const agents = provenance.agents.map((one) => `${one.name} ${one.version} ${one.kind} ${one.hash.slice(0, 12)}`);
  const schedules = distinct(facts.map(({ schedule, scheduleHash }) => (scheduleHash === null ? schedule : `${schedule} ${scheduleHash.slice(0, 12)}`)));
  const repetitions = new Set(facts.map(({ repetition }) => repetition)).size;
  const { environment } = batch;
  const routes = provenance.agents.flatMap((one) =>
    one.routes.map((route) => `${one.name}: ${route.model} by ${route.name}${route.seed === null ? '' : `, seed ${route.seed}`}`),
  );
  const tools = environment.facts?.tools ?? [];
  return [
    'Every trial ran in a world of its own. Its outcome and effects were read from the systems of record (rows and mail), not from what the agent said;',
    'an effect that the case neither expects nor allows fails it.',
    '',
    `- cases: ${distinct(facts.map((one) => one.case)).length}, repetitions: ${repetitions}, seed ${mdCode(batch.seed)}`,
    `- environment: ${mdCode(`${environment.name} ${environment.version}`)}, generation ${mdCode(environment.generation.slice(0, 12))}, isolation ${mdCode(batch.options.isolation)}`,
    ...(tools.length > 0 ? [`- tools, by the hash of what an agent is told: ${codes(tools.map((tool) => `${tool.name} ${tool.schema.slice(0, 12)}`))}`] : []),
    ...(environment.facts ? [`- policy: ${environment.facts.policy === null ? 'none' : mdCode(environment.facts.policy.slice(0, 12))}`] : []),
    `- agents: ${codes(agents)}`,
    ...(routes.length > 0 ? [`- models: ${codes(routes)}`] : []),
    `- world clocks: ${codes(provenance.clocks.map(({ clock, timezone, cases }) => `${clock} ${timezone} (${cases} ${cases === 1 ? 'case' : 'cases'})`))}`,
    schedules.every((one) => one === 'none')
      ? '- faults: none were injected; the results say nothing about behaviour under faults'
      : `- fault schedules: ${codes(schedules)}`,
    ...ownAccessLines({ facts, provenance }),
    `- grader: ${provenance.graders.length === 0 ? 'nothing was graded' : codes(provenance.graders)}${provenance.regraded > 0 ? `; ${provenance.regraded} trials were graded again by an edited case` : ''}`,
    ...Object.entries(batch.sources).map(([what, source]) => `- source of ${mdText(what)}: ${sourceText(source)}`),
    `- worlds: ${summary.worlds.made} made, ${summary.worlds.released} released, ${summary.worlds.swept} swept, ${summary.worlds.leaked} leaked; each is compared with its generation before it is used, and one that differs is thrown away`,
    `- late writes that were refused after the fence: ${facts.reduce((sum, { diagnostics }) => sum + (diagnostics?.lateAttempts ?? 0), 0)}`,
  ].join('\n');
}

/** What no ledger says. */
function ownAccessLines({ facts, provenance }: Pick<ReportData, 'facts' | 'provenance'>): string[] {
  const direct = provenance.agents.filter(({ access }) => access.length > 0);
  if (direct.length === 0) return [];
  const hashes = new Set(direct.map(({ hash }) => hash));
  const trials = facts.filter(({ agentHash }) => hashes.has(agentHash)).length;
  const services = [...new Set(direct.flatMap(({ access }) => access))].sort();
  return [
    `- direct access: in ${trials} of ${facts.length} trials the agent had clients of its own (${services.join(', ')}). The ledger of what it did by them is missing: its effects were seen as of no operation and graded the same; calls, their order and their number were not`,
  ];
}

function sourceText(source: { readonly commit: string | null; readonly dirty: boolean | null }): string {
  if (source.commit === null) return 'not in a git work tree';
  return `${mdCode(source.commit.slice(0, 12))}${source.dirty ? ', with uncommitted changes' : ''}`;
}

function codes(texts: readonly string[]): string {
  return `${texts.slice(0, LISTED).map(mdCode).join(', ')}${texts.length > LISTED ? ` and ${texts.length - LISTED} more` : ''}`;
}
