import { ServiceError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { Patience } from '../../src/client/patiently.ts';
import { type Outage, outageOf } from '../../src/domain/outage.ts';
import { storeError } from '../../src/store/errors.ts';

function failure(message: string, code: string | number, more: object = {}): Error {
  return Object.assign(new Error(message), { code }, more);
}

const NO_ROOM = failure('could not extend file "base/5/16384": No space left on device', '53100');

describe('the outage that an error tells of', () => {
  test.each<[string, unknown, Outage | null]>([
    [
      'too many connections',
      failure('sorry, too many clients already', '53300'),
      told('PostgreSQL', 'has no free connection (sorry, too many clients already)'),
    ],
    [
      'a server of worlds that is waited for',
      failure('the Postgres server east has not answered', 'world_server_away', { lasting: false, why: 'connect ECONNREFUSED' }),
      told('PostgreSQL', 'that holds worlds cannot be reached (connect ECONNREFUSED)'),
    ],
    [
      'a server of worlds that was given up',
      failure('the Postgres server east has not answered', 'world_server_away', { lasting: true, why: 'connect ECONNREFUSED' }),
      null,
    ],
    ['a full disk', NO_ROOM, told('PostgreSQL', 'has no room on its disk (could not extend file "base/5/16384": No space left on device)')],
    [
      'a server that is not there',
      failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
      told('PostgreSQL', 'cannot be reached (connect ECONNREFUSED 127.0.0.1:5432)'),
    ],
    [
      'each address of a server that is not there',
      new AggregateError([failure('connect ECONNREFUSED ::1:5432', 'ECONNREFUSED')]),
      told('PostgreSQL', 'cannot be reached (connect ECONNREFUSED ::1:5432)'),
    ],
    [
      'a server that starts',
      failure('the database system is starting up', '57P03'),
      told('PostgreSQL', 'is starting or stopping (the database system is starting up)'),
    ],
    [
      'a pool without a connection',
      new Error('timeout exceeded when trying to connect'),
      told('PostgreSQL', 'gave no connection in time (timeout exceeded when trying to connect)'),
    ],
    [
      'a cause',
      storeError('db.example', NO_ROOM),
      told('PostgreSQL', 'has no room on its disk (could not extend file "base/5/16384": No space left on device)'),
    ],
    [
      'a call of Temporal',
      new ServiceError('Failed to start Workflow', { cause: failure('14 UNAVAILABLE: No connection', 14, { details: 'No connection', metadata: {} }) }),
      told('Temporal', 'cannot be reached (No connection)'),
    ],
    ['a call that Temporal refuses', failure('3 INVALID_ARGUMENT: no', 3, { details: 'no', metadata: {} }), null],
    ['a wrong password', failure('password authentication failed', '28P01'), null],
    ['a query that is refused', failure('duplicate key', '23505'), null],
    ['a defect', new TypeError('x is not a function'), null],
    ['no error', 'text', null],
  ])('%s', (_what, error, expected) => {
    expect(outageOf(error)).toEqual(expected);
  });

  test('its reason is bounded', () => {
    expect(outageOf(failure('x'.repeat(10_000), '53300'))?.reason.length).toBeLessThan(400);
  });
});

test('what a batch waits for is told once, whatever number of its parts meet it, and its end when the last goes on', async () => {
  const told: (Outage | null)[] = [];
  const patience = new Patience((outage) => told.push(outage));
  const lanes = ['first', 'second', 'third'].map((value) => {
    let away = 1;
    return patience.wait(async () => {
      if (away-- > 0) throw NO_ROOM;
      return value;
    });
  });
  expect(await Promise.all(lanes)).toEqual(['first', 'second', 'third']);
  expect(told.map((outage) => outage?.service ?? null)).toEqual(['PostgreSQL', null]);
  patience.saw('poll', { service: 'Temporal', reason: 'cannot be reached' });
  patience.saw('lane', { service: 'Temporal', reason: 'cannot be reached' });
  patience.saw('poll', null);
  expect(told.at(-1)?.service).toBe('Temporal');
  patience.saw('lane', null);
  expect(told.at(-1)).toBeNull();
  await expect(patience.wait(() => Promise.reject(new TypeError('defect')))).rejects.toThrow('defect');
  expect(told).toHaveLength(4);
});

function told(service: Outage['service'], reason: string): Outage {
  return { service, reason };
}
