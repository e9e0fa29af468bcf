import { cassetteFolder, openEffects, readCassettes } from '../../suite/cassette-file.ts';
import { type FileProblem, type LoadedCase, type Suite, SuiteFileError } from '../../suite/suite.ts';

/** A validation insists on it that drafted cassettes are finished. @throws {SuiteFileError} for those with open questions, and for files that are none */
export async function requireFinishedCassettes(suite: Pick<Suite, 'file'>, cases: readonly LoadedCase[]): Promise<void> {
  const folder = cassetteFolder(suite);
  const problems: FileProblem[] = [];
  for (const { kase } of cases) for (const cassette of await readCassettes(folder, kase.id)) problems.push(...(await openEffects(folder, cassette)));
  if (problems.length > 0) throw new SuiteFileError(problems);
}
