import { plainText } from '../plain-text.ts';
import type { Json } from '../../domain/json.ts';

/** Characters of one foreign text that a page shows unless it says otherwise. */
const MAX_SHOWN = 2_000;

/**
 * A text of an agent, a mail, a row or a case file: bounded, its direction kept to itself, and what is not printable shown as an escape that is marked as one, so that a typed
 * `\x1b` and a real one differ.
 */
export function Foreign({ text, max = MAX_SHOWN }: { readonly text: string; readonly max?: number }) {
  const { kept, left } = cut(text, max);
  return (
    <>
      <bdi class="foreign">{kept.split(UNPRINTABLE).map((part, at) => (at % 2 === 0 ? part : <Marked text={part} />))}</bdi>
      {left > 0 && <span class="cut"> … and {left.toLocaleString('en-US')} more characters</span>}
    </>
  );
}

/** Foreign text with its line breaks. */
export function ForeignBlock({ text, max = MAX_SHOWN, label }: { readonly text: string; readonly max?: number; readonly label?: string }) {
  return (
    <div class="block" {...(label !== undefined && { role: 'group', 'aria-label': label })}>
      <Foreign text={text} max={max} />
    </div>
  );
}

/** A foreign value, as indented JSON. */
export function ForeignJson({ value, max = MAX_SHOWN, label }: { readonly value: Json; readonly max?: number; readonly label?: string }) {
  const { kept, left } = cut(JSON.stringify(value, null, 2), max);
  return (
    <pre class="json" {...(label !== undefined && { role: 'group', 'aria-label': label })}>
      <Foreign text={kept} max={max} />
      {left > 0 && <span class="cut"> … and {left.toLocaleString('en-US')} more characters</span>}
    </pre>
  );
}

/** A foreign value on one line. */
export function ForeignValue({ value, max = 300 }: { readonly value: Json | undefined; readonly max?: number }) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return <Foreign text={text} max={max} />;
}

/** An instant, in UTC to the second. What is no instant is shown as it is. */
export function Time({ at }: { readonly at: string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return <Foreign text={at} max={60} />;
  const iso = new Date(time).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>;
}

function Marked({ text }: { readonly text: string }) {
  // A line break or a tab is what it is in a block, and harmless anywhere.
  return text
    .split(/([\n\t]+)/)
    .map((part, at) => (part === '' ? '' : at % 2 === 1 ? part : <span class="escape">{plainText(part === '\r' ? '\\r' : part)}</span>));
}

/** Never cuts a character in two. */
function cut(text: string, max: number): { readonly kept: string; readonly left: number } {
  if (text.length <= max) return { kept: text.toWellFormed(), left: 0 };
  const end = /[\ud800-\udbff]/.test(text[max - 1] ?? '') ? max - 1 : max;
  return { kept: text.slice(0, end).toWellFormed(), left: text.length - end };
}

/** Controls, invisible and direction characters, lone surrogates, line and paragraph separators. */
const UNPRINTABLE = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+)/u;
