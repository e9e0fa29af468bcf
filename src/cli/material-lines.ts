import type { Material, MaterialEffect, MaterialMail, MaterialMessage, MaterialOperation } from '../judges/material.ts';
import { evidenceText, oneLineJson, plainText, shorten } from '../report/plain-text.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Paint } from './host.ts';
import { wrap } from './trial-timeline.ts';

/** Characters of one text, one value, and things of one kind that a rater is shown at most; what is left out is counted. */
const MOST_TEXT = 8_000;
const MOST_VALUE = 1_500;
const MOST_SHOWN = 100;

/** What a rater is shown of a trial, line by line. All foreign text in it is safe to print. */
export function materialLines(material: Material, columns: number, paint: Paint): string[] {
  const { conversation, answer, operations, effects, mail, removed } = material;
  const part = <T>(title: string, things: readonly T[] | null, none: string, lines: (one: T) => readonly string[]): string[] => {
    if (things === null) return [];
    const shown = things.slice(0, MOST_SHOWN).flatMap(lines);
    const more = things.length > MOST_SHOWN ? [`and ${things.length - MOST_SHOWN} more`] : [];
    return ['', paint('bold', title), ...(things.length === 0 ? [none] : [...shown, ...more]).map((line) => `  ${line}`)];
  };
  const said = (message: MaterialMessage) => messageLines(message, columns - 2, paint);
  return [
    ...(removed.length === 0 ? [] : ['', paint('yellow', 'Parts of this trial were removed since: label what is left, or skip it.')]),
    ...part('Conversation', conversation, 'nothing was said', said),
    ...(answer === null ? [] : part('Answer', [answer], '', said)),
    ...part('Operations', operations, 'no tool was called', (one) => operationLines(one, columns - 2, paint)),
    ...part('Effects', effects, 'no row was changed', (one) => wrap(effectText(one), columns - 4)),
    ...part('Mail', mail, 'no mail was sent', (one) => mailLines(one, columns - 2, paint)),
  ];
}

function messageLines({ from, text, data }: MaterialMessage, columns: number, paint: Paint): string[] {
  const lines = textLines(text.trimEnd(), columns - 2).map((line) => `  ${line}`);
  return [
    paint(from === 'user' ? 'cyan' : 'bold', plainText(from)),
    ...lines,
    ...(data === null ? [] : wrap(`  data ${oneLineJson(data, MOST_VALUE)}`, columns)),
  ];
}

function operationLines({ seq, by, tool, args, told, problem, result }: MaterialOperation, columns: number, paint: Paint): string[] {
  const who = by === 'agent' ? '' : ` by ${plainText(by)}`;
  const colour = told === 'committed' ? 'green' : told === 'unknown' ? 'yellow' : 'red';
  const inner = columns - 6;
  return [
    `${String(seq).padStart(3)}  ${paint('bold', plainText(tool))}${who}  ${paint(colour, told)}`,
    ...[
      ...wrap(oneLineJson(args, MOST_VALUE), inner),
      ...(problem === null ? [] : wrap(shorten(plainText(`${problem.code}: ${problem.message}`), MOST_VALUE), inner)),
      ...(result === null ? [] : wrap(`result ${oneLineJson(result, MOST_VALUE)}`, inner)),
    ].map((line) => `     ${line}`),
  ];
}

function effectText({ table, change, key, before, after, call, byOthers }: MaterialEffect): string {
  const keys = Object.values(key)
    .map((value) => JSON.stringify(value))
    .join(',');
  const by = byOthers ? ', by somebody else' : call === null ? '' : ` (call ${call})`;
  return shorten(plainText(`${change} ${table} ${keys}${by}: ${changeText(before, after)}`), MOST_VALUE);
}

/** For an update only the columns that differ. */
function changeText(before: JsonObject | null, after: JsonObject | null): string {
  if (before === null || after === null) return evidenceText(after ?? before ?? {});
  const changed = Object.keys({ ...before, ...after }).filter((column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]));
  return changed.map((column) => `${column} ${JSON.stringify(before[column])} -> ${JSON.stringify(after[column])}`).join(' ') || 'no column differs';
}

function mailLines({ accepted, from, to, refused, subject, text, attachments, call }: MaterialMail, columns: number, paint: Paint): string[] {
  const facts = [
    `from ${from}`,
    ...(to.length === 0 ? [] : [`to ${to.join(', ')}`]),
    ...(refused.length === 0 ? [] : [`refused for ${refused.join(', ')}`]),
    ...(attachments.length === 0 ? [] : [`with ${attachments.map(({ filename, contentType }) => `${filename ?? 'no name'} (${contentType})`).join(', ')}`]),
    ...(call === null ? [] : [`call ${call}`]),
  ];
  return [
    paint('bold', shorten(plainText(`${accepted ? '' : 'refused: '}${subject === '' ? 'without a subject' : subject}`), columns)),
    ...wrap(shorten(plainText(facts.join('; ')), MOST_VALUE), columns - 2).map((line) => `  ${line}`),
    ...textLines(text.trimEnd(), columns - 2).map((line) => `  ${line}`),
  ];
}

function textLines(text: string, columns: number): string[] {
  const cut = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n… and ${text.length - MOST_TEXT} more characters` : text;
  return plainText(cut, { lines: 'keep' })
    .split('\n')
    .flatMap((line) => wrap(line, columns));
}
