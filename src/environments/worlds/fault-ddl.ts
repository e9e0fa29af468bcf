/** What a fault schedule has done to a world, in its own schema. Cleared when a world is reset, kept by a snapshot. */
export const FAULT_TABLES = ['once', 'faults', 'armed', 'limits', 'freezes', 'stale', 'counters', 'requests'] as const;

/**
 * DDL of these tables, and of the function that takes a world back for a read.
 *
 * @param s the world's own schema, quoted. @param fixed settings of a function that prints or reads row images. @param refused SQLSTATEs.
 */
export function faultDdl(s: string, fixed: string, refused: { readonly fenced: string; readonly rewound: string }): string {
  return `
    -- What taking back needs to know of the pack's tables.
    CREATE TABLE ${s}.tables (name text PRIMARY KEY, relation text NOT NULL, key text[] NOT NULL, columns text[] NOT NULL);
    -- Moves of the clock and changes by a fault, each once for its key.
    CREATE TABLE ${s}.once (key text PRIMARY KEY, at timestamptz);
    CREATE TABLE ${s}.faults (
      n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      rule integer NOT NULL,
      kind text NOT NULL,
      target text NOT NULL,
      position integer,
      operation text,
      detail text NOT NULL,
      by_service boolean NOT NULL,
      hits integer NOT NULL DEFAULT 1,
      at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX faults_once ON ${s}.faults (rule, coalesce(operation, ''), coalesce(position, 0));
    CREATE TABLE ${s}.armed (operation text NOT NULL, rule integer NOT NULL, position integer NOT NULL, PRIMARY KEY (operation, rule));
    CREATE TABLE ${s}.limits (target text PRIMARY KEY, until timestamptz NOT NULL, rule integer);
    CREATE TABLE ${s}.freezes (rule integer PRIMARY KEY, service text NOT NULL, seq bigint NOT NULL, reads integer, until timestamptz);
    -- Reads that a freeze has answered; those of one operation count once.
    CREATE TABLE ${s}.stale (rule integer NOT NULL, operation text, UNIQUE (rule, operation));
    CREATE TABLE ${s}.counters (service text PRIMARY KEY, requests integer NOT NULL);
    CREATE TABLE ${s}.requests (service text NOT NULL, n integer NOT NULL, operation text, attempt integer, PRIMARY KEY (service, n));

    -- One reader at a time takes a world back. Touching this row makes the transaction one that cannot be committed, whoever tries.
    CREATE TABLE ${s}.rewinds (one boolean PRIMARY KEY DEFAULT true CHECK (one), n integer NOT NULL);
    INSERT INTO ${s}.rewinds (n) VALUES (0);
    CREATE FUNCTION ${s}.never_commit() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      RAISE EXCEPTION 'a transaction that has taken the world back is never committed' USING ERRCODE = '${refused.rewound}';
    END $body$;
    CREATE CONSTRAINT TRIGGER never_commit AFTER UPDATE ON ${s}.rewinds DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${s}.never_commit();

    -- Takes back what the journal holds after an entry, the case's own state aside, without firing a trigger. Every touched row is removed, and those that
    -- stood at the start are put in: no order of changes can collide with a unique constraint.
    CREATE FUNCTION ${s}.rewind(after_seq bigint, ep integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER ${fixed} AS $body$
    DECLARE
      t record;
      j record;
      image_key text;
      same_key text;
      list text;
      firsts text;
    BEGIN
      -- Another reader is waited for with nothing in hand; a writer, only for less than the server takes to look for a deadlock, which could end the writer.
      UPDATE ${s}.rewinds SET n = n + 1;
      PERFORM set_config('lock_timeout', '50ms', true);
      PERFORM 1 FROM ${s}.fence WHERE epoch IN (ep, ep + 1) FOR SHARE;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the world is fenced' USING ERRCODE = '${refused.fenced}';
      END IF;
      PERFORM set_config('session_replication_role', 'replica', true);
      FOR t IN SELECT * FROM ${s}.tables WHERE name IN (SELECT tbl FROM ${s}.journal WHERE seq > after_seq AND phase <> 'state') ORDER BY name LOOP
        SELECT string_agg(quote_ident(c), ', ') INTO list FROM unnest(t.columns) AS c;
        IF cardinality(t.key) = 0 THEN
          FOR j IN SELECT before, after FROM ${s}.journal WHERE tbl = t.name AND seq > after_seq AND phase <> 'state' ORDER BY seq DESC LOOP
            IF j.after IS NOT NULL THEN
              EXECUTE format('DELETE FROM %1$s x WHERE x.ctid = (SELECT u.ctid FROM %1$s u WHERE row_to_json(u)::text = $1 LIMIT 1)', t.relation) USING j.after::text;
            END IF;
            IF j.before IS NOT NULL THEN
              EXECUTE format('INSERT INTO %1$s (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM json_populate_record(NULL::%1$s, $1)', t.relation, list) USING j.before;
            END IF;
          END LOOP;
          CONTINUE;
        END IF;
        SELECT string_agg(format('i.image -> %L', k), ', '), string_agg(format('x.%1$I = o.%1$I', k), ' AND ') INTO image_key, same_key FROM unnest(t.key) AS k;
        firsts := format($q$
          WITH images AS (
            SELECT seq, true AS was, before AS image FROM ${s}.journal WHERE tbl = $1 AND seq > $2 AND phase <> 'state' AND before IS NOT NULL
            UNION ALL
            SELECT seq, false, after FROM ${s}.journal WHERE tbl = $1 AND seq > $2 AND phase <> 'state' AND after IS NOT NULL
          ), firsts AS (
            SELECT DISTINCT ON (k) was, image FROM (SELECT i.*, jsonb_build_array(%s) AS k FROM images i) keyed ORDER BY k, seq, was DESC
          )$q$, image_key);
        EXECUTE firsts || format(' DELETE FROM %1$s x USING firsts f, json_populate_record(NULL::%1$s, f.image) o WHERE %2$s', t.relation, same_key)
          USING t.name, after_seq;
        EXECUTE firsts || format(' INSERT INTO %1$s (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM (SELECT o.* FROM firsts f, json_populate_record(NULL::%1$s, f.image) o WHERE f.was) o', t.relation, list)
          USING t.name, after_seq;
      END LOOP;
      PERFORM set_config('session_replication_role', 'origin', true);
    END $body$;
  `;
}
