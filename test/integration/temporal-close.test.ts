import { spawn } from 'node:child_process';
import { createServer, connect as dial, type Socket } from 'node:net';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { connectClient } from '../../src/worker/temporal.ts';

const [host = '', port = ''] = inject('services').temporalAddress.split(':');

/** A way to the server that can be cut. */
async function passage() {
  const sockets = new Set<Socket>();
  let cut = false;
  const server = createServer((near) => {
    if (cut) {
      near.destroy();
      return;
    }
    const far = dial(Number(port), host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${address.port}`,
    cut() {
      cut = true;
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function codeOf(error: unknown): unknown {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : error;
}

test('a call that waits to be repeated when its connection is closed ends as cancelled, and throws nowhere else', async () => {
  await using way = await passage();
  const uncaught: unknown[] = [];
  const listen = (error: unknown): void => void uncaught.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', listen);
  try {
    const client = await connectClient({ address: way.address, namespace: 'default' });
    way.cut();
    const ended = Array.from({ length: 20 }, () =>
      client.workflow
        .getHandle('nobody')
        .describe()
        .then(() => 'replied', codeOf),
    );
    // The first failures have come, and the repetitions are due at different times.
    await new Promise((resolve) => setTimeout(resolve, 150));
    await client[Symbol.asyncDispose]();
    expect(new Set(await Promise.all(ended))).toEqual(new Set([1]));
    expect(
      await client.workflow
        .getHandle('nobody')
        .describe()
        .then(() => 'replied', codeOf),
    ).toBe(1);
    expect(uncaught).toEqual([]);
  } finally {
    process.off('uncaughtException', listen);
    for (const other of others) process.on('uncaughtException', other);
  }
});

test('a long poll that is under way when its connection is closed holds no process', async () => {
  const program = `
    import { connectClient } from '${new URL('../../src/worker/temporal.ts', import.meta.url).href}';
    const client = await connectClient({ address: '${host}:${port}', namespace: 'default' });
    const handle = await client.workflow.start('nothing', { workflowId: 'long-poll-' + process.pid, taskQueue: 'nobody-polls-this', workflowRunTimeout: '1 minute' });
    const ended = handle.result().catch((error) => String(error.cause?.code));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await client[Symbol.asyncDispose]();
    process.stdout.write(await ended + ' ');
    process.on('exit', () => process.stdout.write(process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length + ''));
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  await new Promise((resolve) => child.on('close', resolve));
  expect(out).toBe('1 0');
});
