/** Keys with a meaning of their own, in the terminal and on the page alike. */
export const LABEL_KEYS = { note: 'n', skip: 's', back: 'b', quit: 'q' } as const;

const DIGITS = '123456789';
const LETTERS = 'acdefghijklmoprtuvwxyz';

/** The key of each category, in the order of the scale: `1` to `9`, then letters that mean nothing else. Null: there are more categories than keys, and it has none. */
export function categoryKeys(scale: readonly string[]): readonly { readonly category: string; readonly key: string | null }[] {
  return scale.map((category, at) => ({ category, key: [...DIGITS, ...LETTERS][at] ?? null }));
}
