import { plainText } from './plain-text.ts';

/**
 * Foreign text as running Markdown text on one line: nothing in it is markup, HTML, a link, a mention or the end of a table cell.
 * Follows CommonMark 0.31 and GitHub's extensions (tables, autolinks, mentions).
 */
export function mdText(text: string): string {
  return (
    plainText(text)
      .replace(/[\\`*_[\]|~$]/g, (character) => `\\${character}`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/^(\s*)([-+#=]|\d+(?=[.)](?:\s|$)))/, (_, space: string, start: string) => (/\d/.test(start) ? `${space}${start}\\` : `${space}\\${start}`))
      .replaceAll('://', '\\://')
      .replace(/www\./gi, (found) => `${found.slice(0, 3)}\\.`)
      // A comment between the sign and the name: the way GitHub itself documents for text that must notify nobody.
      .replace(/(^|[^\p{L}\p{N}])@(?=[\p{L}\p{N}])/gu, '$1@<!-- -->')
      .replace(/#(?=\d)/g, '#<!-- -->')
  );
}

/** Foreign text as a code span on one line, also inside a table cell. */
export function mdCode(text: string): string {
  const plain = plainText(text);
  if (plain === '') return '` `';
  const fence = '`'.repeat(longestRun(plain, '`') + 1);
  const gap = plain.startsWith('`') || plain.endsWith('`') || (plain.startsWith(' ') && plain.endsWith(' ')) ? ' ' : '';
  return `${fence}${gap}${plain}${gap}${fence}`;
}

/** A code span inside a table, where a pipe must be escaped even in code. */
export function mdCellCode(text: string): string {
  return mdCode(text).replaceAll('|', '\\|');
}

/** Foreign text of several lines as a block that nothing in it can close. `indent`: spaces before each line, for a block inside a list. */
export function mdBlock(text: string, indent: number = 0): string {
  const plain = plainText(text, { lines: 'keep' });
  const fence = '`'.repeat(Math.max(3, longestRun(plain, '`') + 1));
  const margin = ' '.repeat(indent);
  return [fence, ...plain.split('\n'), fence].map((line) => margin + line).join('\n');
}

/** A table of cells that are Markdown already. */
export function mdTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function longestRun(text: string, character: string): number {
  let longest = 0;
  let run = 0;
  for (const c of text) {
    run = c === character ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}
