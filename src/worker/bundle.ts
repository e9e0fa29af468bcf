import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** The workflow code as the worker's isolates load it; what `workflowBundle` of the worker's options takes. */
export interface WorkflowBundle {
  readonly code: string;
}

/** Workflow code imports something that must not run in a workflow; the bundle was not made. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
  readonly code = 'workflow_bundle';
}

/** What stands in `workflows/failure-converter`, and what is put in its place. As long as each other, so that no position in the bundle moves. */
const FAILURES = { plain: "'failures: plain'", sealed: "'failures: coded'" } as const;

const SOURCE = fileURLToPath(new URL('..', import.meta.url));
const IS_BUILT = import.meta.url.endsWith('.js');
const PREBUILT = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** Bundles `workflows/index`. Takes some seconds; {@link loadBundle} does it once. @throws {BundleError} */
export async function buildBundle(): Promise<WorkflowBundle> {
  const problems: string[] = [];
  const quiet = (): void => undefined;
  const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: (message: string) => problems.push(message) };
  const refused = new Set<string>();
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(SOURCE, 'workflows', IS_BUILT ? 'index.js' : 'index.ts'),
      failureConverterPath: join(SOURCE, 'workflows', `failure-converter.${IS_BUILT ? 'js' : 'ts'}`),
      workflowInterceptorModules: [join(SOURCE, 'workflows', IS_BUILT ? 'steps.js' : 'steps.ts')],
      logger,
      webpackConfigHook(config) {
        const before = config.externals;
        return { ...config, externals: [refuseForeignModules(refused), ...(Array.isArray(before) ? before : before === undefined ? [] : [before])] };
      },
    });
    if (refused.size > 0) throw new Error('modules were refused');
    return { code };
  } catch (error) {
    if (refused.size > 0)
      throw new BundleError(`workflow code may import only itself, domain/ and @temporalio/workflow, but:\n  ${[...refused].sort().join('\n  ')}`);
    throw new BundleError([`the workflow bundle could not be made: ${error instanceof Error ? error.message : String(error)}`, ...problems].join('\n'));
  }
}

/**
 * The bundle that was built with the package; in a checkout, one that is built when a source changed and kept in `cacheFolder`
 * by the hash of all sources it can contain. `sealed`: it puts the texts of failures where a codec encrypts them. @throws {BundleError}
 */
export async function loadBundle(cacheFolder: string, { sealed = false } = {}): Promise<WorkflowBundle> {
  const bundle = await plainBundle(cacheFolder);
  if (!sealed) return bundle;
  const code = bundle.code.replaceAll(FAILURES.plain, FAILURES.sealed);
  if (code === bundle.code) throw new BundleError('the workflow bundle has no place that says how failures are written; it was made by another version');
  return { code };
}

async function plainBundle(cacheFolder: string): Promise<WorkflowBundle> {
  if (IS_BUILT && (await exists(PREBUILT))) return { code: await readFile(PREBUILT, 'utf8') };
  const file = join(cacheFolder, `workflow-bundle-${await sourceHash()}.js`);
  if (await exists(file)) return { code: await readFile(file, 'utf8') };
  const bundle = await buildBundle();
  await mkdir(cacheFolder, { recursive: true });
  // Renamed into place, so that a process beside us never reads half of it.
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, bundle.code);
  await rename(partial, file);
  return bundle;
}

/** Notes every import of our own files that workflow code may not have: packages but Temporal's, and files of other layers. Types are erased before. */
function refuseForeignModules(refused: Set<string>) {
  const allowed = /^@temporalio\/(workflow|common)(\/|$)/;
  const ownFolders = ['workflows', 'domain'].map((folder) => join(SOURCE, folder) + sep);
  return async (data: { request?: string; contextInfo?: { issuer?: string } }): Promise<undefined> => {
    const { request = '', contextInfo } = data;
    const issuer = contextInfo?.issuer ?? '';
    const own = issuer !== '' && issuer.startsWith(SOURCE) && !issuer.startsWith(join(SOURCE, 'node_modules'));
    const bare = !request.startsWith('.') && !request.startsWith('/') && !/^[A-Za-z]:\\/.test(request);
    const inside = bare ? allowed.test(request) : ownFolders.some((folder) => resolve(dirname(issuer), request).startsWith(folder));
    if (own && !inside) refused.add(`${relative(SOURCE, issuer)} imports ${request}`);
    return undefined;
  };
}

async function sourceHash(): Promise<string> {
  const hash = createHash('sha256');
  const manifest = JSON.parse(await readFile(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'));
  hash.update(JSON.stringify(manifest.dependencies['@temporalio/worker']));
  hash.update(await readFile(fileURLToPath(import.meta.url)));
  for (const folder of ['domain', 'workflows']) {
    const entries = await readdir(join(SOURCE, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.sort())
      hash
        .update(relative(SOURCE, file))
        .update('\0')
        .update(await readFile(file))
        .update('\0');
  }
  return hash.digest('hex').slice(0, 24);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
