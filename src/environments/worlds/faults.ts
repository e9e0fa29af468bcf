import type pg from 'pg';
import type { Case } from '../../domain/case.ts';
import { WHILE_WAITING } from '../../domain/effect.ts';
import type { InjectedFault } from '../../domain/fault.ts';
import type { WorldSql } from '../define.ts';
import { inTransaction } from '../hosts/connection.ts';
import { FencedError, type WorldFaults } from '../world.ts';
import type { Access } from './access.ts';
import { type Advance, advanceClock, holdLease } from './clock.ts';
import { NoScheduleError } from './errors.ts';
import { changeRows, countRead, type Freeze, freezeByRead, noteFault, setFreeze, setLimit } from './fault-notes.ts';
import { isoUtc } from './journal.ts';
import { inSys } from './layout.ts';
import type { WorldRow } from './registry.ts';
import { staleSql } from './stale.ts';

/**
 * What a fault schedule does to one lease of a world. A world that was leased without rules answers that nothing is injected, without a query; its clock
 * alone can be moved.
 */
export class LeasedFaults implements WorldFaults {
  private readonly row: WorldRow;
  private readonly access: Access;
  private readonly scheduled: boolean;

  constructor(row: WorldRow, access: Access) {
    this.row = row;
    this.access = access;
    this.scheduled = (row.lease?.faults ?? []).length > 0;
  }

  async record(fault: Omit<InjectedFault, 'at'>): Promise<void> {
    await this.inSchedule((client) => noteFault(client, this.row.layout, fault, false));
  }

  async injected(): Promise<readonly InjectedFault[]> {
    if (!this.scheduled) return [];
    return this.inLease(async (client) => {
      const { rows } = await client.query<InjectedFault>(
        `SELECT rule, kind, target AS "on", position, operation, detail, ${isoUtc('at')} AS at FROM ${this.sys('faults')} ORDER BY n`,
      );
      return rows;
    });
  }

  async hit(operation: string): Promise<boolean> {
    if (!this.scheduled) return false;
    return this.inLease(async (client) => {
      const { rowCount } = await client.query(`SELECT 1 FROM ${this.sys('faults')} WHERE operation = $1 AND by_service LIMIT 1`, [operation]);
      return (rowCount ?? 0) > 0;
    });
  }

  async arm(operation: string, rules: readonly { readonly rule: number; readonly position: number }[]): Promise<void> {
    if (rules.length === 0) return;
    await this.inSchedule(async (client) => {
      for (const { rule, position } of rules)
        await client.query(`INSERT INTO ${this.sys('armed')} (operation, rule, position) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
          operation,
          rule,
          position,
        ]);
    });
  }

  async change(cause: { readonly rule: number; readonly operation: string | null }, changes: Case['state']): Promise<void> {
    await this.inSchedule(async (client, closed) => {
      if (closed) throw new FencedError('the world');
      await changeRows(client, this.row, cause.rule, `${cause.rule} ${cause.operation ?? ''}`, changes);
    });
  }

  async freeze(rule: number, options: Freeze): Promise<void> {
    await this.inSchedule((client) => setFreeze(client, this.row, rule, options));
  }

  async frozen(service: 'database' | 'tickets', operation: string | null): Promise<{ readonly rule: number; readonly seq: number } | null> {
    if (!this.scheduled) return null;
    return this.inLease(async (client) => {
      if (service === 'database') await freezeByRead(client, this.row, operation);
      return countRead(client, this.row.layout, service, operation);
    });
  }

  async readAsOf<T>(seq: number, work: (sql: WorldSql) => Promise<T>): Promise<T> {
    return work(staleSql(this.access.tools, this.row, seq));
  }

  async limitedUntil(on: string): Promise<Date | null> {
    if (!this.scheduled) return null;
    return this.inLease(async (client) => {
      const { rows } = await client.query<{ until: string }>(
        `SELECT ${isoUtc('until')} AS until FROM ${this.sys('limits')} WHERE target = $1 AND until > (SELECT now FROM ${this.sys('clock')})`,
        [on],
      );
      return rows[0] ? new Date(rows[0].until) : null;
    });
  }

  async limit(on: string, until: Date): Promise<void> {
    await this.inSchedule((client) => setLimit(client, this.row.layout, on, until, null));
  }

  async changeWhileWaiting(operation: string, changes: Case['state']): Promise<void> {
    await this.inLease(async (client, closed) => {
      if (closed) throw new FencedError('the world');
      await changeRows(client, this.row, WHILE_WAITING, `while waiting ${operation}`, changes);
    });
  }

  async advance(key: string, by: Advance): Promise<Date> {
    return this.inLease((client) => advanceClock(client, this.row.layout, key, by));
  }

  private async inSchedule<T>(work: (client: pg.PoolClient, closed: boolean) => Promise<T>): Promise<T> {
    if (!this.scheduled) throw new NoScheduleError(this.row.id);
    return this.inLease(work);
  }

  /** @throws {WorldGoneError} when the world has been given to another owner. */
  private async inLease<T>(work: (client: pg.PoolClient, closed: boolean) => Promise<T>): Promise<T> {
    return inTransaction(this.access.admin, async (client) => {
      const { closed } = await holdLease(client, this.row);
      return work(client, closed);
    });
  }

  private sys(name: string): string {
    return inSys(this.row.layout, name);
  }
}
