#!/usr/bin/env node
// Written for any Node, so that an old one gets a sentence and not a syntax error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 && !(major === 22 && minor >= 18)) {
  process.stderr.write(`error: trialbed needs Node 24 (this is ${process.versions.node}): "npm install node@24" puts one into node_modules/.bin\n`);
  process.exit(2);
}
const { main } = await import('../dist/cli/main.js');
await main();
