import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-served-approvals-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const reserve = (pieces: number, more: JsonObject = {}): JsonObject => ({
  call: 'reserve_item',
  with: { sku: 'S-01', pieces, customer: 'bo@birch.example' },
  as: `of${pieces}`,
  ...more,
});
/** Reservations of more than one piece need an approval, and every mail. */
const USER = { name: 'ines', role: 'clerk', approval: [{ tool: 'reserve_item', where: { pieces: { gt: 1 } }, expires: '2d' }, { effect: 'external' }] };

/** Plays steps on the stock room of the example, whose tools are those of a server. */
async function play(name: string, approver: Json, steps: readonly JsonObject[]): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord }> {
  const environment = resolve('examples/own-tools/environment/pack.ts');
  const request = await writeOneCaseSuite(folder, name, {
    environment,
    agent: { kind: 'script', steps: [...steps], answer: 'Done.' },
    kase: { user: USER, approver },
  });
  const { trials } = await testbed.run({ ...request, keep: 'never' });
  const trial = trials[0] as TrialSummary;
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error(`no record: ${trial.why}`);
  return { trial, record };
}

const told = ({ operations }: TrialRecord) => operations.map(({ told: state, known, problem }) => [state, known, problem?.code ?? null]);
const effects = (record: TrialRecord) => record.effects.map((effect) => [effect.kind === 'row' ? effect.table : 'mail', effect.operation, effect.byFault]);

describe.concurrent('an approval on a tool of a server', () => {
  it('shows the rows, and lets the call through as it was approved', async () => {
    const { trial, record } = await play('approved', 'approve', [reserve(2)]);
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, disturbed: false });
    expect(record.operations[0]).toMatchObject({
      ...{ told: 'committed', known: 'committed', result: { reservation: 1 } },
      approval: {
        ...{ rule: 'reserve_item with pieces more than 1', end: { outcome: 'approved', by: 'approver' } },
        rows: [
          { table: 'items', rows: [{ sku: 'S-01', in_stock: 7 }] },
          { table: 'reservations', rows: [] },
        ],
      },
    });
    expect(effects(record)).toEqual([
      ['items', 'op-1', undefined],
      ['reservations', 'op-1', undefined],
    ]);
  });

  it('is void where somebody changed the rows meanwhile: the server is not asked', async () => {
    const changes = [{ update: 'items', where: { sku: 'S-01' }, set: { in_stock: 3 } }];
    const { record } = await play('changed', { decides: 'change_world_then_approve', changes }, [reserve(2)]);
    expect(told(record)).toEqual([['denied', 'failed', 'approval_void']]);
    expect(record.operations[0]?.approval?.end).toMatchObject({ outcome: 'void', by: 'approver' });
    expect(effects(record)).toEqual([['items', null, -1]]);
  });

  it('is void where the server itself changed the rows, by another call; rows that nobody was shown change nothing', async () => {
    const look = (as: string) => ({ call: 'find_items', with: { name: 'stove' }, as });
    const { record } = await play('by-itself', { decides: 'approve', after: '25s' }, [
      ...[reserve(2, { key: 'two' }), reserve(1, { key: 'one' }), look('one')],
      { call: 'confirm_by_mail', with: { reservation: '${of1.reservation}' } },
    ]);
    expect(told(record)).toEqual([
      ['awaiting_approval', 'failed', 'awaiting_approval'],
      ['committed', 'committed', null],
      ['committed', 'committed', null],
      ['awaiting_approval', 'failed', 'awaiting_approval'],
    ]);
    expect(record.operations[0]).toMatchObject({ ended: { state: 'denied', problem: { code: 'approval_void' } }, approval: { end: { outcome: 'void' } } });
    expect(effects(record).map(([where, operation]) => [where, operation])).toEqual([
      ['items', 'op-2'],
      ['reservations', 'op-2'],
    ]);
  });

  it('is refused: neither rows nor mail', async () => {
    const { record } = await play('refused', { decides: 'deny', reason: 'Not today.' }, [
      reserve(2),
      reserve(1),
      { call: 'confirm_by_mail', with: { reservation: '${of1.reservation}' } },
    ]);
    expect(told(record)).toEqual([
      ['denied', 'failed', 'approval_refused'],
      ['committed', 'committed', null],
      ['denied', 'failed', 'approval_refused'],
    ]);
    expect(effects(record).map(([where, operation]) => [where, operation])).toEqual([
      ['items', 'op-2'],
      ['reservations', 'op-2'],
    ]);
  });
});
