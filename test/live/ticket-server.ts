import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { freePort } from '../../src/infra/ports.ts';
import { TICKETS_IMAGE } from '../harness/requirements.ts';

/** A Request Tracker of one's own. */
export interface TicketServer extends AsyncDisposable {
  readonly address: string;
  /** Token of the operator's account. */
  readonly token: string;
  /** A request of the operator's, as a person at the server would make one; gives the answer's body. */
  ask(method: string, path: string, body?: unknown): Promise<{ readonly [field: string]: unknown }>;
  /** Takes it off as a machine that is switched off, and puts it back: at the same address, with what had been committed. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** There is no reaper's image: each container says which process it is for, and what is of none that lives is removed. */
const LABEL = 'trialbed.live-test';
const PORT = 8080;

export async function startTicketServer(): Promise<TicketServer> {
  await removeLeftovers();
  const port = await freePort();
  const container = await new GenericContainer(TICKETS_IMAGE)
    .withExposedPorts({ container: PORT, host: port })
    .withLabels({ [LABEL]: String(process.pid) })
    .withAutoCleanup(false)
    .withWaitStrategy(Wait.forHttp('/REST/2.0/rt', PORT).forStatusCode(401))
    .withStartupTimeout(120_000)
    .start();
  const address = `http://${container.getHost()}:${port}`;
  const token = (await outputOf(container, ['cat', '/run/trialbed/token'])).trim();
  const client = await getContainerRuntimeClient();
  const own = client.container.getById(container.getId());
  return {
    address,
    token,
    async ask(method, path, body) {
      const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${address}/REST/2.0${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
      return (await response.json()) as { readonly [field: string]: unknown };
    },
    stop: () => own.stop({ t: 0 }),
    async start() {
      await own.start();
      for (let tries = 0; tries < 240; tries++) {
        const status = await fetch(`${address}/REST/2.0/rt`).then(
          (response) => response.status,
          () => 0,
        );
        if (status === 401) return;
        await new Promise((done) => setTimeout(done, 250));
      }
      throw new Error('the ticket server did not come back within a minute');
    },
    [Symbol.asyncDispose]: () => own.remove({ force: true, v: true }),
  };
}

async function outputOf(container: StartedTestContainer, command: string[]): Promise<string> {
  const { output, exitCode } = await container.exec(command);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${output}`);
  return output;
}

async function removeLeftovers(): Promise<void> {
  const { container } = await getContainerRuntimeClient();
  const found = await container.dockerode.listContainers({ all: true, filters: { label: [LABEL] } });
  for (const { Id, Labels } of found) {
    if (!lives(Number(Labels[LABEL]))) await container.dockerode.getContainer(Id).remove({ force: true, v: true });
  }
}

function lives(owner: number): boolean {
  try {
    process.kill(owner, 0);
    return true;
  } catch {
    return false;
  }
}
