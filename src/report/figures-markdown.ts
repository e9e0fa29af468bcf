import { durationText } from './duration-text.ts';
import type { ReportData } from './data.ts';
import { mdCellCode, mdCode, mdTable, mdText } from './markdown.ts';
import { shorten } from './plain-text.ts';
import { intervalText, percent } from './figures/rate-text.ts';
import type { Rate } from '../domain/gates/rate.ts';
import type { AgentRates } from './figures/rates.ts';
import type { Distribution } from './figures/spending.ts';

/** Rows of one table; `report.json` has all. */
const LISTED = 25;
/** Of names and sentences in tables. */
const NAME = 80;
const SENTENCE = 240;

/** Rates of each agent with their intervals. */
export function ratesMarkdown({ rates }: Pick<ReportData, 'rates'>): string {
  if (rates.length === 0) return '';
  const table = mdTable(
    ['agent', 'passed', 'outcome', 'constraints', 'effects', 'with a forbidden effect', 'undetermined', 'no result', 'passed, with the missing as bounds'],
    limited(rates).map((one) => [
      name(one.agent),
      rateCell(one.views.pass),
      rateCell(one.views.outcome),
      rateCell(one.views.constraints),
      rateCell(one.views.effects),
      rateCell(one.forbidden),
      String(one.undetermined),
      String(one.missing),
      one.missing === 0 ? '' : intervalText(one.bounds),
    ]),
  );
  const clustered = rates.some((one) => one.views.pass.method === 'clustered');
  const note = `Intervals are 95%, ${clustered ? 'clustered by case where cases repeat, else ' : ''}by Wilson. Undetermined trials count as scored and not as passed.`;
  return [table, note, repeatsMarkdown(rates)].filter((part) => part !== '').join('\n\n');
}

/** pass^k and pass@k under labels of their own. */
function repeatsMarkdown(rates: readonly AgentRates[]): string {
  const rows = limited(rates.filter(({ allOf }) => allOf.length > 1)).flatMap(({ agent, allOf, anyOf }) =>
    allOf.slice(0, 5).map((all, at) => {
      const any = anyOf[at];
      return [
        name(agent),
        String(all.k),
        withInterval(all.rate, all.interval),
        any === undefined ? '' : withInterval(any.rate, any.interval),
        String(all.cases),
        String(all.leftOut),
      ];
    }),
  );
  return rows.length === 0 ? '' : mdTable(['agent', 'k', 'pass^k: all of k pass', 'pass@k: at least one of k passes', 'cases', 'left out'], rows);
}

/** Results that hold under one schedule each. */
export function conditionalMarkdown({ conditional }: Pick<ReportData, 'conditional'>): string {
  if (conditional.length === 0) return '';
  return mdTable(
    ['under', 'agent', 'passed', 'with a forbidden effect', 'no result'],
    limited(conditional).map((one) => [name(one.schedule ?? 'all'), name(one.agent), rateCell(one.views.pass), rateCell(one.forbidden), String(one.missing)]),
  );
}

/** Categories of failures, what was violated, how trials ended, and what stayed unknown. */
export function failuresMarkdown({ failures }: Pick<ReportData, 'failures'>): string {
  const { categories, constraints, forbidden, endings, unknowns, version } = failures;
  const failed = categories.reduce((sum, { trials }) => sum + trials, 0);
  const parts: string[] = [];
  if (failed > 0) {
    parts.push(
      `By the list of categories, version ${mdText(version)}; each failed trial has one.`,
      mdTable(
        ['category', 'failed trials', 'meaning', 'for example'],
        categories.map(({ category, trials, meaning, example }) => [
          mdCellCode(category),
          String(trials),
          mdText(meaning),
          example === null ? '' : `${name(example.case)} by ${name(example.agent)}, ${mdCellCode(example.trial)}`,
        ]),
      ),
    );
  }
  for (const [title, kinds] of [
    ['Forbidden effects', forbidden],
    ['Violated constraints', constraints],
  ] as const) {
    if (kinds.length === 0) continue;
    parts.push(
      `${title} by kind:`,
      mdTable(
        ['kind', 'rule', 'agent', 'trials', 'findings', 'for example'],
        limited(kinds).map((kind) => [
          mdCellCode(kind.code),
          name(kind.rule),
          name(kind.agent),
          String(kind.trials),
          String(kind.findings),
          mdText(shorten(kind.example.message, SENTENCE)),
        ]),
      ),
      ...left(kinds.length),
    );
  }
  parts.push(
    mdTable(
      ['agent', 'ending', 'trials'],
      limited(endings).map(({ agent, ending, trials }) => [name(agent), mdCellCode(ending), String(trials)]),
    ),
  );
  if (unknowns.operations > 0) {
    const example = unknowns.example === null ? '' : `, for example ${mdCode(unknowns.example)}`;
    parts.push(`${unknowns.operations} operations of unknown outcome stayed unreconciled, in ${unknowns.trials} trials${example}.`);
  }
  return parts.join('\n\n');
}

/** Tokens, money and times; what was not measured is never 0. */
export function spendingMarkdown({ spending }: Pick<ReportData, 'spending'>): string {
  const rows = limited(spending).flatMap((one) => [
    ...Object.entries(one.money).map(([currency, of]) => spendingRow(one.agent, `${currency}, all attempts`, of, money)),
    spendingRow(one.agent, 'input tokens, all attempts', one.tokensIn, String),
    spendingRow(one.agent, 'output tokens, all attempts', one.tokensOut, String),
    spendingRow(one.agent, 'time, whole attempt', one.wallMs, seconds),
    spendingRow(one.agent, "time, the agent's own", one.agentMs, seconds),
    spendingRow(one.agent, 'time, its calls', one.toolMs, seconds),
    spendingRow(one.agent, 'time, the test bed and its queues', one.waitMs, seconds),
  ]);
  const measured = rows.filter((row) => row !== null);
  if (measured.length === 0) return '';
  const extra = spending.reduce((sum, { extraAttempts }) => sum + extraAttempts, 0);
  const table = mdTable(
    ['agent', 'what', 'sum', 'half below', '9 of 10 below', '99 of 100 below', 'most', 'trials', 'not measured'],
    measured.slice(0, LISTED * 3),
  );
  return extra === 0 ? table : `${table}\n\nWhat ${extra} repeated attempts used is in the sums; times are of the attempt that counts.`;
}

function spendingRow(agent: string, what: string, of: Distribution, text: (value: number) => string): readonly string[] | null {
  if (of.n === 0) return null;
  const cell = (value: number | null): string => (value === null ? '' : text(Math.round(value * 1e6) / 1e6));
  return [name(agent), mdText(what), ...[of.sum, of.p50, of.p90, of.p99, of.max].map(cell), String(of.n), String(of.unmeasured)];
}

/** Cases that pass at times, and cases in quarantine. */
export function mixedMarkdown({ mixed, quarantined }: Pick<ReportData, 'mixed' | 'quarantined'>): string {
  const parts: string[] = [];
  if (mixed.length > 0) {
    parts.push(
      mdTable(
        ['case', 'agent', 'under', 'passed', 'explained by', 'since'],
        limited(mixed).map((one) => [
          name(one.case),
          name(one.agent),
          one.schedule === null ? 'all' : name(one.schedule),
          `${one.passed} of ${one.scored}`,
          mdCellCode(one.explained),
          mdText(one.because),
        ]),
      ),
      ...left(mixed.length),
    );
  }
  if (quarantined.length > 0) {
    parts.push(
      'In quarantine: run and shown, and gating nothing until the day.',
      mdTable(
        ['case', 'passed', 'until', 'owner', 'reason'],
        limited(quarantined).map((one) => [
          name(one.case),
          `${one.passed} of ${one.trials}`,
          `${mdText(one.until)}${one.over ? ' **over: counts again**' : ''}`,
          mdText(shorten(one.owner, NAME)),
          mdText(shorten(one.reason, SENTENCE)),
        ]),
      ),
    );
  }
  return parts.join('\n\n');
}

/** Per case what is looked at, what may be without being looked at, and what cannot be seen. */
export function coverageMarkdown({ coverage }: Pick<ReportData, 'coverage'>): string {
  if (coverage.length === 0) return '';
  const covered = (list: ReportData['coverage'][number]['checked']): string =>
    list.map(({ what, parts }) => shorten(`${what}${parts === null ? '' : `: ${parts.join(', ')}`}`, SENTENCE)).join('; ');
  const [first] = coverage;
  const everywhere = first === undefined ? [] : first.unobservable.filter((one) => coverage.every(({ unobservable }) => unobservable.includes(one)));
  return [
    'Any other change in the world fails a case.',
    mdTable(
      ['case', 'checked', 'allowed without check', 'not observable'],
      limited(coverage).map((one) => [
        name(one.case),
        mdText(covered(one.checked)),
        mdText(covered(one.allowed)),
        mdText(shorten(one.unobservable.filter((what) => !everywhere.includes(what)).join('; '), SENTENCE)),
      ]),
    ),
    ...left(coverage.length),
    ...(everywhere.length > 0 ? [`Not observable in any case: ${mdText(shorten(everywhere.join('; '), 2_000))}`] : []),
  ].join('\n\n');
}

/** What the fixture proves, and what it does not. */
export function proofsMarkdown({ proofs }: Pick<ReportData, 'proofs'>): string {
  const services = proofs.services ?? [];
  return [
    ...proofs.shows.map((line) => `- ${mdText(line)}`),
    ...proofs.contracts.map((line) => `- ${mdText(line)}`),
    '',
    'It does not show:',
    '',
    ...proofs.doesNotShow.map((line) => `- ${mdText(shorten(line, 600))}`),
    ...(services.length > 0
      ? [
          '',
          mdTable(
            ['service', 'is', 'contract', 'compared with the real one'],
            limited(services).map((one) => [name(one.name), one.kind, mdText(one.contract), one.checkedAt === null ? 'never' : mdText(one.checkedAt)]),
          ),
        ]
      : []),
  ].join('\n');
}

/** Sums of what helps to understand the trials and decides nothing. */
export function diagnosticsMarkdown({ provenance }: Pick<ReportData, 'provenance'>): string {
  const names = [...new Set(provenance.diagnostics.flatMap(({ counts }) => Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [what] : []))))];
  if (names.length === 0) return '';
  return mdTable(
    ['agent', 'trials', ...names.map(mdText)],
    limited(provenance.diagnostics).map(({ agent, trials, counts }) => [name(agent), String(trials), ...names.map((what) => String(counts[what] ?? 0))]),
  );
}

function limited<T>(list: readonly T[]): readonly T[] {
  return list.slice(0, LISTED);
}

function left(count: number): readonly string[] {
  return count > LISTED ? [`and ${count - LISTED} more, in \`report.json\``] : [];
}

function name(text: string): string {
  return mdCellCode(shorten(text, NAME));
}

function rateCell({ count, of, rate, interval }: Rate): string {
  return rate === null ? 'nothing scored' : `${count}/${of} = ${withInterval(rate, interval)}`;
}

function withInterval(rate: number, interval: Rate['interval']): string {
  return `${percent(rate)} (${intervalText(interval)})`;
}

function seconds(ms: number): string {
  return durationText(ms / 1000);
}

function money(amount: number): string {
  return String(Number(amount.toPrecision(6)));
}
