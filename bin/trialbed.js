#!/usr/bin/env node
// The `trialbed` command. Written for any Node: where the machine's is too old, the one that npm installed beside us takes over.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { main } = await import('../dist/cli/main.js');
  await main();
} else {
  // In a checkout, and in a package that is installed beside the package `node`.
  const places = ['../node_modules/node/bin/node', '../../node/bin/node'].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const node = places.find((place) => existsSync(place));
  if (node === undefined) {
    process.stderr.write(`error: trialbed needs Node 24, and this is ${process.version}; "npm install node@24" puts one beside it\n`);
    process.exit(2);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to both of us: the child decides, and we end as it does.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} could not be started: ${error.message}\n`);
    process.exit(3);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
