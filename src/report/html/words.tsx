import type { CellState } from '../matrix.ts';
import { Foreign } from './text.tsx';

/** How a trial came out, as a page tells it: `open` has not ended. */
export type Result = CellState | 'open';

/** The worst first. */
export const RESULTS: readonly Result[] = ['fail', 'undetermined', 'infra', 'user', 'miss', 'cancelled', 'open', 'pass'];

export const RESULT_WORDS: { readonly [result in Result]: string } = {
  pass: 'pass',
  fail: 'fail',
  undetermined: 'undetermined',
  infra: 'infra error',
  user: 'user error',
  miss: 'not recorded',
  cancelled: 'cancelled',
  open: 'not done',
};

const LOOKS: { readonly [result in Result]: string } = {
  pass: 'good',
  fail: 'bad',
  undetermined: 'wait',
  infra: 'wait',
  user: 'wait',
  miss: 'wait',
  cancelled: '',
  open: '',
};

/** The class of a badge of a result. */
export function resultClass(result: Result): string {
  return `badge ${LOOKS[result]}`.trim();
}

export function Badge({ result, text = RESULT_WORDS[result] }: { readonly result: Result; readonly text?: string }) {
  return <span class={resultClass(result)}>{text}</span>;
}

/** A name of somebody else's: short in a table. */
export function Name({ text, max = 120 }: { readonly text: string; readonly max?: number }) {
  return <Foreign text={text} max={max} />;
}

/** A sentence of somebody else's. */
export function Says({ text, max = 600 }: { readonly text: string; readonly max?: number }) {
  return <Foreign text={text} max={max} />;
}

/** An id or a hash, and how to ask for more of it. */
export function Id({ text }: { readonly text: string }) {
  return (
    <code>
      <Foreign text={text} max={120} />
    </code>
  );
}
