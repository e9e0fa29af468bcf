import { durationText } from '../duration-text.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Ending } from '../../domain/verdict.ts';
import { knownOtherwise } from '../../domain/operation.ts';
import type { Trace, TraceFinding, TraceLink, TraceStep } from './trace.ts';

/** How a word or a mark looks; the text beside says the same. */
export type Tone = 'good' | 'bad' | 'wait' | 'busy' | 'plain';

/** What a step is, in a few words. Holds foreign text, unescaped. */
export function stepTitle(step: TraceStep, ending: Ending | null = null): string {
  const { kind, operation, messages, by, changes, faults } = step;
  switch (kind) {
    case 'operation':
      return operation?.tool ?? 'call';
    case 'said': {
      const [message] = messages;
      return message?.from === 'user' ? 'The user says' : `${message?.actor ?? 'The agent'} answers`;
    }
    case 'outside': {
      const where = [...new Set(changes.map(({ table }) => table))].slice(0, 3).join(', ');
      const what = where === '' ? 'sends mail' : `changes ${where}`;
      if (by === 'unattributed') return where === '' ? 'Mail of no call' : `Changes of no call: ${where}`;
      return `Somebody else ${what}`;
    }
    case 'fault':
      return `Fault: ${faults[0]?.kind.replaceAll('_', ' ') ?? ''}`;
    case 'end':
      return ending === 'infra_error' || ending === 'cancelled' ? 'The attempt was broken off' : "The agent's work is over";
    case 'late':
      return 'Too late: refused';
    case 'verdict':
      return 'Verdict';
  }
}

/** Which of the colours a step has. */
export function stepTone(step: TraceStep): Tone {
  const { kind, operation } = step;
  if (kind === 'said') return 'busy';
  if (kind === 'outside' || kind === 'fault' || kind === 'late') return 'wait';
  if (operation === null) return 'plain';
  if (operation.told === 'unknown' || operation.told === 'awaiting_approval') return 'wait';
  if (operation.told !== 'committed') return 'bad';
  return operation.effect === 'read' || operation.effect === null ? 'plain' : 'good';
}

/** What the agent could know after it, in a sentence for somebody who does not know the word. */
export function toldText({ told }: Operation): string {
  return TOLD[told];
}

/** What really became of it. */
export function knownText(operation: Operation, changes: number): string {
  const { known, effect, ended } = operation;
  if (known === 'undetermined') return 'Whether it was carried out cannot be known.';
  if (known === 'failed') return 'It was not carried out: it had no effect.';
  const did = effect === 'read' ? 'It was carried out: a read, which changes nothing.' : 'It was carried out';
  if (effect === 'read') return did;
  const after = ended ? ', after the agent had been told to wait' : '';
  return `${did}${after}: ${changes === 0 ? 'nothing is different by it.' : `${changes} ${changes === 1 ? 'change' : 'changes'} in the world.`}`;
}

/** The agent believes something else than what is so. */
export function isMisled(step: TraceStep): boolean {
  return step.operation !== null && knownOtherwise(step.operation);
}

export function endingText(ending: Ending): string {
  return ENDINGS[ending];
}

/** How the trial was judged, as the first word of its page. */
export function stateOf({ head }: Trace): { readonly word: string; readonly tone: Tone } {
  if (head.verdict !== null) return { word: head.verdict.pass, tone: head.verdict.pass === 'pass' ? 'good' : head.verdict.pass === 'fail' ? 'bad' : 'wait' };
  return head.ending === null ? { word: 'not ended', tone: 'busy' } : { word: 'not graded', tone: 'wait' };
}

/** Findings that a reader came for. */
export function wrongIn({ findings }: Pick<Trace, 'findings'>): readonly TraceFinding[] {
  return findings.filter(({ judgement }) => judgement !== 'pass');
}

export function linkText({ what }: TraceLink): string {
  return LINKS[what];
}

/** How the world's clock went on, such as `clock + 30 s`. */
export function clockText(ms: number): string {
  return `clock + ${durationText(ms / 1000)}`;
}

/** Counts of what a step changed, such as `2 rows, 1 mail`. */
export function changesText({ changes, mails }: Pick<TraceStep, 'changes' | 'mails'>): string {
  const count = (n: number, one: string) => (n === 0 ? [] : [`${n} ${one}${n === 1 ? '' : 's'}`]);
  return [
    ...count(changes.length, 'row'),
    ...count(mails.filter(({ accepted }) => accepted).length, 'mail'),
    ...count(mails.filter(({ accepted }) => !accepted).length, 'refused mail'),
  ].join(', ');
}

const TOLD: { readonly [told in Operation['told']]: string } = {
  committed: 'It worked.',
  failed: 'It failed, and had no effect.',
  unknown: 'It may have been carried out, or not: no reply came that says so.',
  rejected: 'It was not accepted: no such tool, or wrong arguments. Nothing was sent.',
  denied: 'It was not permitted. Nothing was sent.',
  awaiting_approval: 'It waits for somebody’s approval.',
};

const ENDINGS: { readonly [ending in Ending]: string } = {
  completed: 'The agent gave its answer.',
  agent_timeout: 'The agent ran out of time.',
  budget_exhausted: 'The agent used up what it was given of calls or money.',
  agent_error: 'The agent itself failed.',
  user_error: 'The simulated user failed, by no doing of the agent.',
  cassette_miss: 'The recording holds no such reply.',
  cancelled: 'Somebody cancelled the trial.',
  infra_error: 'The test bed itself had trouble: this says nothing about the agent, and is not scored.',
};

const LINKS: { readonly [what in TraceLink['what']]: string } = {
  repeats: 'does once more what was of unknown outcome in',
  repeated_by: 'is done once more in',
  answered_by: 'has the same idempotency key as, and got the outcome of',
  answers: 'gave its outcome also to',
  looked_up_by: 'was looked up in',
  looks_up: 'tells what became of',
  changed_outside: 'was met by',
  hit: 'was made when the fault hit',
  while_waiting: 'was made while somebody was asked to approve',
};
