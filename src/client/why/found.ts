import { printable } from '../../domain/text/bounded.ts';
import type { WhyCause, WhyEvidence } from '../../domain/why.ts';

/** What something waits for. */
export interface Found {
  readonly cause: WhyCause;
  /** Without its first capital and its full stop. */
  readonly sentence: string;
  readonly evidence: readonly WhyEvidence[];
  readonly next: string | null;
}

const MAX_SENTENCE = 1_000;

/** A sentence as it is told: on one line, bounded. */
export function asSentence(text: string): string {
  const line = printable(text.replace(/\s+/g, ' ').trim(), MAX_SENTENCE);
  return `${line.slice(0, 1).toUpperCase()}${line.slice(1)}.`;
}

/** What somebody else said, inside of a sentence. */
export function said(text: string, max = 300): string {
  return printable(text.trim(), max).replace(/[.\s]+$/, '');
}
