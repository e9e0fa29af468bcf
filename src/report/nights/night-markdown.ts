import { INVARIANTS, type Invariant, type NightFaults, type NightLatency } from '../../domain/night.ts';
import type { NightRow } from '../../store/nights.ts';
import { mdCellCode, mdTable, mdText } from '../markdown.ts';

/** What a night has shown: whether its invariants held, what it talked to, what went wrong by itself. No rate of success is in it. */
export function nightMarkdown({ id, schedule, due, began, ended, state, batch, why, body }: NightRow): string {
  const { trials, versions = {}, changes = [], faults, findings = [], moreFindings = 0, cleaned } = body;
  const took = began && ended ? `, took ${Math.round((ended.getTime() - began.getTime()) / 1000)} s` : '';
  return page([
    `# Night ${mdText(id)}`,
    `${mdText(schedule)}, due ${due.toISOString()}${took}: **${STATES[state]}**${why === null ? '' : `. ${mdText(why)}`}`,
    'A night checks what has to hold whatever the agents achieve. It is no measurement of an agent or a model: real services, their load and their faults are another in every night. ' +
      'Agents are compared by batches on fixtures, on matched trials.',
    ...(trials
      ? [`${trials.ended} of ${trials.planned} trials have ended${batch === null ? '' : `, batch ${mdText(batch)}: \`trialbed report ${batch}\``}.`]
      : []),
    '## Invariants',
    mdTable(
      ['has to hold', 'did it'],
      (Object.keys(INVARIANTS) as Invariant[]).map((name) => {
        const broken = findings.filter(({ invariant }) => invariant === name).length;
        return [INVARIANTS[name], trials === undefined ? 'not looked at' : broken === 0 ? 'nothing seen against it' : `no, ${broken} times`];
      }),
    ),
    ...(findings.length === 0
      ? []
      : [
          [
            ...findings.map(({ invariant, detail }) => `- ${INVARIANTS[invariant]}: ${mdText(detail)}`),
            ...(moreFindings > 0 ? [`- and ${moreFindings} more`] : []),
          ].join('\n'),
        ]),
    '## Changes since the night before',
    changes.length === 0
      ? 'None is known.'
      : mdTable(
          ['what', 'before', 'now'],
          changes.map(({ what, before, now }) => [
            mdText(what),
            before === null ? 'not there' : mdCellCode(before),
            now === null ? 'not there' : mdCellCode(now),
          ]),
        ),
    '## What went wrong',
    ...(faults ? [mdTable(['what', 'how often'], faultRows(faults))] : ['It was not looked at.']),
    ...(cleaned && cleaned.nights.length + cleaned.batches.length + cleaned.worlds + cleaned.problems.length > 0
      ? [
          '## Left by earlier nights',
          [
            ...cleaned.nights.map((night) => `- night ${mdText(night)} was lost`),
            ...cleaned.batches.map((one) => `- batch ${mdText(one)} was cancelled`),
            ...(cleaned.worlds > 0 ? [`- ${cleaned.worlds} worlds were removed`] : []),
            ...cleaned.problems.map((problem) => `- not removed: ${mdText(problem)}`),
          ].join('\n'),
        ]
      : []),
    '## Versions',
    Object.keys(versions).length === 0
      ? 'None is known.'
      : mdTable(
          ['what', 'version'],
          Object.entries(versions).map(([what, version]) => [mdText(what), mdCellCode(version)]),
        ),
  ]);
}

/** Nights of a schedule, the newest first. Where something became another version stands a line of its own: nights on both sides of it are not alike. */
export function seriesMarkdown(schedule: string, nights: readonly NightRow[]): string {
  const rows = nights.flatMap((night): string[][] => {
    const { due, state, why, body } = night;
    const { trials, faults, changes = [] } = body;
    const row = [
      due.toISOString().slice(0, 16).replace('T', ' '),
      STATES[state],
      trials ? `${trials.ended} of ${trials.planned}` : '',
      faults ? String(faults.rateLimited) : '',
      faults ? String(faults.unavailable) : '',
      faults ? String(faults.timedOut) : '',
      faults?.toolMs ? `${faults.toolMs.median} / ${faults.toolMs.p95}` : '',
      mdText(why ?? ''),
    ];
    const changed = changes.map(({ what, before, now }) => `${what}: ${before ?? 'not there'} → ${now ?? 'not there'}`).join('; ');
    // The order is from the newest: what a night brought stands below it.
    return changes.length === 0 ? [row] : [row, ['', '**another version**', '', '', '', '', '', mdText(changed)]];
  });
  return page([
    `# Nights of ${mdText(schedule)}`,
    'The newest first. What is counted is what a night met, not how well an agent did: no rate of success is in it, and none can be read from it.',
    rows.length === 0
      ? 'There was no night yet.'
      : mdTable(['due (UTC)', 'invariants', 'trials ended', 'too many', 'away', 'no answer', 'tools ms, median / p95', 'why'], rows),
  ]);
}

export const STATES: { readonly [state in NightRow['state']]: string } = {
  running: 'running',
  held: 'held',
  broken: 'failed',
  lost: 'lost',
  missed: 'did not run',
};

function faultRows({ rateLimited, unavailable, timedOut, disturbed, toolMs, modelMs }: NightFaults): string[][] {
  return [
    ['answered "too many" (429)', String(rateLimited)],
    ['a service was away', String(unavailable)],
    ['no answer, or none that could be read', String(timedOut)],
    ['trials in which the test bed recovered something', String(disturbed)],
    ['calls of tools', latencyText(toolMs)],
    ['calls of models', latencyText(modelMs)],
  ];
}

function latencyText(latency: NightLatency | null): string {
  return latency === null ? 'none' : `${latency.calls}, median ${latency.median} ms, 95% within ${latency.p95} ms`;
}

function page(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}
