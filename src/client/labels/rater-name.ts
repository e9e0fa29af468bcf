import { isRaterName } from '../../domain/judging.ts';
import { LabelRefusedError } from './errors.ts';

/** The name that labels of somebody carry where they say no other one: of `petra@laptop` the part before the sign, and what no rater's name can hold as a `-`. */
export function raterNameOf(holder: string): string {
  const [before = ''] = holder.split('@');
  const name = before
    .normalize('NFC')
    .replace(/[^\p{L}\p{N} ._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, 100)
    .trimEnd();
  return isRaterName(name) ? name : 'somebody';
}

/** @throws {LabelRefusedError} for what is no name */
export function requireRaterName(name: string): string {
  if (isRaterName(name)) return name;
  throw new LabelRefusedError(
    `${JSON.stringify(name)} is no name of a rater; expected 1 to 100 letters, digits, spaces, "_", "." and "-", and no mail address: names of raters stay when a person is removed`,
  );
}
