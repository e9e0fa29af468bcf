import { trialState } from '../../../report/matrix.ts';
import type { TrialRow } from '../../../store/store.ts';
import { Badge, type Tone } from './layout.tsx';

/** How a trial stands, in a word. */
export function StandingBadge({ trial }: { readonly trial: Pick<TrialRow, 'phase' | 'summary'> }) {
  if (trial.summary === null || trial.phase !== 'done') return <Badge tone={trial.phase === 'waiting' ? 'plain' : 'busy'}>{trial.phase}</Badge>;
  const state = trialState(trial.summary);
  return <Badge tone={TONES[state]}>{WORDS[state] ?? state}</Badge>;
}

const TONES: { readonly [state in ReturnType<typeof trialState>]: Tone } = {
  pass: 'good',
  fail: 'bad',
  undetermined: 'wait',
  infra: 'wait',
  user: 'wait',
  miss: 'wait',
  cancelled: 'plain',
};

const WORDS: { readonly [state: string]: string } = { infra: 'infra error', user: 'user error', miss: 'not recorded' };
