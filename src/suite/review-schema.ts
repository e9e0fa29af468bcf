import { z } from 'zod';
import { problemAt } from './issues.ts';
import type { FileProblem } from './suite.ts';
import { text } from './values.ts';
import { type Path, valueAt, type YamlFile } from './yaml-file.ts';

/** What the key of a case has to say where a question is about it, and how it is told. */
const KEYS: { readonly [about: string]: { readonly path: Path; readonly write: string } } = {
  state: { path: ['state'], write: '"state" with the rows that differ from the seed, or "state: []" where none does' },
  effects: {
    path: ['expect', 'outcomes'],
    write: '"expect.outcomes" with the changes that are right, such as [{ name: refunded, effects: [...] }], or [{ name: nothing changed, effects: [] }]',
  },
  forbidden: {
    path: ['expect', 'forbidden'],
    write: '"expect.forbidden" with a name for each change that would be wrong, or "expect.forbidden: []": all that is not expected is forbidden anyway',
  },
};

/** What a case was drafted from, and what of it only a person can say. */
export const review = z
  .strictObject({
    of: text.max(500).meta({ description: 'Where it was drafted from.' }),
    questions: z
      .array(
        z.strictObject({
          about: z
            .enum(['state', 'effects', 'forbidden', 'answer', 'content'])
            .meta({ description: 'What is asked: the initial state, the right changes, the wrong ones, the answer, or whether everything in it may be kept.' }),
          asks: text.max(2_000).meta({ description: 'The question.' }),
          answer: z
            .string()
            .max(2_000)
            .nullable()
            .meta({ description: 'How you know, in a line. As long as it is empty the case is a draft, and no command uses it.' }),
        }),
      )
      .min(1)
      .max(50)
      .meta({ description: 'What the trace could not tell. Each needs an answer, and the key of the case that it is about.' }),
  })
  .meta({ description: 'What a drafted case was made of, and what a person has to say before it is used.' });

export type Review = z.output<typeof review>;

/** Whether nobody has said yet what is right at the end. */
export function effectsAreOpen(written: Review | undefined): boolean {
  return written?.questions.some(({ about, answer }) => about === 'effects' && isOpen(answer)) ?? false;
}

/** Questions of a draft that nobody has answered, and answers whose key is missing. */
export function reviewProblems(source: YamlFile, written: Review | undefined): readonly FileProblem[] {
  return (written?.questions ?? []).flatMap(({ about, asks, answer }, index) => {
    const key = KEYS[about];
    const at: Path = ['review', 'questions', index, 'answer'];
    if (isOpen(answer)) {
      const write = key ? `write ${key.write}, and here` : 'write here';
      return [problemAt(source, at, `this draft has an open question: ${asks} To answer it, ${write} in a line how you know it`)];
    }
    const said = key === undefined || valueAt(source, key.path) !== undefined || (about === 'effects' && valueAt(source, ['expects_nothing']) === true);
    return said ? [] : [problemAt(source, at, `is answered in words alone; expected ${key.write} as well`)];
  });
}

function isOpen(answer: string | null): boolean {
  return answer === null || answer.trim() === '';
}
