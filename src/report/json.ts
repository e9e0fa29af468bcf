import type { ReportData } from './data.ts';

/** Everything that a report is made of. One line for each trial, so that a large report can be read and compared line by line. */
export function reportJson(data: ReportData): string {
  const { facts, ...rest } = data;
  const head = JSON.stringify({ type: 'report', version: 2, ...rest }, null, 2).slice(0, -2);
  return `${head},\n  "facts": [\n${facts.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]\n}\n`;
}
