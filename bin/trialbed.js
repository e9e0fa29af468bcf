#!/usr/bin/env node
// The `trialbed` command. Written for any Node: where the machine's is too old, the npm package `node` that is installed beside us takes over.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;

if (major(process.versions.node) >= NEEDED) {
  const { main } = await import('../dist/cli/main.js');
  // The older Node that started us was killed: nobody waits for us any more, and we end as on Ctrl-C.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));
  await main();
} else {
  runWith(newerNode());
}

/** Path of a Node that is new enough; without one, says how to get it and ends the process. */
function newerNode() {
  // In a checkout, and in a project that has us and the package `node` side by side.
  const packages = ['../node_modules/node/', '../../node/']
    .map((place) => new URL(place, import.meta.url))
    .filter((place) => major(versionOf(place)) >= NEEDED);
  const found = packages.map((place) => fileURLToPath(new URL('bin/node', place))).find((file) => existsSync(file));
  if (found !== undefined) return found;
  const [withoutExecutable] = packages;
  const advice =
    withoutExecutable === undefined
      ? `In a project:   npm install --save-dev node@${NEEDED}   (an npm package; trialbed finds it beside itself)\n  Without one:    npx --package=trialbed --package=node@${NEEDED} trialbed --help`
      : `The npm package "node" is there, but npm did not run its install script. In ${fileURLToPath(withoutExecutable)} run:\n                  node installArchSpecificPackage.js`;
  process.stderr.write(
    `error: trialbed needs Node ${NEEDED} or newer, and this is ${process.version}. Nothing was started.\n  ${advice}\n  For everything: https://nodejs.org/en/download\n`,
  );
  process.exit(2);
}

function runWith(node) {
  // The fourth is a channel that breaks when this process ends, in whatever way.
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // The terminal sends Ctrl-C to both of us: the child decides, and we end as it does.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} could not be started: ${error.message}\n`);
    process.exit(3);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function versionOf(folder) {
  try {
    return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')).version;
  } catch {
    return '0';
  }
}

function major(version) {
  return Number(version.split('.')[0]);
}
