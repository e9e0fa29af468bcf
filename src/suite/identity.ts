import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Case } from '../domain/case.ts';
import { withoutLabels } from '../domain/case-labels.ts';
import type { TrialPlan } from '../store/store.ts';

/** Canonical JSON (RFC 8785): equal values give equal text, whatever the order of their keys. @throws {TypeError} for what JSON cannot hold. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('a value that JSON cannot hold has no canonical form');
  return text;
}

/** sha256, hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** sha256 of the canonical JSON of a value. */
export function contentHash(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** Hash of what a case asks. The file's comments, layout and order of keys do not count, nor do its labels: with another tag, severity or quarantine it is the same case. */
export function caseHash(kase: Case): string {
  return contentHash(withoutLabels(kase));
}

/** What makes a trial the same trial. */
export interface TrialContent extends Omit<TrialPlan, 'id'> {
  /** Hash of the environment. */
  readonly generation: string;
}

/** `<batch>-<16 hexadecimal digits>`: equal content in one batch gives one id. */
export function trialId(batch: string, content: TrialContent): string {
  return `${batch}-${contentHash(content).slice(0, 16)}`;
}

/** What a batch is made of. Where files lie, how many trials run at once and what is kept afterwards is no part of it. */
export interface ManifestContent {
  readonly suite: string;
  readonly generation: string;
  readonly isolation: string;
  /** Null where none was chosen. */
  readonly seed: string | null;
  readonly trials: readonly Omit<TrialPlan, 'id'>[];
  /** People decide what needs an approval; absent where they do not. */
  readonly human?: true;
  /** Plain signals decide nothing; absent where they do. */
  readonly unverified?: 'refuse';
}

/** Equal for equal content, in whatever order the trials are named. */
export function manifestHash(manifest: ManifestContent): string {
  const trials = manifest.trials.map((trial) => contentHash(trial)).sort();
  return contentHash({ ...manifest, trials });
}
