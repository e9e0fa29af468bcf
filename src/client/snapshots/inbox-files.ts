import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../domain/json.ts';

/** Writes the raw mails of a snapshot as `.eml` files, in order. None where they were removed. Gives the files. */
export async function writeInbox(snapshot: JsonObject, folder: string): Promise<readonly string[]> {
  const raw = (snapshot['rawMails'] ?? []) as unknown as readonly { readonly raw: string }[];
  if (raw.length === 0) return [];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return Promise.all(
    raw.map(async (mail, index) => {
      const file = join(folder, `${String(index + 1).padStart(4, '0')}.eml`);
      await writeFile(file, Buffer.from(mail.raw, 'base64'), { mode: 0o600 });
      return file;
    }),
  );
}
