import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { ROOT } from './package-place.ts';

/** A fenced block of a page. */
export interface Block {
  /** Language after the fence. */
  readonly language: string;
  readonly text: string;
  /** Of `<!-- test: NAME -->` on the line before; null without one. */
  readonly mark: string | null;
  /** What the comment in its first line says: a file's name, or `part of ...`. Null without a comment. */
  readonly head: string | null;
  readonly line: number;
}

export interface Page {
  /** Path from the checkout. */
  readonly name: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** The pages that a reader of the checkout meets. */
export async function readPages(): Promise<readonly Page[]> {
  const docs = await readdir(join(ROOT, 'docs'), { recursive: true });
  const names = [
    'README.md',
    'CHANGELOG.md',
    'examples/README.md',
    'examples/comparison/README.md',
    'examples/production-workflow/README.md',
    ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file)),
  ].sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(ROOT, name), 'utf8');
      return { name, text, blocks: blocksOf(text) };
    }),
  );
}

/** Relative links of a page that lead nowhere: a file that is not there, or a heading that its page does not have. */
export function brokenLinks(page: Page, pages: readonly Page[], exists: (path: string) => boolean): readonly string[] {
  const prose = page.text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(ROOT, page.name) : resolve(dirname(join(ROOT, page.name)), path);
      if (!exists(file)) return true;
      if (anchor === undefined) return false;
      const there = pages.find(({ name }) => name === relative(ROOT, file));
      return there === undefined || !headings(there.text).includes(anchor);
    });
}

function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^(?:<!-- test: (\w+) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, mark = null, language = '', body = ''] = match;
    return {
      language,
      text: body,
      mark,
      head: /^(?:#|\/\/) (.+)$/m.exec(body.split('\n')[0] ?? '')?.[1] ?? null,
      line: text.slice(0, match.index).split('\n').length,
    };
  });
}

/** Anchors as GitHub makes them of headings. */
function headings(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
