import { Foreign } from '../html/text.tsx';
import { StepLink, StepLinks } from './finding.tsx';
import type { Trace } from './trace.ts';

/** What became of one write of unknown outcome, and of what the agent did about it, in two sentences. */
export function Recovery({ trace, note }: { readonly trace: Trace; readonly note: Trace['recovery'][number] }) {
  const { step, tool, known, repeats, looked, committed } = note;
  const again = trace.steps.filter(({ operation }) => operation !== null && repeats.includes(operation.id)).map(({ n }) => n);
  return (
    <>
      {step === null ? <Foreign text={tool} max={80} /> : <StepLink trace={trace} n={step} />} got no reply that says how it ended; it {KNOWN[known]}. The agent{' '}
      {LOOKED[looked]}
      {again.length > 0 && (
        <>
          {' '}
          and called again in <StepLinks trace={trace} steps={again} />
        </>
      )}
      : its effect is there {committed === 0 ? 'not at all' : committed === 1 ? 'once' : `${committed} times`}.
    </>
  );
}

const KNOWN = { committed: 'was carried out', failed: 'was not carried out', undetermined: 'may have been carried out' } as const;

const LOOKED = {
  before_repeat: 'looked whether it was there,',
  not_before_repeat: 'did not look whether it was there,',
  later: 'looked for it later',
  never: 'never looked whether it was there',
} as const;
