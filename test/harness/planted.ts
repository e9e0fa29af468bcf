import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Finds secrets that a test has planted, in whatever form a file may hold them. */
export function plantedIn(content: Buffer, planted: readonly string[]): readonly string[] {
  const text = content.toString('latin1');
  const lower = text.toLowerCase();
  // Lines of MIME, also within JSON.
  const joined = text.replace(/\r?\n|(?:\\r)?\\n/g, '');
  const twice = text.replaceAll('\\\\', '\\').replaceAll('\\"', '"');
  return planted.filter((secret) => {
    const bytes = Buffer.from(secret);
    const plain = [bytes.toString('latin1'), Buffer.from(JSON.stringify(secret).slice(1, -1)).toString('latin1'), encodeURIComponent(secret)];
    return (
      plain.some((form) => text.includes(form) || twice.includes(form)) ||
      lower.includes(bytes.toString('hex')) ||
      base64Of(bytes).some((form) => text.includes(form) || joined.includes(form))
    );
  });
}

/** Where planted secrets are among the files of folders; none of what `skip` names is looked at. */
export async function plantedUnder(folder: string, planted: readonly string[], skip: readonly string[] = []): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || skip.some((part) => path.startsWith(join(folder, part)))) continue;
    for (const secret of plantedIn(await readFile(path), planted)) found.push(`${path}: ${secret}`);
  }
  return found;
}

/** What of a text stands in base64 wherever it begins there, in both alphabets: the signs that it shares with its neighbours are left out. */
function base64Of(bytes: Buffer): readonly string[] {
  const forms = [0, 1, 2].map((lead) => {
    const whole = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = Math.ceil((lead * 8) / 6);
    const to = Math.floor(((lead + bytes.length) * 8) / 6);
    return whole.slice(from, to);
  });
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}
