import type { ContractCheck } from '../domain/contract-check.ts';
import type { Database } from './database.ts';

/** Times at which tools were held against something else. */
export interface ContractCheckRows {
  add(check: ContractCheck): Promise<void>;
  /** Those that a generation was a side of, the newest first, at most 100. */
  of(generation: string): Promise<readonly ContractCheck[]>;
}

export function contractCheckRows(database: Database): ContractCheckRows {
  return {
    async add({ environment, generation, against, live, tools, differences, notPlayed, at }) {
      await database.query(
        `insert into trialbed.contract_checks (environment, generation, other_environment, other_generation, live, tools, differences, not_played, checked_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [environment, generation, against?.environment ?? null, against?.generation ?? null, live, tools, differences, notPlayed, at],
      );
    },
    async of(generation) {
      const rows = await database.query<
        Omit<ContractCheck, 'at' | 'against'> & { readonly at: Date; readonly other: string | null; readonly against: string | null }
      >(
        `select environment, generation, other_environment as other, other_generation as against, live, tools, differences, not_played as "notPlayed", checked_at as at
         from trialbed.contract_checks where generation = $1 or other_generation = $1 order by checked_at desc, id desc limit 100`,
        [generation],
      );
      return rows.map(({ other, against, at, ...row }) => ({
        ...row,
        against: other === null || against === null ? null : { environment: other, generation: against },
        at: at.toISOString(),
      }));
    },
  };
}
