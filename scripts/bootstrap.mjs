// Makes a checkout ready to run: npm packages, Node 24, the built package, a Temporal CLI. Does nothing twice. With --package: all but the last, which
// is no part of a package, and which a place that only packs (an image that is built) may not be able to fetch.
//
// Plain JavaScript without dependencies, because it runs first, on whatever Node (20 or newer) the machine has. What comes
// after the packages and Node 24 are there is in prepare.ts.
import { spawnSync } from 'node:child_process';
import { accessSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binFolder = join(root, 'node_modules', '.bin');
// Our own Node may be replaced while packages are installed: what runs meanwhile must be the machine's.
const outerPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes(`node_modules${sep}.bin`));

if (Number(process.versions.node.split('.')[0]) < 20) fail(`Node 20 or newer is needed to begin with; this is ${process.version}`);
if (packagesAreMissing()) installPackages();
const node = provideNode();
run(node, [join(root, 'scripts', 'prepare.ts'), ...process.argv.slice(2)], { ...process.env, PATH: [binFolder, ...outerPath].join(delimiter) });

/** Compares what npm says it installed with the lock file. Packages for other platforms are rightly absent. */
function packagesAreMissing() {
  const locked = readPackages('package-lock.json');
  if (locked === null) fail('package-lock.json is missing');
  const installed = readPackages(join('node_modules', '.package-lock.json'));
  if (installed === null) return true;
  return Object.entries(locked).some(([path, { version, optional }]) => path !== '' && !optional && installed[path]?.version !== version);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return null;
  }
}

function installPackages() {
  say('installing the npm packages (one to three minutes)');
  const env = { ...process.env, PATH: outerPath.join(delimiter) };
  const npm = process.env.npm_execpath;
  // Started by npm, we know which one; else it is looked for.
  if (npm?.endsWith('.js')) run(outerNode(), [npm, 'ci', '--loglevel=error'], env);
  else run('npm', ['ci', '--loglevel=error'], env);
}

/** The Node that is outside of this checkout, where there is one. */
function outerNode() {
  if (!process.execPath.includes(`${sep}node_modules${sep}`)) return process.execPath;
  return outerPath.map((folder) => join(folder, 'node')).find((file) => existsSync(file)) ?? process.execPath;
}

/** Path of Node 24. The npm package `node` gets its executable in an install script, which npm may have been told not to run. */
function provideNode() {
  const own = join(root, 'node_modules', 'node', 'bin', 'node');
  if (!isNode24(own)) {
    say('installing Node 24 (npm package "node")');
    const folder = join(root, 'node_modules', 'node');
    const done = spawnSync(outerNode(), ['installArchSpecificPackage.js'], {
      cwd: folder,
      env: { ...process.env, PATH: outerPath.join(delimiter) },
      stdio: ['ignore', 2, 2],
    });
    if (!isNode24(own)) {
      if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
      fail(`Node 24 could not be installed (${done.error?.message ?? `exit code ${done.status}`}); install it and run the command with it`);
    }
  }
  const link = join(binFolder, 'node');
  if (!isNode24(link)) {
    rmSync(link, { force: true });
    symlinkSync(join('..', 'node', 'bin', 'node'), link);
  }
  return own;
}

function isNode24(file) {
  try {
    accessSync(file);
  } catch {
    return false;
  }
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]) >= 24;
}

/** Standard output is left to the command that comes next. */
function run(program, args, env) {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (error) fail(`${program} could not be started: ${error.message}`);
  if (signal !== null) process.exit(130);
  if (status !== 0) process.exit(status ?? 1);
}

function say(text) {
  process.stderr.write(`trialbed: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(3);
}
