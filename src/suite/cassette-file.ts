import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Case } from '../domain/case.ts';
import { type Cassette, type CaseCassette, caseOnCassette, type NormalisationRule } from '../domain/cassette.ts';
import { cassetteSchema } from './cassette-schema.ts';
import { caseHash, contentHash } from './identity.ts';
import { check, problemAt } from './issues.ts';
import { kindOf } from './places.ts';
import { type FileProblem, type LoadedCase, type Suite, SuiteFileError } from './suite.ts';
import { readYaml } from './yaml-file.ts';

/** Largest file that is read, in bytes. */
export const MAX_CASSETTE_BYTES = 8 * 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** Whether a text can be the name of a variant. */
export function isVariantName(name: string): boolean {
  return NAME.test(name);
}

/** Folder of a suite's cassettes, where no other is named. */
export function cassetteFolder(suite: Pick<Suite, 'file'>): string {
  return join(dirname(suite.file), 'cassettes');
}

/** Where the cassette of a case and variant lies. */
export function cassetteFile(folder: string, caseId: string, variant: string): string {
  return join(folder, caseId, `${variant}.json`);
}

/** The cassettes of a case, in order of their names; none where there is no such folder. @throws {SuiteFileError} that lists every file which is none. */
export async function readCassettes(folder: string, caseId: string): Promise<readonly Cassette[]> {
  const place = join(folder, caseId);
  if ((await kindOf(place)) !== 'folder') return [];
  const names = (await readdir(place)).filter((name) => name.endsWith('.json') && isVariantName(name.slice(0, -'.json'.length))).sort();
  const problems: FileProblem[] = [];
  const cassettes: Cassette[] = [];
  for (const name of names) {
    try {
      cassettes.push(await readCassette(join(place, name), { case: caseId, variant: name.slice(0, -'.json'.length) }));
    } catch (error) {
      if (!(error instanceof SuiteFileError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new SuiteFileError(problems);
  return cassettes;
}

/** Reads one file. @throws {SuiteFileError} that says where it is wrong. */
export async function readCassette(file: string, of: { readonly case: string; readonly variant: string }): Promise<Cassette> {
  const wrong = (message: string) => new SuiteFileError([{ file, line: null, column: null, message, suggestion: null }]);
  const { size } = await stat(file);
  if (size > MAX_CASSETTE_BYTES) throw wrong(`the cassette has ${size} bytes; at most ${MAX_CASSETTE_BYTES} are read`);
  const cassette = parsed(await readFile(file, 'utf8')) ?? check(cassetteSchema, await readYaml(file));
  if (cassette.case !== of.case || cassette.variant !== of.variant)
    throw wrong(`this is the cassette "${cassette.variant}" of case "${cassette.case}"; expected it at ${cassette.case}/${cassette.variant}.json`);
  return cassette;
}

/** JSON is YAML as well, whose reader knows lines: it is asked only where something is wrong. */
function parsed(text: string): Cassette | null {
  try {
    const checked = cassetteSchema.safeParse(JSON.parse(text));
    return checked.success ? checked.data : null;
  } catch {
    return null;
  }
}

/** Hash of what a case begins with and of who acts in it: with another start a recording says nothing. What the case expects is no part of it. */
export function startHash({ turns, conversation, permission, approver, clock, timezone, state }: Case): string {
  return contentHash({ turns, conversation: conversation ?? null, permission, approver: approver ?? null, clock, timezone, state });
}

/** Whether a cassette is of a case that begins as it did. One of a trace does not say what the world held, so that does not count for it. */
export function beginsAs(kase: Case, { recorded, draft }: Cassette): boolean {
  return recorded.start === startHash(draft ? { ...kase, state: [] } : kase);
}

/** Interactions of drafted cassettes of which nobody has said what they changed, each with its place in the file. */
export async function openEffects(folder: string, cassette: Cassette): Promise<readonly FileProblem[]> {
  const open = cassette.draft?.effects ?? [];
  if (open.length === 0) return [];
  const file = cassetteFile(folder, cassette.case, cassette.variant);
  const source = await readYaml(file);
  return open.map((place, index) => {
    const tool = cassette.interactions[place - 1]?.tool ?? 'no interaction';
    return problemAt(
      source,
      ['draft', 'effects', index],
      `interaction ${place} (${tool}): a trace does not tell what it changed. "trialbed record SUITE/${cassette.case} --effects" takes that from a world in which the reference makes the same calls; or write its "effects" and take ${place} from this list`,
    );
  });
}

/** A case as it is played on a cassette: another case, of an id of its own. */
export function onCassette(loaded: LoadedCase, cassette: Cassette, normalise: readonly NormalisationRule[], liveModels = false): LoadedCase {
  const played: CaseCassette = { cassette, normalise, ...(liveModels && cassette.models && { liveModels }), caseHash: loaded.hash };
  const kase: Case = { ...loaded.kase, id: caseOnCassette(loaded.kase.id, cassette.variant), cassette: played };
  return { ...loaded, kase, hash: caseHash(kase) };
}
