import { fileURLToPath } from 'node:url';
import { connect, writeComparison } from 'trialbed';

/**
 * Runs the support desk under every fault schedule with two agents, and writes how the careful one compares with the hasty one. Arguments: a folder for the two files (default: this one), then globs of
 * cases (default: all).
 */
const [folder = fileURLToPath(new URL('.', import.meta.url)), ...cases] = process.argv.slice(2);

await using bed = await connect({ log: (line) => process.stderr.write(`${line}\n`) });
const batch = await bed.run({
  suite: 'support-desk',
  agents: ['hasty', 'careful'],
  faults: ['all'],
  seed: '7',
  keep: 'never',
  ...(cases.length > 0 && { cases }),
});
const { trials, seconds } = await batch.result();

const comparison = await bed.compare({ a: { batch: batch.id, agent: 'hasty' }, b: { batch: batch.id, agent: 'careful' }, timelines: 4 });
await writeComparison(comparison, { html: `${folder}/comparison.html`, markdown: `${folder}/comparison.md` });

const { safer, useful, changes } = comparison;
process.stdout.write(`safer: ${safer.answer}, more useful: ${useful.answer}; ${changes} of ${comparison.a.matched} matched trials came out otherwise\n`);
process.stderr.write(`${trials} trials in ${seconds} s\n`);
