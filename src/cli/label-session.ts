import type { Labelling } from '../client/labels/labelling.ts';
import { categoryKeys, LABEL_KEYS } from '../judges/label-keys.ts';
import { LabelWalk } from '../judges/label-walk.ts';
import { plainText, shorten } from '../report/plain-text.ts';
import { columnsOf, type Host, type Keys, note, paintFor, print } from './host.ts';
import { materialLines } from './material-lines.ts';
import { wrap } from './trial-timeline.ts';

/** How a session of labelling ended: nothing was left, or somebody had enough (`q`), or broke it off (Ctrl-C). */
export type SessionEnd = 'done' | 'quit' | 'interrupted';

/** What became of it. */
export interface SessionReport {
  readonly end: SessionEnd;
  /** Items that had no label before. */
  readonly labelled: number;
  /** Items without one, those that were skipped among them. */
  readonly left: number;
}

/** A host whose terminal takes keys and lines. */
export type LabelHost = Host & Required<Pick<Host, 'ask' | 'keys'>>;

/** Shows one item after the other and takes a key for each. Each label is stored before the next item is shown. */
export async function labelInTerminal(host: LabelHost, labelling: Labelling): Promise<SessionReport> {
  const given = new Map(labelling.items.map(({ item, label }) => [item, label]));
  const walk = new LabelWalk(labelling.items.map(({ item, label }) => ({ item, labelled: label !== null })));
  const scale = categoryKeys(labelling.stored.rubric.scale.map(({ category }) => category));
  const before = walk.progress.labelled;
  const ended = (end: SessionEnd): SessionReport => ({ end, labelled: walk.progress.labelled - before, left: walk.progress.of - walk.progress.labelled });
  for (;;) {
    const item = walk.current;
    if (item === null) {
      print(host, '');
      return ended('done');
    }
    const known = given.get(item) ?? null;
    let pending: string | null = known?.note ?? null;
    for (const line of itemLines(host, labelling, walk, await labelling.material(item))) print(host, line);
    for (const line of choiceLines(host, labelling, known?.category ?? null)) print(host, line);
    for (;;) {
      const key = await pressed(host);
      if (key === null) return ended('interrupted');
      if (key === LABEL_KEYS.quit) return ended('quit');
      if (key === LABEL_KEYS.skip) {
        walk.skip();
        break;
      }
      if (key === LABEL_KEYS.back) {
        if (walk.back()) break;
        note(host, 'there is none before it');
        continue;
      }
      if (key === LABEL_KEYS.note) {
        const text = await host.ask(pending === null ? 'Note: ' : `Note (was: ${shorten(plainText(pending), 200)}): `);
        if (text === null) return ended('interrupted');
        pending = text.trim() === '' ? null : text.trim();
        const label = given.get(item) ?? null;
        if (label === null) note(host, 'it is stored with the category');
        else {
          await labelling.label(item, { category: label.category, note: pending });
          given.set(item, { category: label.category, note: pending });
          note(host, 'stored');
        }
        continue;
      }
      const category = scale.find((one) => one.key === key)?.category;
      if (category === undefined) {
        note(host, 'this key means nothing here');
        continue;
      }
      await labelling.label(item, { category, note: pending });
      given.set(item, { category, note: pending });
      walk.done();
      note(host, `${category}: stored`);
      break;
    }
  }
}

function itemLines(host: Host, { stored: { rubric } }: Labelling, walk: LabelWalk, material: Parameters<typeof materialLines>[0]): readonly string[] {
  const paint = paintFor(host.out);
  const columns = columnsOf(host.out);
  const { labelled, of } = walk.progress;
  return [
    '',
    paint('dim', '─'.repeat(Math.min(columns, 100))),
    paint('bold', `${labelled} of ${of} labelled`),
    ...wrap(plainText(rubric.question), columns),
    ...materialLines(material, columns, paint),
  ];
}

function choiceLines(host: Host, { stored: { rubric } }: Labelling, chosen: string | null): readonly string[] {
  const paint = paintFor(host.out);
  const columns = columnsOf(host.out);
  const keys = categoryKeys(rubric.scale.map(({ category }) => category));
  return [
    '',
    ...rubric.scale.flatMap(({ category, means }, at) => {
      const [first = '', ...rest] = wrap(plainText(`${category}: ${means}`), columns - 5);
      const mark = category === chosen ? paint('green', '*') : ' ';
      return [`${mark}${paint('bold', keys[at]?.key ?? ' ')}  ${first}`, ...rest.map((line) => `    ${line}`)];
    }),
    paint('dim', 'n note  s skip  b back  q quit'),
  ];
}

/** One key. The terminal takes lines again as soon as it is there. */
async function pressed(host: LabelHost): Promise<string | null> {
  using keys: Keys = host.keys();
  return await keys.next();
}
