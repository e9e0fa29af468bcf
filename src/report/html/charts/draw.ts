import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { plainText, shorten } from '../../plain-text.ts';

/** Draws a chart as SVG without a browser. Its colours are properties of the page's style, so that dark mode and print have their own; a program that reads aloud says `description`. */
export function draw(options: Plot.PlotOptions, description: string): string {
  const { document } = parseHTML('<html></html>');
  const svg: Drawn = Plot.plot({
    style: { fontSize: '12px' },
    ...options,
    document,
    className: 'chart',
    color: { type: 'identity' },
    symbol: { type: 'identity' },
  });
  // A style of its own is against the page's policy, which allows one by its hash.
  for (const style of svg.querySelectorAll('style')) style.remove();
  // The whole is one picture with one text; a group has no role to be named by.
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  svg.removeAttribute('style');
  svg.setAttribute('font-size', '12');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', description);
  return svg.outerHTML;
}

/** A name in a chart: made plain and short; the table has it whole. */
export function label(text: string, columns = 24): string {
  return shorten(plainText(text), columns);
}

/** Colour and shape of the n-th of several things, from 0. */
export function look(n: number): { readonly color: string; readonly symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'cross' } {
  return { color: `var(--c${n % SYMBOLS.length})`, symbol: SYMBOLS[n % SYMBOLS.length] ?? 'circle' };
}

const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'star', 'cross'] as const;

/** What is used of a drawn chart. */
interface Drawn {
  readonly outerHTML: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void; removeAttribute(name: string): void }>;
  removeAttribute(name: string): void;
  setAttribute(name: string, value: string): void;
}
