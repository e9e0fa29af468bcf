import { basename, dirname, resolve } from 'node:path';
import type { ModelRoute } from '../domain/model.ts';
import { check, problemAt } from './issues.ts';
import { isFile } from './places.ts';
import { routeSchema } from './route-schema.ts';
import { SuiteFileError } from './suite.ts';
import { type Path, readYaml, type YamlFile } from './yaml-file.ts';

/**
 * A route as a file names it: the path of a file of its own, from that file, or the route itself (already checked).
 *
 * @throws {SuiteFileError}
 */
export async function routeOf(written: string | ModelRoute, source: YamlFile, at: Path): Promise<ModelRoute> {
  if (typeof written !== 'string') return written;
  const file = resolve(dirname(source.file), written);
  if (!(await isFile(file))) throw new SuiteFileError([problemAt(source, at, `there is no file ${written}, looked up from the folder of this file`)]);
  return readRoute(file);
}

/** Reads the file of a route. Its default name is the file's. @throws {SuiteFileError} */
export async function readRoute(file: string): Promise<ModelRoute> {
  const source = await readYaml(file);
  const route = check(routeSchema, source);
  return typeof source.data['name'] === 'string' ? route : { ...route, name: basename(file, '.yaml') };
}
