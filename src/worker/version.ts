import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { GivenContent } from './content.ts';

/** A worker's place among those of its deployment. */
export interface DeploymentVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

const SOURCE = fileURLToPath(new URL('..', import.meta.url));

/** Version of this package. */
export async function ownVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(SOURCE, '..', 'package.json'), 'utf8')) as { readonly version: string }).version;
}

/** Names the code that a worker runs: the package's version, and a hash of its code and of the content that it was given. Equal wherever they lie. */
export async function buildIdOf({ environments, agents }: GivenContent): Promise<string> {
  const hash = createHash('sha256');
  const version = await ownVersion();
  const entries = await readdir(SOURCE, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(map|d\.ts)$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort())
    hash.update(`${relative(SOURCE, file)}\0`).update(
      createHash('sha256')
        .update(await readFile(file))
        .digest(),
    );
  for (const one of [...environments.map(({ generation }) => generation), ...agents.map((agent) => agent.hash)].sort()) hash.update(`${one}\0`);
  return `${version}-${hash.digest('hex').slice(0, 12)}`;
}

/** What became of the wish to be the current version. */
export type Promotion = { readonly current: true } | { readonly current: false; readonly why: string };

/**
 * Makes this version the one on which new trials of its deployment start. Those under way end on theirs. Refused by the server while the version before serves a queue
 * with work that this one does not serve.
 */
export async function becomeCurrent(temporal: Client, { deploymentName, buildId }: DeploymentVersion): Promise<Promotion> {
  const { namespace } = temporal.options;
  const service = temporal.workflowService;
  try {
    const { workerDeploymentInfo } = await service.describeWorkerDeployment({ namespace, deploymentName });
    const current = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
    if (current === buildId) return { current: true };
    const madeAt = (id: string | undefined) =>
      Number(workerDeploymentInfo?.versionSummaries?.find((one) => one.deploymentVersion?.buildId === id)?.createTime?.seconds ?? 0);
    // An older worker that is started again, after a crash of its machine perhaps, takes nothing back.
    if (current && madeAt(current) > madeAt(buildId)) {
      const back = `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;
      return { current: false, why: `version ${current} is newer; to go back to this one: ${back}` };
    }
    await service.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: temporal.options.identity });
    return { current: true };
  } catch (error) {
    // It is known to the server with its first poll only.
    return { current: false, why: error instanceof Error ? ((error as { details?: unknown }).details as string) || error.message : String(error) };
  }
}
