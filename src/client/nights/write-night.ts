import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../infra/make-folder.ts';
import { nightMarkdown, seriesMarkdown } from '../../report/nights/night-markdown.ts';
import type { Store } from '../../store/store.ts';

/** Nights of a series that its page shows. */
const SHOWN = 400;

/** Writes the report of a night, and the series that it belongs to anew. Gives the folder. */
export async function writeNight({ nights }: Pick<Store, 'nights'>, home: string, id: string): Promise<string> {
  const night = await nights.read(id);
  if (!night) throw new Error(`there is no night ${id}`);
  const folder = join(home, 'reports', 'nights', night.schedule);
  await makeFolder(folder);
  const series = await nights.of(night.schedule, SHOWN);
  await writeFile(join(folder, `${id}.md`), nightMarkdown(night));
  await writeFile(join(folder, `${id}.json`), `${JSON.stringify(night, null, 2)}\n`);
  await writeFile(join(folder, 'series.md'), seriesMarkdown(night.schedule, series));
  return folder;
}
