import { expect, test } from 'vitest';
import { quarantineWarnings } from '../../src/suite/quarantine-warnings.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { CASE, folderWith } from './suite-fixture.ts';

const held = (until: string): string => `quarantine:\n  reason: the fixture lags\n  owner: mara\n  until: ${until}\n${CASE}`;

test('a quarantine that is over or soon will be is warned of, with the line of its day', async () => {
  await using folder = await folderWith({
    'cases/far.yaml': held('2026-12-15'),
    'cases/last.yaml': held('2026-12-01'),
    'cases/over.yaml': held('2026-11-30'),
    'cases/soon.yaml': held('2026-12-14'),
  });
  const { cases } = await loadSuite(folder.path);
  const warnings = quarantineWarnings(cases, '2026-12-01T23:59:59.000Z');
  const until = 'until the case is mended, taken out of quarantine, or given a new day';
  expect(warnings.map(({ file, line, message }) => [file.split('/').at(-1), line, message])).toEqual([
    ['last.yaml', 4, `quarantine.until: the quarantine of last (mara: the fixture lags) ends today; after it no gate is met ${until}`],
    ['over.yaml', 4, `quarantine.until: the quarantine of over (mara: the fixture lags) is over since 2026-11-30; no gate is met ${until}`],
    ['soon.yaml', 4, `quarantine.until: the quarantine of soon (mara: the fixture lags) ends in 13 days, on 2026-12-14; after it no gate is met ${until}`],
  ]);
});
