import { fileURLToPath } from 'node:url';
import { connect } from 'trialbed';

/** Runs cases of the support desk (globs as arguments; default: all) with two agents and tells, trial by trial, why one failed. */
const cases = process.argv.slice(2);
const clerk = fileURLToPath(new URL('../agents/clerk.yaml', import.meta.url));

// Services that are missing are started, and stop with the last process that uses them.
await using bed = await connect({ log: (line) => say(line) });
const batch = await bed.run({ suite: 'support-desk', agents: ['reference', clerk], keep: 'failed', ...(cases.length > 0 && { cases }) });
say(`batch ${batch.id}${batch.resumed ? ', resumed' : ''}`);

for await (const event of batch.events()) {
  if (event.type === 'trial') process.stdout.write(`${event.pass ?? event.ending}  ${event.case} by ${event.agent}\n`);
}
const summary = await batch.result();

const { trials } = await bed.results(batch.id);
for (const { trial, case: name, agent } of trials.filter(({ pass }) => pass === 'fail')) {
  const { verdicts } = await bed.show(trial);
  const verdict = verdicts.find(({ current }) => current);
  if (!verdict) continue;
  process.stdout.write(`\n${name} by ${agent}\n`);
  for (const { judgement, message } of [verdict.outcome, verdict.constraints, verdict.effects].flatMap(({ findings }) => findings)) {
    if (judgement !== 'pass') process.stdout.write(`  ${judgement}: ${message}\n`);
  }
}
process.stdout.write(`\n${summary.passed} of ${summary.trials} passed in ${summary.seconds} s\n`);

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
