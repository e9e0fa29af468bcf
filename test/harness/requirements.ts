import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findContainerEngine } from '../../src/infra/postgres-container.ts';
import { readSettings } from '../../src/worker/config.ts';

/** What a test may need that not every machine has. */
export type RequirementName = 'browser' | 'container' | 'datasets' | 'mail' | 'python' | 'tickets';

export interface Requirement {
  readonly met: boolean;
  /** Why not; empty when it is met. */
  readonly reason: string;
}

/** Folder of the data sets that tests read: `TRIALBED_DATASETS`, else `../shared/datasets` beside the checkout. */
export const DATASETS = process.env.TRIALBED_DATASETS ?? fileURLToPath(new URL('../../../shared/datasets', import.meta.url));

/**
 * Whether the machine has it. Use it as `describe.skipIf(!container.met)(title + container.reason, ...)` through
 * {@link skipTitle}, so that a skipped group says why.
 *
 * @throws when it is missing and `TRIALBED_TEST_REQUIRE` (a list with commas) names it: in CI a skip is a failure
 */
export async function requireOrSkip(name: RequirementName): Promise<Requirement> {
  const requirement = await { browser, container, datasets, mail, python, tickets }[name]();
  const demanded = (process.env.TRIALBED_TEST_REQUIRE ?? '').split(',').map((part) => part.trim());
  if (!requirement.met && demanded.includes(name)) throw new Error(`TRIALBED_TEST_REQUIRE names ${name}, but ${requirement.reason}`);
  return requirement;
}

/** The group's title; with the reason where it is skipped, which the reporter then prints. */
export function skipTitle(title: string, requirement: Requirement): string {
  return requirement.met ? title : `${title} (skipped: ${requirement.reason})`;
}

async function container(): Promise<Requirement> {
  const engine = await findContainerEngine();
  if (engine.description === null) return { met: false, reason: 'no container engine answers' };
  const { ImageName } = await import('testcontainers');
  const { postgresImage } = readSettings(process.env);
  const name = ImageName.fromString(postgresImage);
  if (await engine.client.image.exists(name)) return { met: true, reason: '' };
  const pulled = await engine.client.image.pull(name).then(
    () => true,
    () => false,
  );
  return pulled ? { met: true, reason: '' } : { met: false, reason: `the container image ${postgresImage} is not there and cannot be pulled` };
}

/** Image of a real ticket server, made by `scripts/live-images.sh`. */
export const TICKETS_IMAGE = 'trialbed-live-tickets:current';

/** Image of a real mail server, made likewise. */
export const MAIL_IMAGE = 'trialbed-live-mail:current';

const tickets = (): Promise<Requirement> => image(TICKETS_IMAGE);
const mail = (): Promise<Requirement> => image(MAIL_IMAGE);

async function image(name: string): Promise<Requirement> {
  const engine = await findContainerEngine();
  if (engine.description === null) return { met: false, reason: 'no container engine answers' };
  const { ImageName } = await import('testcontainers');
  const there = await engine.client.image.exists(ImageName.fromString(name));
  return { met: there, reason: there ? '' : `the container image ${name} is not there; scripts/live-images.sh makes it` };
}

async function datasets(): Promise<Requirement> {
  return existsSync(DATASETS) ? { met: true, reason: '' } : { met: false, reason: `the folder ${DATASETS} does not exist; name another in TRIALBED_DATASETS` };
}

/** The Chromium that tests of pages use: `TRIALBED_TEST_CHROMIUM`, else the first that is found. */
export const CHROMIUM = [process.env.TRIALBED_TEST_CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (file) => file !== '' && existsSync(file),
);

async function browser(): Promise<Requirement> {
  return CHROMIUM === undefined
    ? { met: false, reason: 'no Chromium is installed; install the package chromium, or name its executable in TRIALBED_TEST_CHROMIUM' }
    : { met: true, reason: '' };
}

/** PATH of agents in Python, with that of `TRIALBED_TEST_PYTHON` (made by `scripts/python-packages.sh`) in front where it is named. */
export const PYTHON_PATH = [process.env.TRIALBED_TEST_PYTHON && join(process.env.TRIALBED_TEST_PYTHON, 'bin'), process.env.PATH]
  .filter(Boolean)
  .join(delimiter);

async function python(): Promise<Requirement> {
  const found = await promisify(execFile)('python3', ['-c', 'import anthropic, kubernetes_validate, openai, requests; from mcp import Client'], {
    env: { PATH: PYTHON_PATH },
  }).then(
    () => true,
    () => false,
  );
  return found
    ? { met: true, reason: '' }
    : {
        met: false,
        reason:
          'python3 lacks the packages anthropic, kubernetes-validate, mcp, openai or requests; run scripts/python-packages.sh FOLDER and name the folder in TRIALBED_TEST_PYTHON',
      };
}
