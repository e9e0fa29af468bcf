/**
 * Saves what the test of the grader's version compares: `node scripts/save-records.ts` grades the saved records again and saves the verdicts;
 * with `--run` it first runs the support-desk suite and saves the records of its trials. Refuses to save other verdicts under the version that is saved,
 * unless `--same-version` says that no release has that version yet.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../src/client/index.ts';
import { GRADER_VERSION } from '../src/domain/grading/grade.ts';
import { RECORDS, type SavedRecord, type SavedVerdicts, savedRecords, VERDICTS, verdictsOf } from '../test/harness/saved-verdicts.ts';

const AGENTS = ['reference', 'hasty', 'careful'];
const flags = new Set(process.argv.slice(2));
const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

const before = existsSync(VERDICTS) && !flags.has('--run') ? (JSON.parse(await readFile(VERDICTS, 'utf8')) as SavedVerdicts) : null;
if (flags.has('--run')) await runTrials();
const verdicts = verdictsOf(await savedRecords());
const changed = before === null ? [] : Object.keys(before.verdicts).filter((name) => before.verdicts[name] !== verdicts[name]);
for (const name of changed.slice(0, 20)) say(`${name}\n  was ${before?.verdicts[name]}\n  is  ${verdicts[name]}`);
if (changed.length > 0 && before?.graderVersion === GRADER_VERSION && !flags.has('--same-version')) {
  say(`${changed.length} verdicts changed and GRADER_VERSION is still ${GRADER_VERSION}: raise it, or say --same-version where no release has it`);
  process.exitCode = 1;
} else {
  const saved: SavedVerdicts = { graderVersion: GRADER_VERSION, verdicts };
  await writeFile(VERDICTS, `${JSON.stringify(saved, null, 1)}\n`);
  say(`${Object.keys(verdicts).length} verdicts saved, ${changed.length} changed`);
}

async function runTrials(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'trialbed-records-'));
  try {
    await using bed = await connect({ home, log: say });
    const batch = await bed.run({ suite: 'support-desk', agents: AGENTS, keep: 'never' });
    const { trials } = await bed.results((await batch.result()).batch);
    const lines: string[] = [];
    for (const { trial, agent } of trials) {
      const { kase, record } = await bed.show(trial);
      if (record) lines.push(JSON.stringify({ agent, kase, record } satisfies SavedRecord));
    }
    await writeFile(RECORDS, `${lines.sort().join('\n')}\n`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
