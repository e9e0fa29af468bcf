import { FAULT_TABLES } from './fault-ddl.ts';

/** Table of what changed in a world beside rows and mails. Cleared when a world is reset. */
export const CHANGES = 'changes';

/**
 * DDL of the log from which the state of a world at an earlier operation is made: every change of the clock and of what a fault schedule has done, and what happened
 * to an operation after its end, each with the row as it was. Rows of the pack's tables stand in the journal, mails are never changed.
 *
 * @param s the world's own schema, quoted. @param fixed settings of a function that prints row images.
 */
export function changesDdl(s: string, fixed: string): string {
  const noted = (table: string, when: string) => `CREATE TRIGGER note_change AFTER ${when} EXECUTE FUNCTION ${s}.note_change();`.replace('$', `${s}.${table}`);
  return `
    CREATE TABLE ${s}.${CHANGES} (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tbl text NOT NULL, before json, after json NOT NULL);
    CREATE FUNCTION ${s}.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ${fixed} AS $body$
    BEGIN
      INSERT INTO ${s}.${CHANGES} (tbl, before, after) VALUES (TG_TABLE_NAME, CASE WHEN TG_OP = 'UPDATE' THEN row_to_json(OLD) END, row_to_json(NEW));
      RETURN NULL;
    END $body$;
    ${FAULT_TABLES.map((table) => noted(table, 'INSERT OR UPDATE ON $ FOR EACH ROW')).join('\n    ')}
    ${noted('attempts', 'UPDATE OF fenced ON $ FOR EACH ROW WHEN (OLD.fenced IS DISTINCT FROM NEW.fenced)')}
    ${noted('clock', 'UPDATE ON $ FOR EACH ROW')}
    ${noted('operations', "UPDATE ON $ FOR EACH ROW WHEN (OLD.state NOT IN ('proposed', 'awaiting_approval', 'running'))")}
  `;
}
