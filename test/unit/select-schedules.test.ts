import { describe, expect, test } from 'vitest';
import { faultNames } from '../../src/cli/options.ts';
import { trialsOf } from '../../src/client/select.ts';
import { selectSchedules } from '../../src/client/select-schedules.ts';
import { loadAgent } from '../../src/suite/agent-file.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import type { Suite } from '../../src/suite/suite.ts';
import { CASE, folderWith, SUITE } from './suite-fixture.ts';

const RULE = 'faults:\n  - { on: get_order, fault: malformed_reply }\n';

async function suiteWith(defaults = ''): Promise<Suite> {
  await using folder = await folderWith({
    'suite.yaml': SUITE + defaults,
    'cases/mail.yaml': CASE,
    'faults/garbled.yaml': RULE,
    'faults/garbled-mail.yaml': `cases: [mail]\n${RULE}`,
    'faults/slow.yaml': RULE,
  });
  return await loadSuite(folder.path);
}

const names = (suite: Suite, faults: readonly string[] | undefined, cases = suite.cases, lastFailed = false) =>
  selectSchedules(suite, cases, { ...(faults && { faults }), lastFailed }).map((loaded) => loaded?.schedule.name ?? 'none');

describe('fault schedules are chosen', () => {
  test('by name, by glob, all of them, or none', async () => {
    const suite = await suiteWith();
    expect(names(suite, undefined)).toEqual(['none']);
    expect(names(suite, ['none'])).toEqual(['none']);
    expect(names(suite, ['slow', 'garbled'])).toEqual(['garbled', 'slow']);
    expect(names(suite, ['garbled*', 'garbled'])).toEqual(['garbled', 'garbled-mail']);
    expect(names(suite, ['slow', 'none'])).toEqual(['none', 'slow']);
    expect(names(suite, ['all'])).toEqual(['none', 'garbled', 'garbled-mail', 'slow']);
    // What failed last may have failed under any of them.
    expect(names(suite, undefined, suite.cases, true)).toEqual(['none', 'garbled', 'garbled-mail', 'slow']);
    expect(faultNames('a,b*', faultNames('none', undefined))).toEqual(['none', 'a', 'b*']);
  });

  test('by default as the suite says', async () => {
    expect(names(await suiteWith('defaults: { faults: [none, slow] }\n'), undefined)).toEqual(['none', 'slow']);
    expect(names(await suiteWith('defaults: { faults: [all] }\n'), ['none'])).toEqual(['none']);
  });

  test('for the cases that they are for: a name that is for none of the chosen ones is an error, a glob passes it over', async () => {
    const suite = await suiteWith();
    const refund = suite.cases.filter(({ kase }) => kase.id === 'refund');
    expect(names(suite, ['garbled*'], refund)).toEqual(['garbled']);
    expect(names(suite, ['all'], refund)).toEqual(['none', 'garbled', 'slow']);
    expect(() => names(suite, ['slow', 'garbled-mail'], refund)).toThrow(/"garbled-mail" is for the cases "mail", and none of these is chosen/);
    expect(() => names(suite, ['*-mail'], refund)).toThrow(/no fault schedule that "\*-mail" chooses/);
    expect(() => names(suite, ['garbeld'])).toThrow(
      /no fault schedule "garbeld" \(did you mean "garbled"\?\); there are: garbled, garbled-mail, slow, none, all/,
    );
  });

  test('the matrix is case by schedule by agent by repetition', async () => {
    const suite = await suiteWith();
    const agents = [await loadAgent('reference', suite), await loadAgent('do-nothing', suite)];
    const trials = trialsOf(suite.cases, selectSchedules(suite, suite.cases, { faults: ['none', 'garbled-mail'] }), agents, 2);
    expect(
      trials.map(({ kase, schedule, agent, repetition }) => `${kase.kase.id} ${schedule?.schedule.name ?? 'none'} ${agent.spec.name} ${repetition}`),
    ).toEqual(
      ['reference', 'do-nothing'].flatMap((agent) => [
        `mail none ${agent} 1`,
        `mail none ${agent} 2`,
        `refund none ${agent} 1`,
        `refund none ${agent} 2`,
        `mail garbled-mail ${agent} 1`,
        `mail garbled-mail ${agent} 2`,
      ]),
    );
  });
});
