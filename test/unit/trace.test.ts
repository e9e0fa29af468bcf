import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { WHILE_WAITING } from '../../src/domain/effect.ts';
import type { DrawnRule } from '../../src/domain/fault.ts';
import type { RecordedFaults } from '../../src/domain/record.ts';
import { stateAfter } from '../../src/report/trace/rows.ts';
import { traceOf } from '../../src/report/trace/trace-of.ts';
import { traceHtml } from '../../src/report/trace/page.tsx';
import { scriptJson } from '../../src/report/html/script-json.ts';
import { lastImage, stateData } from '../../src/report/trace/state-data.ts';
import { AT, injected, lostReply, mail, outline, row, source } from './trace-support.ts';
import { failingVerdict, operation, trialView } from './trial-view-support.ts';

test('a lost reply: the finding is of the call that was made again, with the call whose reply was lost beside it', () => {
  const trace = lostReply();
  expect(outline(trace)).toEqual(['said user', 'operation op-1', 'operation op-2', 'operation op-3', 'said agent', 'end', 'verdict']);
  const [duplicate, missing, claim, reached] = trace.findings;
  expect(duplicate).toMatchObject({ code: 'duplicate_effect', view: 'outcome', steps: [3, 4], cause: 4 });
  expect(missing).toMatchObject({ code: 'missing_effect', steps: [], cause: null });
  // What the user was told is of the message that says it.
  expect(claim).toMatchObject({ code: 'false_claim', steps: [5], cause: 5 });
  expect(reached).toMatchObject({ judgement: 'pass' });
  expect(trace.focus).toBe(4);
  const [, , lost, again] = trace.steps;
  expect(lost).toMatchObject({ findings: [0], faults: [{ kind: 'timeout_after_commit' }], links: [{ step: 4, what: 'repeated_by' }] });
  expect(again).toMatchObject({ findings: [0], faults: [], links: [{ step: 3, what: 'repeats' }], clockMovedMs: 30_000 });
  expect(trace.steps[4]?.findings).toEqual([2]);
  expect(trace.recovery).toMatchObject([{ step: 3, repeats: ['op-3'] }]);
});

test('the world before and after each step comes from the journal, a row that changes its key included', () => {
  const trace = traceOf(
    source({
      operations: [operation({ at: AT }), operation({ id: 'op-2', seq: 2 }), operation({ id: 'op-3', seq: 3 })],
      effects: [
        row(1),
        row(2, {
          operation: 'op-2',
          key: { id: 1007 },
          before: { id: 1007, status: 'refunded', note: null },
          after: { id: 2007, status: 'refunded', note: 'moved' },
        }),
        row(3, { operation: 'op-3', change: 'delete', key: { id: 2007 }, before: { id: 2007, status: 'refunded', note: 'moved' }, after: null }),
        row(4, { table: 'notes', operation: 'op-3', change: 'insert', key: { id: 1 }, before: null, after: { id: 1 } }),
        // Where the first one was, another.
        row(5, { operation: 'op-3', change: 'insert', before: null, after: { id: 1007, status: 'new', note: null } }),
      ],
    }),
  );
  const [order, note, another] = trace.rows;
  expect(trace.rows).toHaveLength(3);
  expect(another).toMatchObject({ key: { id: 1007 }, before: null, states: [{ row: { status: 'new' } }] });
  expect(order).toMatchObject({ table: 'orders', key: { id: 1007 }, before: { status: 'paid' } });
  const [first, second, third] = trace.steps.filter(({ kind }) => kind === 'operation').map(({ n }) => n);
  if (!order || !note || !first || !second || !third) throw new Error('steps are missing');
  expect([0, first, second, third].map((step) => stateAfter(order, step)?.row)).toEqual([
    undefined,
    { id: 1007, status: 'refunded', note: null },
    { id: 2007, status: 'refunded', note: 'moved' },
    null,
  ]);
  expect(stateAfter(note, second)).toBeUndefined();
});

test('what a colleague changes stands where the fault hit: before the call, after it, at the start, or while a request waits', () => {
  const update = { update: 'orders', where: { id: 1 }, set: { status: 'packed' } };
  const rule = (index: number, when: 'before' | 'after', on: DrawnRule['on'] = { tool: 'get_order' }): DrawnRule => ({
    index,
    on,
    fault: { kind: 'concurrent_change', when, changes: [update] },
  });
  const faults: RecordedFaults = {
    schedule: 's',
    rules: [rule(0, 'after'), rule(1, 'before'), { index: 2, on: 'start', fault: { kind: 'conflicting_records', changes: [update] } }],
    injected: [
      injected({ rule: 2, kind: 'conflicting_records', on: 'start', position: null, operation: null }),
      injected({ rule: 0, operation: 'op-1' }),
      injected({ rule: 1, operation: 'op-3', position: 2 }),
    ],
    runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, words: {} },
  };
  const approval = {
    tool: 'issue_refund',
    args: {},
    rows: [],
    rule: 'all',
    digest: 'd',
    requestedAt: AT,
    expiresAt: AT,
    people: false,
    end: { outcome: 'void', by: 'case', via: 'case', reason: null, at: AT },
  } as const;
  const other = (seq: number, byFault: number) => row(seq, { operation: null, byFault });
  const trace = traceOf(
    source({
      operations: [
        operation({ tool: 'get_order', effect: 'read', at: AT }),
        operation({ id: 'op-2', seq: 2, at: AT }),
        operation({ id: 'op-3', seq: 3, tool: 'get_order', effect: 'read', at: AT }),
        operation({ id: 'op-4', seq: 4, told: 'denied', known: 'failed', approval, at: AT }),
      ],
      effects: [other(1, 2), other(2, 0), row(3, { operation: 'op-2' }), other(4, 1), other(5, WHILE_WAITING)],
      faults,
    }),
  );
  expect(outline(trace).slice(1, -3)).toEqual([
    'outside orders',
    'operation op-1',
    'outside orders',
    'operation op-2',
    'outside orders',
    'operation op-3',
    'outside orders',
    'operation op-4',
  ]);
  expect(trace.steps.filter(({ kind }) => kind === 'outside').map(({ by, placed }) => [by, placed])).toEqual([
    ['fault', true],
    ['fault', true],
    ['fault', true],
    ['approver', true],
  ]);
  expect(trace.steps.find(({ operation: one }) => one?.id === 'op-1')?.links).toEqual([{ step: 4, what: 'changed_outside' }]);
  expect(trace.steps.find(({ by }) => by === 'approver')?.links).toEqual([{ step: 9, what: 'while_waiting' }]);
  // Nothing of it is of a call of the agent's.
  expect(trace.steps.filter(({ operation: one }) => one !== null).flatMap(({ changes }) => changes.map(({ seq }) => seq))).toEqual([3]);
  expect(trace.rows[0]?.states.map(({ outside }) => outside)).toEqual([true, true, false, true, true]);
});

test('what an agent did by clients of its own stands between the calls, and the page says that its place is open', () => {
  const trace = traceOf(
    source({
      operations: [operation({ at: AT }), operation({ id: 'op-2', seq: 2, effect: 'read' }), operation({ id: 'op-3', seq: 3 })],
      effects: [row(1), row(2, { operation: null }), mail(3, { operation: null }), row(4, { operation: 'op-3' }), mail(5, { operation: 'op-3', byFault: 0 })],
      ownAccess: { services: ['sql'] },
    }),
  );
  expect(outline(trace).slice(1, 5)).toEqual(['operation op-1', 'outside orders', 'operation op-2', 'operation op-3']);
  expect(trace.steps[2]).toMatchObject({ by: 'unattributed', placed: false, mails: [{ seq: 3 }] });
  // A copy that a fault delivered is of the call.
  expect(trace.steps[4]?.mails.map(({ byFault }) => byFault)).toEqual([0]);
  expect(trace.missing.join(' ')).toMatch(/clients of its own \(sql\)[\s\S]*place among calls/);
});

test('a team: who called, to whom the conversation went, and which question was asked by which call', () => {
  const trace = traceOf(
    source(
      {
        operations: [
          operation({ tool: 'hand_over', actor: 'front', effect: null, at: AT }),
          operation({ id: 'op-2', seq: 2, tool: 'ask_user', actor: 'billing', effect: null, at: AT }),
        ],
        handOvers: [{ operation: 'op-1', from: 'front', to: 'billing', text: 'A refund.', turn: 1 }],
      },
      {
        messages: [
          { turn: 1, from: 'user', text: 'Refund it.' },
          { turn: 1, from: 'agent', text: 'Which order?', operation: 'op-2', actor: 'billing' },
          { turn: 2, from: 'user', text: '1007', operation: 'op-2' },
          { turn: 2, from: 'agent', text: 'Done.', actor: 'billing' },
        ],
        conversation: [
          { who: 'agent', agent: 'billing', seq: 1, role: 'assistant', call: 'm1', body: { text: 'I ask.', calls: [{ tool: 'ask_user', args: '{}' }] } },
          { who: 'agent', agent: 'front', seq: 1, role: 'assistant', call: 'm2', body: { text: 'x', calls: [{ tool: 'another', args: '{}' }] } },
        ],
      },
    ),
  );
  expect(outline(trace)).toEqual(['said user', 'operation op-1', 'operation op-2', 'said agent', 'end', 'verdict']);
  expect(trace.steps[1]).toMatchObject({ handOver: { from: 'front', to: 'billing' }, entry: null });
  expect(trace.steps[2]).toMatchObject({ entry: 0, messages: [{ text: 'Which order?' }, { text: '1007' }] });
  expect(trace.conversation.map(({ step, message }) => `${step} ${message.text}`)).toEqual(['1 Refund it.', '3 Which order?', '3 1007', '4 Done.']);
  expect(trace.steps.every(({ placed }) => placed)).toBe(true);
});

test('messages in the middle of a conversation stand behind the calls, and it is said that their place is open', () => {
  const trace = traceOf(
    source(
      { operations: [operation({ at: AT })] },
      {
        messages: [
          { turn: 1, from: 'user', text: 'One.' },
          { turn: 1, from: 'agent', text: 'Sure.' },
          { turn: 2, from: 'user', text: 'Two.' },
          { turn: 2, from: 'agent', text: 'Done.' },
        ],
      },
    ),
  );
  expect(trace.steps.map(({ placed }) => placed)).toEqual([true, true, false, false, true, true, true]);
  expect(trace.missing).toContainEqual(expect.stringContaining('between which calls'));
});

test('of an agent that is a model the kept messages tell between which calls the user spoke', () => {
  const entry = (seq: number, role: 'user' | 'assistant' | 'tool', body: JsonObject) => ({ who: 'agent', agent: null, seq, role, call: null, body }) as const;
  const calls = (tool: string) => ({ text: '', calls: [{ tool, args: '{}' }] });
  const trace = traceOf(
    source(
      { operations: [operation({ tool: 'get_order', at: AT }), operation({ id: 'op-2', seq: 2, at: AT })] },
      {
        messages: [
          { turn: 1, from: 'user', text: 'One.' },
          { turn: 1, from: 'agent', text: 'Sure.' },
          { turn: 2, from: 'user', text: 'Two.' },
          { turn: 2, from: 'agent', text: 'Done.' },
        ],
        conversation: [
          entry(1, 'user', { text: 'One.' }),
          entry(2, 'assistant', calls('get_order')),
          entry(3, 'tool', { text: '{}' }),
          entry(4, 'assistant', { text: 'Sure.' }),
          entry(5, 'user', { text: 'Two.' }),
          entry(6, 'assistant', calls('issue_refund')),
          entry(7, 'assistant', { text: 'Done.' }),
        ],
      },
    ),
  );
  expect(outline(trace)).toEqual(['said user', 'operation op-1', 'said agent', 'said user', 'operation op-2', 'said agent', 'end', 'verdict']);
  expect(trace.steps.every(({ placed }) => placed)).toBe(true);
  expect(trace.steps.flatMap(({ entry: said }) => (said === null ? [] : [said]))).toEqual([1, 5]);
});

test('a fork: the calls that were answered from the record of another trial are marked', () => {
  const operations = [1, 2, 3].map((seq) => operation({ id: `op-${seq}`, seq, at: AT }));
  const trace = traceOf(source({ operations }, { origin: { trial: 'b0-x', attempt: 1, calls: 2 } }));
  expect(trace.steps.flatMap(({ operation: one, recalled }) => (one ? [recalled] : []))).toEqual([true, true, false]);
  expect(trace.head.origin).toMatchObject({ trial: 'b0-x', calls: 2 });
});

test('an attempt that trouble of the test bed ended has no verdict and no record, and says so; an open one has no end', () => {
  const failed = traceOf(source(null, { attempt: 1, messages: [] }));
  expect(failed.head).toMatchObject({ attempt: 1, counts: false, ending: 'infra_error', problem: { code: 'world_gone' }, verdict: null, summary: null });
  expect(outline(failed)).toEqual(['end', 'verdict']);
  expect(failed.missing.join(' ')).toContain('Nothing was recorded');
  expect(failed.focus).toBe(1);
  const view = trialView();
  const attempts = view.attempts.map((one) => ({ ...one, ending: null }));
  const open = traceOf(source(null, { attempts, trial: { ...view.trial, phase: 'drive', summary: null } }));
  expect(outline(open)).toEqual(['said user', 'said agent']);
  expect(open.missing.join(' ')).toContain('phase drive');
  const none = traceOf(source(null, { attempt: 0, attempts: [], messages: [], trial: { ...view.trial, attempt: 0, phase: 'waiting', summary: null } }));
  expect(none.steps).toEqual([]);
  expect(none.missing).toEqual(['No attempt of this trial has begun.']);
});

test('an earlier attempt has its own verdict, and nothing of the one that counts', () => {
  const verdict = (attempt: number, gradedAt: string, current: boolean) => ({ ...failingVerdict(), trial: 'b1-abc', attempt, gradedAt, current });
  const verdicts = [verdict(1, '2026-03-01T00:00:00Z', false), verdict(1, '2026-03-02T00:00:00Z', false), verdict(2, '2026-03-03T00:00:00Z', true)];
  const { head } = traceOf(source({ operations: [operation()] }, { attempt: 1, verdicts }));
  expect(head).toMatchObject({ counts: false, verdict: { attempt: 1, gradedAt: '2026-03-02T00:00:00Z' }, why: null });
});

test('late attempts, requests after the record, and faults that met no call have their places', () => {
  const trace = traceOf(
    source(
      {
        operations: [operation({ at: AT }), operation({ id: 'op-2', seq: 2, at: '2026-03-02T08:31:00.000Z' })],
        lateAttempts: [{ source: 'sql', operation: 'op-2', detail: 'update orders', at: AT }],
        faults: {
          schedule: 's',
          rules: [],
          injected: [
            injected({ on: 'service inbox', kind: 'slow', operation: null, at: '2026-03-02T08:30:30.000Z' }),
            injected({ on: 'start', kind: 'stale_read', operation: null }),
          ],
          runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, words: {} },
        },
      },
      { messages: [], lateRequests: [{ at: AT, detail: 'issue_refund' }] },
    ),
  );
  expect(outline(trace)).toEqual(['fault', 'operation op-1', 'fault', 'operation op-2', 'end', 'late', 'verdict']);
  expect(trace.steps[5]).toMatchObject({ late: [{ source: 'sql' }], lateRequests: [{ detail: 'issue_refund' }] });
});

test('tickets are told by their rows, with the comments that were made on them', () => {
  const comment = { id: 9, ticket_id: 210, body: 'See My orders.' };
  const trace = traceOf(
    source(
      {
        operations: [operation({ at: AT })],
        effects: [
          row(1, { table: 'tickets', key: { id: 210 }, before: { id: 210, status: 'open' }, after: { id: 210, status: 'solved' } }),
          row(2, { table: 'ticket_comments', change: 'insert', key: { id: 9 }, before: null, after: comment }),
          row(3, { table: 'ticket_comments', change: 'insert', key: { id: 10 }, before: null, after: { id: 10, ticket_id: 211 } }),
        ],
      },
      { ticketTables: { tickets: 'tickets', comments: 'ticket_comments' } },
    ),
  );
  expect(trace.tickets).toEqual([
    { key: '210', row: 0, comments: [1] },
    { key: '211', row: null, comments: [2] },
  ]);
});

test('the script of the page gets each row after each step, with what differs only, and nothing that could end a script', () => {
  const image = (status: string, note: string | null) => ({ id: 1007, status, note });
  const trace = traceOf(
    source({
      operations: [operation({ at: AT }), operation({ id: 'op-2', seq: 2 })],
      effects: [
        row(1, { before: image('paid', null), after: image('packed', null) }),
        row(2, { before: image('packed', null), after: image('refunded', null) }),
        row(3, { operation: 'op-2', before: image('refunded', null), after: image('refunded', '</script>\u2028') }),
      ],
    }),
  );
  const data = stateData(trace, { text: 100, value: 8 });
  const { states = [], before = null } = data.rows[0] ?? {};
  expect(states).toEqual([
    [2, { status: 'refunded' }, 0, 1],
    [3, { note: '</script … and 9 more characters' }, 0, 1],
  ]);
  expect(lastImage(before, states)).toEqual({ id: '1007', status: 'refunded', note: '</script … and 9 more characters' });
  expect(scriptJson({ text: '</script>\u2028&<!--' })).toBe('{"text":"\\u003c/script\\u003e\\u2028\\u0026\\u003c!--"}');
});

test('a call that changes rows by the ten thousand makes no file that nobody can open', () => {
  const effects = Array.from({ length: 20_000 }, (_, at) =>
    row(at + 1, { key: { id: at }, before: { id: at, note: 'n'.repeat(400) }, after: { id: at, note: 'm'.repeat(400) } }),
  );
  const html = traceHtml(traceOf(source({ operations: [operation({ at: AT })], effects })));
  expect(Buffer.byteLength(html)).toBeLessThan(5_000_000);
  expect(html).toContain('and 19960 changes more');
  expect(html).toContain('and 19600 rows more');
});
