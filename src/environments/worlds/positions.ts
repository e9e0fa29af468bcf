import pg from 'pg';
import { type Sequences, sequenceOf, setSequences } from './catalogue.ts';
import { CHANGES } from './changes-ddl.ts';
import { inSys, type Layout } from './layout.ts';

const { escapeLiteral } = pg;

/** Positions of a world's sequences: of the pack's by name, and of the one that numbers journal and mails. */
export interface Positions {
  /** Null before a read, which uses none: they stand there as before the next operation that is none. */
  readonly pack: Sequences | null;
  readonly journal: { readonly value: string; readonly called: boolean };
  /** Number of the newest change beside rows and mails. */
  readonly changes?: number;
  /** Another operation had not ended, so that the world was between two states. */
  readonly busy?: boolean;
}

/** SQL of a value of type json that is a {@link Positions}, of the moment before operation `$1`; `names` as the registry has them, null where those of the pack are not asked for. `beside`: SQL, whether its caller knows of another call under way. */
export function positionsSql(layout: Layout, names: readonly string[] | null, beside: string): string {
  const pack = (names ?? []).map((name) => {
    return `${escapeLiteral(name)}, (SELECT last_value::text || CASE WHEN is_called THEN '' ELSE '/f' END FROM ${sequenceOf(layout, name)})`;
  });
  const journal = `(SELECT json_build_object('value', last_value::text, 'called', is_called) FROM ${inSys(layout, 'seq')})`;
  const changes = `(SELECT coalesce(max(n), 0) FROM ${inSys(layout, CHANGES)})`;
  // One of which every dispatch was given up comes to nothing more.
  const open = `EXISTS (SELECT 1 FROM ${inSys(layout, 'operations')} other JOIN ${inSys(layout, 'attempts')} o ON o.operation = other.id
    WHERE other.id <> $1 AND other.state IN ('proposed', 'awaiting_approval', 'running') AND o.fenced < greatest(other.attempt, 1))`;
  return `json_build_object('pack', ${names === null ? 'NULL::json' : `json_build_object(${pack.join(', ')})`}, 'journal', ${journal}, 'changes', ${changes}, 'busy', ${beside} OR ${open})`;
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
  if (positions.pack === null) return;
  await setSequences(client, layout, positions.pack);
  const { value, called } = positions.journal;
  await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [inSys(layout, 'seq'), value, called]);
}
