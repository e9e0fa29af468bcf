import pg from 'pg';
import { type Sequences, sequenceOf, setSequences } from './catalogue.ts';
import { inSys, type Layout } from './layout.ts';

const { escapeLiteral } = pg;

/** Positions of a world's sequences: of the pack's by name, and of the one that numbers journal and mails. */
export interface Positions {
  readonly pack: Sequences;
  readonly journal: { readonly value: string; readonly called: boolean };
}

/** SQL of a value of type json that is a {@link Positions}; `names` as the registry has them. */
export function positionsSql(layout: Layout, names: readonly string[]): string {
  const pack = names.map((name) => {
    return `${escapeLiteral(name)}, (SELECT last_value::text || CASE WHEN is_called THEN '' ELSE '/f' END FROM ${sequenceOf(layout, name)})`;
  });
  const journal = `(SELECT json_build_object('value', last_value::text, 'called', is_called) FROM ${inSys(layout, 'seq')})`;
  return `json_build_object('pack', json_build_object(${pack.join(', ')}), 'journal', ${journal})`;
}

/**
 * SQL of the positions when operation `$1` was proposed, where nothing can have used the sequences since but lost attempts of it: it is open, no other
 * operation is open or was proposed later, nothing was written, and no session of the world's own is there. Else null.
 */
export function nobodyElseSince(layout: Layout): string {
  const sys = (name: string) => inSys(layout, name);
  const later = "seq >= (a.positions -> 'journal' ->> 'value')::bigint + (a.positions -> 'journal' ->> 'called')::boolean::int";
  return `(SELECT a.positions FROM ${sys('attempts')} a JOIN ${sys('operations')} o ON o.id = a.operation
            WHERE o.id = $1 AND o.state IN ('proposed', 'running')
              AND NOT EXISTS (SELECT 1 FROM ${sys('operations')} other WHERE other.n > o.n OR (other.n < o.n AND other.state IN ('proposed', 'running')))
              AND NOT EXISTS (SELECT 1 FROM ${sys('journal')} WHERE ${later}) AND NOT EXISTS (SELECT 1 FROM ${sys('mails')} WHERE ${later})
              AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE usename IN (${[layout.role, layout.serverRole ?? layout.role].map(escapeLiteral).join(', ')})))`;
}

/** Sets the sequences back. Not undone by a rollback, as sequences are. */
export async function restorePositions(client: pg.ClientBase, layout: Layout, positions: Positions): Promise<void> {
  await setSequences(client, layout, positions.pack);
  const { value, called } = positions.journal;
  await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [inSys(layout, 'seq'), value, called]);
}
