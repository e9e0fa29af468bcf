import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { freePort } from '../../src/infra/ports.ts';
import { MAIL_IMAGE } from '../harness/requirements.ts';

/** A Postfix with Dovecot of one's own. */
export interface MailHost extends AsyncDisposable {
  /** As `services.inbox.live` takes it, and its secret. */
  readonly address: string;
  readonly secret: string;
  /** The next mail that is handed in reaches the server with its final dot, whose reply does not come back. */
  loseReply(): void;
  /** Takes it off as a machine that is switched off, and puts it back: at the same address, with what it had on its disk. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** It stands still as a disk does that has become slow, and goes on. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** There is no reaper's image: each container says which process it is for, and what is of none that lives is removed. */
const LABEL = 'trialbed.live-test';

export async function startMailHost(): Promise<MailHost> {
  const [smtp, imap, accounts] = [await freePort(), await freePort(), await freePort()];
  const password = randomBytes(12).toString('hex');
  const container = await new GenericContainer(MAIL_IMAGE)
    .withExposedPorts({ container: 587, host: smtp }, { container: 143, host: imap }, { container: 5432, host: accounts })
    .withEnvironment({ TRIALBED_MAIL_ADMIN_PASSWORD: password })
    .withLabels({ [LABEL]: String(process.pid) })
    .withAutoCleanup(false)
    .withWaitStrategy(Wait.forLogMessage(/daemon started/))
    .withStartupTimeout(120_000)
    .start();
  const way = await startReplyCut(smtp);
  const client = await getContainerRuntimeClient();
  const own = client.container.getById(container.getId());
  return {
    address: `smtp://127.0.0.1:${way.port}?imap=imap://127.0.0.1:${imap}&domain=trials.test`,
    secret: `postgres://admin:${password}@127.0.0.1:${accounts}/mail`,
    loseReply: way.loseReply,
    stop: () => own.stop({ t: 0 }),
    async start() {
      await own.start();
      for (let tries = 0; tries < 240 && !(await greets(smtp)); tries++) await new Promise((done) => setTimeout(done, 250));
    },
    freeze: () => own.pause(),
    thaw: () => own.unpause(),
    async [Symbol.asyncDispose]() {
      await way[Symbol.asyncDispose]();
      await own.remove({ force: true, v: true });
    },
  };
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (there: boolean) => {
      socket.destroy();
      resolve(there);
    };
    socket.once('data', (chunk) => end(chunk.toString().startsWith('220')));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

/** A way to the server on which the reply to a message can be lost: the server has it by then. */
async function startReplyCut(to: number): Promise<AsyncDisposable & { readonly port: number; loseReply(): void }> {
  const open = new Set<Socket>();
  let lose = false;
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    let inMessage = false;
    let cut = false;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      const reply = chunk.toString('latin1');
      if (inMessage && lose) {
        lose = false;
        cut = true;
        client.destroy();
      }
      // It may come in one piece with the reply before it.
      if (/^354/m.test(reply)) inMessage = true;
      if (!cut) client.write(chunk);
    });
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    loseReply() {
      lose = true;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
