import { existsSync } from 'node:fs';
import { z } from 'zod';
import { KEEP_ALL, RECORD_CLASSES, type Retention } from '../../domain/retention.ts';
import { check, problemAt } from '../../suite/issues.ts';
import { SuiteFileError } from '../../suite/suite.ts';
import { readYaml } from '../../suite/yaml-file.ts';

/** Name of a project's settings file, in the folder from which commands are run. */
export const SETTINGS_FILE = 'trialbed.yaml';

const DAY_MS = 86_400_000;
const age = z
  .string()
  .regex(/^(forever|[1-9]\d{0,4}d)$/, 'expected a number of days such as 30d, or forever')
  .transform((text) => (text === 'forever' ? null : Number(text.slice(0, -1)) * DAY_MS))
  .default(null);

const settings = z.strictObject({
  retention: z.strictObject({ snapshots: age, raw_mail: age, conversation: age, ledger: age, verdicts: age }).default(KEEP_ALL),
});

/** For how long a project keeps what, by its settings file; without one everything is kept. @throws {SuiteFileError} with line and nearest name */
export async function readRetention(file: string): Promise<Retention> {
  if (!existsSync(file)) return KEEP_ALL;
  const source = await readYaml(file);
  const { retention } = check(settings, source);
  const { verdicts } = retention;
  // A verdict goes with its batch, and the batch with all that is left of it.
  const longer = RECORD_CLASSES.filter(
    (name) => name !== 'verdicts' && name in Object(source.data['retention']) && verdicts !== null && (retention[name] ?? Number.POSITIVE_INFINITY) > verdicts,
  );
  if (longer.length > 0)
    throw new SuiteFileError(
      longer.map((name) => problemAt(source, ['retention', name], 'it cannot be kept for longer than verdicts, with which everything of a batch goes')),
    );
  return retention;
}
