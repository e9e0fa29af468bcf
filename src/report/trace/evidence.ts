import type { Finding, Judgement, Verdict } from '../../domain/verdict.ts';
import type { TraceFinding, TraceStep } from './trace.ts';

/** The verdict's findings with the steps that they are about: by the operations that they name; of what the user was told, the message. */
export function findingsOf(verdict: Verdict | null, steps: readonly TraceStep[]): TraceFinding[] {
  if (verdict === null) return [];
  const byOperation = new Map(steps.flatMap(({ operation, n }) => (operation === null ? [] : [[operation.id, n] as const])));
  const all = (['outcome', 'constraints', 'effects'] as const).flatMap((view) =>
    verdict[view].findings.map((finding): TraceFinding => {
      const named = (finding.operations ?? []).flatMap((id) => byOperation.get(id) ?? []);
      const about = [...new Set(named.length > 0 ? named : saidIn(finding, steps))].sort((a, b) => a - b);
      return { ...finding, view, steps: about, cause: about.at(-1) ?? null };
    }),
  );
  return all.sort((a, b) => WORST[a.judgement] - WORST[b.judgement]);
}

/** Where to look first: what caused the worst finding that a step caused; the end, where something is wrong that no step did; else the beginning. */
export function focusOf(findings: readonly TraceFinding[], steps: readonly TraceStep[]): number {
  const wrong = findings.filter(({ judgement }) => judgement !== 'pass');
  const [worst] = wrong;
  if (worst === undefined) return steps.some(({ kind }) => kind === 'operation') ? 1 : (steps.find(({ kind }) => kind === 'end')?.n ?? 1);
  const caused = wrong.find(({ cause, judgement }) => cause !== null && judgement === worst.judgement);
  return caused?.cause ?? Math.max(1, steps.length);
}

/** A claim is about a message: the one that holds the words that were found, else the agent's last one. */
function saidIn({ rule, found }: Finding, steps: readonly TraceStep[]): number[] {
  if (!rule.startsWith('expect.claims[')) return [];
  const said = steps.flatMap(({ n, messages }) => messages.filter(({ from }) => from === 'agent').map(({ text }) => ({ n, text })));
  const parts = typeof found === 'string' ? found.split(' / ').map((part) => part.replace(/^[a-z ]+: /, '').trim()) : [];
  const words = parts.filter((part) => part.length > 3);
  const holding = said.filter(({ text }) => words.some((part) => text.includes(part)));
  const last = holding.at(-1) ?? said.at(-1);
  return last === undefined ? [] : [last.n];
}

const WORST: { readonly [judgement in Judgement]: number } = { fail: 0, undetermined: 1, pass: 2 };
