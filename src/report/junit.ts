import { create } from 'xmlbuilder2';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { ReportData } from './data.ts';
import { holdsOn } from '../domain/quarantine.ts';
import { standingOf } from '../domain/standing.ts';
import { pairText } from './raters/agreement-markdown.ts';
import { strayEffects } from './figures/isolation.ts';
import { plainText, shorten } from './plain-text.ts';

/**
 * A batch as JUnit XML, by the schema of Jenkins' xUnit plugin: a suite for each agent, a case for each trial. A failure is a trial that failed or that nobody could decide; an error is a trial
 * without a result (trouble of the test bed, a fault of the simulated user); skipped is what was cancelled, has not ended, or is of a case in quarantine. Of a case whose quarantine is over a trial that passed is a failure too, as the gate is not met. Foreign text is made safe: a character that XML cannot hold
 * is shown as an escape.
 */
export function reportJunit({
  batch,
  summary,
  facts,
  today,
  isolation,
  raters = [],
}: Pick<ReportData, 'batch' | 'summary' | 'facts' | 'today' | 'isolation'> & Partial<Pick<ReportData, 'raters'>>): string {
  const results = facts.map((one) => ({ one, result: resultOf(one, today) }));
  const root = create({ version: '1.0', encoding: 'UTF-8' }).ele('testsuites', { name: text(summary.suite), ...counts(results), time: seconds(facts) });
  for (const [agent, own] of Map.groupBy(results, ({ one }) => one.agent)) {
    const { skipped, ...of } = { ...counts(own), skipped: String(own.filter(({ result }) => result.kind === 'skipped').length) };
    const suite = root.ele('testsuite', {
      name: text(agent),
      ...of,
      skipped,
      time: seconds(own.map(({ one }) => one)),
      timestamp: batch.createdAt.slice(0, 19),
      id: text(batch.id),
    });
    const properties = suite.ele('properties');
    const told = {
      batch: batch.id,
      state: batch.state,
      seed: batch.seed,
      generation: batch.environment.generation,
      leaked_worlds: String(isolation.leakedWorlds),
      unlike_worlds: String(isolation.unlikeWorlds ?? 'not counted'),
      stray_effects: String(own.reduce((sum, { one }) => sum + strayEffects(one), 0)),
    };
    for (const [name, value] of Object.entries(told)) {
      properties.ele('property', { name, value: text(value) });
    }
    for (const { rubric, version, pairs, judges } of raters)
      for (const pair of pairs)
        properties.ele('property', { name: text(`agreement by ${rubric} ${version}: ${pairText(pair, judges)}`), value: text(pair.says) });
    for (const { one, result } of own) {
      const kase = suite.ele('testcase', {
        name: text(`${one.case}${one.schedule === 'none' ? '' : ` [${one.schedule}]`} #${one.repetition}`),
        classname: text(`${summary.suite}.${one.agent}`),
        time: seconds([one]),
      });
      if (result.kind !== 'passed') kase.ele(result.kind, { type: text(result.type), message: text(result.message) }).txt(text(bodyOf(one), BODY));
      kase.ele('system-out').txt(text(`trial ${one.trial}`));
    }
  }
  return root.end({ prettyPrint: true });
}

type Result = { readonly kind: 'passed' } | { readonly kind: 'failure' | 'error' | 'skipped'; readonly type: string; readonly message: string };

function resultOf(one: TrialFacts, today: string): Result {
  const standing = standingOf(one);
  const why = one.why ?? one.ending ?? 'it has not ended';
  if (standing === 'open') return { kind: 'skipped', type: 'open', message: 'it has not ended' };
  if (holdsOn(one.quarantine, today))
    return {
      kind: 'skipped',
      type: 'quarantined',
      message: `in quarantine until ${one.quarantine?.until ?? ''}: ${one.quarantine?.reason ?? ''}; ${one.pass ?? why}`,
    };
  if (one.quarantine !== null && standing === 'pass')
    return {
      kind: 'failure',
      type: 'quarantine_over',
      message: `it passed, and its quarantine is over since ${one.quarantine.until} (${one.quarantine.owner}: ${one.quarantine.reason}): somebody has to decide`,
    };
  if (standing === 'missing') return { kind: one.ending === 'cancelled' ? 'skipped' : 'error', type: one.ending ?? 'open', message: why };
  if (standing === 'pass') return { kind: 'passed' };
  return { kind: 'failure', type: one.category ?? 'undetermined', message: why };
}

const NAME = 400;
const BODY = 4_000;

function bodyOf({ findings, trial }: TrialFacts): string {
  return [...findings.map(({ code, rule, message }) => `${code}: ${message} (rule ${rule})`), `timeline: trialbed show ${trial}`].join('; ');
}

function counts(results: readonly { readonly result: Result }[]): { readonly tests: string; readonly failures: string; readonly errors: string } {
  const count = (kind: Result['kind']): string => String(results.filter(({ result }) => result.kind === kind).length);
  return { tests: String(results.length), failures: count('failure'), errors: count('error') };
}

/** On one line, without characters that XML cannot hold: `plainText` escapes controls and lone surrogates; what is left are two non-characters. */
function text(value: string, most: number = NAME): string {
  return shorten(
    plainText(value).replace(/[\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`),
    most,
  );
}

function seconds(facts: readonly TrialFacts[]): string {
  return (facts.reduce((sum, { times }) => sum + (times?.wallMs ?? 0), 0) / 1000).toFixed(3);
}
