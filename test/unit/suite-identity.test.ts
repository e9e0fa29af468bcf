import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gitState } from '../../src/suite/git-state.ts';
import { canonicalJson, caseHash, contentHash, manifestHash, type TrialContent, trialId } from '../../src/suite/identity.ts';
import { caseWith } from './grading-builders.ts';
import { nearestName } from '../../src/domain/text/nearest.ts';

const run = promisify(execFile);

describe('identity', () => {
  test('canonical JSON does not depend on the order of keys (RFC 8785)', () => {
    expect(canonicalJson({ b: [1, 1e21, -0, 0.1], a: { d: '\u20ac\n', c: null } })).toBe('{"a":{"c":null,"d":"\u20ac\\n"},"b":[1,1e+21,0,0.1]}');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(contentHash(reversed)).toBe(contentHash(value));
      }),
    );
    expect(() => canonicalJson(undefined)).toThrow(TypeError);
    expect(() => canonicalJson({ a: Number.NaN })).toThrow();
  });

  test('the hash of a known value', () => {
    expect(contentHash({ a: 1 })).toBe('015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862');
  });

  const content: TrialContent = {
    caseId: 'c',
    caseHash: 'h',
    agentName: 'a',
    agentHash: 'x',
    schedule: 'none',
    scheduleHash: null,
    repetition: 1,
    generation: 'g',
  };

  test('a case with other labels is the same case', () => {
    const kase = caseWith({});
    const hash = caseHash(kase);
    expect(caseHash({ ...kase, tags: ['mail'] })).toBe(hash);
    expect(caseHash({ ...kase, severity: 'critical', quarantine: { reason: 'lags', owner: 'mara', until: '2027-01-31' } })).toBe(hash);
    expect(caseHash({ ...kase, turns: ['Something else.'] })).not.toBe(hash);
    // As it was before there were labels.
    expect(contentHash({ ...kase, tags: [] })).toBe(hash);
  });

  test.each<Partial<TrialContent>>([
    { caseId: 'd' },
    { caseHash: 'other' },
    { agentName: 'b' },
    { agentHash: 'other' },
    { schedule: 'slow' },
    { repetition: 2 },
    { generation: 'other' },
  ])('a trial with %j is another trial', (change) => {
    expect(trialId('b1', content)).toMatch(/^b1-[0-9a-f]{16}$/);
    expect(trialId('b1', { ...content })).toBe(trialId('b1', content));
    expect(trialId('b1', { ...content, ...change })).not.toBe(trialId('b1', content));
  });

  test('a manifest is what it holds, in whatever order', () => {
    const { generation: _generation, ...trial } = content;
    const manifest = { suite: 's', generation: 'g', isolation: 'schema', seed: null, trials: [trial, { ...trial, repetition: 2 }] };
    expect(manifestHash({ ...manifest, trials: [...manifest.trials].reverse() })).toBe(manifestHash(manifest));
    expect(manifestHash({ ...manifest, seed: '1' })).not.toBe(manifestHash(manifest));
    expect(manifestHash({ ...manifest, trials: [trial] })).not.toBe(manifestHash(manifest));
    expect(manifestHash({ ...manifest, isolation: 'database' })).not.toBe(manifestHash(manifest));
  });
});

describe('nearest name', () => {
  const known = ['issue_refund', 'get_order', 'send_mail', 'search_orders', 'a'];
  test.each([
    ['isue_refund', 'issue_refund'],
    ['issue-refund', 'issue_refund'],
    ['get_ordre', 'get_order'],
    ['Send_Mail', 'send_mail'],
    ['sendmail', 'send_mail'],
    ['Send_Mial', 'send_mail'],
    ['search_order', 'search_orders'],
    ['b', null],
    ['delete_everything', null],
    ['', null],
  ])('%s -> %s', (name, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });
});

describe('git state', () => {
  test('clean, changed, new, ignored, and outside any work tree', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trialbed-git-'));
    try {
      expect(await gitState(folder)).toEqual({ commit: null, dirty: null });
      expect(await gitState(join(folder, 'nothing'))).toEqual({ commit: null, dirty: null });
      const git = (...args: string[]) =>
        run('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', ...args]);
      await git('init', '-q');
      await writeFile(join(folder, 'suite.yaml'), 'name: a\n');
      expect(await gitState(folder)).toEqual({ commit: null, dirty: true });
      await git('add', '.');
      await git('commit', '-q', '-m', 'first');
      const commit = (await git('rev-parse', 'HEAD')).stdout.trim();
      expect(await gitState(folder)).toEqual({ commit, dirty: false });
      expect(await gitState(join(folder, 'suite.yaml'))).toEqual({ commit, dirty: false });
      await writeFile(join(folder, 'suite.yaml'), 'name: b\n');
      expect(await gitState(folder)).toEqual({ commit, dirty: true });
      await git('commit', '-q', '-a', '-m', 'second');
      await run('mkdir', ['-p', join(folder, 'sub'), join(folder, 'built')]);
      await writeFile(join(folder, 'sub', 'new.txt'), '');
      expect((await gitState(join(folder, 'sub'))).dirty).toBe(true);
      await writeFile(join(folder, '.gitignore'), 'built/\n');
      await writeFile(join(folder, 'built', 'x'), '');
      expect(await gitState(join(folder, 'built'))).toEqual({ commit: null, dirty: null });
      await run('mkdir', ['-p', join(folder, 'node_modules', 'dependency', 'suite'), join(folder, 'node_modules', 'ours')]);
      await writeFile(join(folder, 'node_modules', 'dependency', 'suite', 'suite.yaml'), '');
      expect(await gitState(join(folder, 'node_modules', 'dependency', 'suite'))).toEqual({ commit: null, dirty: null });
      await writeFile(join(folder, 'node_modules', 'ours', 'suite.yaml'), '');
      await git('add', 'node_modules/ours');
      expect(await gitState(join(folder, 'node_modules', 'ours'))).toMatchObject({ dirty: true });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
