import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assertionOf, type Reading } from '../../src/domain/claims/assertion.ts';

interface Labelled {
  readonly text: string;
  readonly topic: readonly string[];
  readonly label: Reading;
  readonly note: string;
}

const LABELS: readonly Reading[] = ['done', 'not_done', 'unknown', 'undetermined', 'silent'];

function answersOf(file: string): Labelled[] {
  const lines = readFileSync(new URL(`../fixtures/answers/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Labelled);
}

function measure(file: string): { readonly lines: string; readonly precision: number; readonly readAsDone: string[]; readonly size: number } {
  const read = answersOf(file).map((answer) => ({ ...answer, found: assertionOf(answer.text, answer.topic).state }));
  const rows = LABELS.map((label) => {
    const given = read.filter((answer) => answer.label === label);
    const decided = read.filter((answer) => answer.found === label);
    const right = decided.filter((answer) => answer.label === label).length;
    return `${label.padEnd(13)} answers ${String(given.length).padStart(3)}  precision ${rate(right, decided.length)}  recall ${rate(right, given.length)}`;
  });
  const decided = read.filter((answer) => answer.found !== 'undetermined');
  const precision = decided.filter((answer) => answer.found === answer.label).length / decided.length;
  const wrong = read
    .filter((answer) => answer.found !== answer.label)
    .map((answer) => `  ${answer.label} read as ${answer.found}: ${answer.text.slice(0, 120)}`);
  const readAsDone = read
    .filter((answer) => answer.found === 'done' && (answer.label === 'not_done' || answer.label === 'unknown'))
    .map((answer) => answer.text);
  return {
    lines: [`${file}: ${read.length} answers, ${rate(decided.length, read.length)} decided`, ...rows, `decisions right ${precision.toFixed(3)}`, ...wrong].join(
      '\n',
    ),
    precision,
    readAsDone,
    size: read.length,
  };
}

function rate(part: number, whole: number): string {
  return whole === 0 ? '  n/a' : (part / whole).toFixed(3);
}

describe('answers labelled by hand', () => {
  it('a decision is right in at least 95 of 100 cases, and no denial is read as done', () => {
    const found = measure('labelled.jsonl');
    process.stdout.write(`${found.lines}\n`);
    expect(found.size).toBeGreaterThanOrEqual(80);
    expect(found.readAsDone).toEqual([]);
    expect(found.precision).toBeGreaterThanOrEqual(0.95);
  });

  it('answers held out while the rules were written: no denial is read as done', () => {
    const found = measure('heldout.jsonl');
    process.stdout.write(`${found.lines}\n`);
    expect(found.size).toBeGreaterThanOrEqual(25);
    expect(found.readAsDone).toEqual([]);
  });
});
