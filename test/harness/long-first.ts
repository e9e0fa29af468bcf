import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files take longest; what is left for the end is short, so that no worker waits long for another one's last file. */
const LONG = ['/test/chaos/', '/test/public/'];

/** Starts files of the folders with long tests first, else in the runner's own order. */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((folder) => moduleId.includes(folder));
  return at === -1 ? LONG.length : at;
}
