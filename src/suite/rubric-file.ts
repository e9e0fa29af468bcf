import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ModelRoute } from '../domain/model.ts';
import { type Rubric, SHOWN_PARTS, type StoredRubric } from '../domain/rubric.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { contentHash } from './identity.ts';
import { check, inOrder, problemAt, unknownName } from './issues.ts';
import { routeOf } from './route-file.ts';
import { rubricSchema } from './rubric-schema.ts';
import { isFile, kindOf } from './places.ts';
import { type FileProblem, SuiteFileError } from './suite.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

/** A rubric as its file says. */
export interface LoadedRubric extends StoredRubric {
  readonly file: string;
  /** Null: the file names none. */
  readonly route: ModelRoute | null;
}

const LABELS = 50;
const KAPPA = 0.4;

/** Reads one rubric. Its name is the file's without `.yaml`. @throws {SuiteFileError} that lists everything that is wrong with it. */
export async function loadRubric(file: string): Promise<LoadedRubric> {
  const source = await readYaml(file);
  const { name, version, question, scale, passes, shows = ['conversation'], calibration = {}, model } = check(rubricSchema, source);
  const own = basename(file, '.yaml');
  const rubric: Rubric = { name: own, version, question, scale, passes, shows: SHOWN_PARTS.filter((part) => shows.includes(part)) };
  const problems = [
    ...(name === undefined || name === own ? [] : [problemAt(source, ['name'], `expected "${own}", which is the name of the file; rename one of the two`)]),
    ...problemsOf(source, rubric),
  ];
  if (problems.length > 0) throw new SuiteFileError(inOrder(problems));
  return {
    rubric,
    digest: contentHash(rubric),
    calibration: { labels: calibration.labels ?? LABELS, kappa: calibration.kappa ?? KAPPA, at: calibration.at ?? 'lower' },
    file,
    route: model === undefined ? null : await routeOf(model, source, ['model']),
  };
}

/** One rubric of a suite, by name; the rest of the suite is not read. @throws {SuiteFileError} where there is none of that name, or it is wrong. */
export async function readRubric(suiteFile: string, name: string): Promise<LoadedRubric> {
  const folder = join(dirname(suiteFile), 'rubrics');
  const file = join(folder, `${name}.yaml`);
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name) && (await isFile(file))) return loadRubric(file);
  const known =
    (await kindOf(folder)) === 'folder'
      ? (await readdir(folder)).flatMap((one) => (/^[^.].*\.yaml$/.test(one) ? [one.slice(0, -'.yaml'.length)] : [])).sort()
      : [];
  const message = `there is no rubric "${name}"; ${known.length > 0 ? `known: ${known.join(', ')}` : 'expected NAME.yaml in this folder'}`;
  throw new SuiteFileError([{ file: folder, line: null, column: null, message, suggestion: nearestName(name, known) }]);
}

function problemsOf(source: YamlFile, { scale, passes }: Rubric): readonly FileProblem[] {
  const names = scale.map(({ category }) => category);
  const twice = names.flatMap((name, index) => {
    const other = names.findIndex((one) => one.toLowerCase() === name.toLowerCase());
    return other < index ? [problemAt(source, ['scale', index, 'category'], `"${name}" stands twice in the scale; judges could not tell them apart`)] : [];
  });
  const unknown = passes.flatMap((name, index) => (names.includes(name) ? [] : [unknownName(source, ['passes', index], 'category', name, names)]));
  const all = names.every((name) => passes.includes(name))
    ? [problemAt(source, ['passes'], 'every category passes; leave out those of a trial that fails')]
    : [];
  return [...twice, ...unknown, ...all];
}
