import pg from 'pg';
import { TOOL_ROLE } from '../hosts/migrations.ts';
import { changesDdl } from './changes-ddl.ts';
import { faultDdl } from './fault-ddl.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** Changes when what we put into a world changes; part of every generation. */
export const LAYOUT_VERSION = 7;

/** SQLSTATEs that a world's own functions raise. */
export const REFUSED = {
  /** The world is closed, or the writer's epoch is not the world's. */
  fenced: 'TB001',
  /** This attempt of the operation is fenced. */
  attemptFenced: 'TB002',
  /** The operation has committed before. */
  committed: 'TB003',
  /** The ledger has no such operation. */
  unknownOperation: 'TB004',
  /** The transaction's operation or role was changed by what ran in it. */
  forged: 'TB005',
  /** TRUNCATE, which leaves no row images. */
  truncate: 'TB006',
  /** COMMIT of a transaction in which the world was taken back for a read. */
  rewound: 'TB007',
  /** The operation needs an approval and has none. */
  notApproved: 'TB008',
} as const;

/** Where a world's parts are. */
export interface Layout {
  readonly database: string;
  /** Schemas with the pack's tables; unqualified names resolve in this order. */
  readonly schemas: readonly string[];
  /** Schema of ledger, journal, fence, mails, clock. */
  readonly sys: string;
  readonly role: string;
  /** The role may log in. */
  readonly direct: boolean;
  /** Role that the environment's tool server logs in as; absent where it has none. */
  readonly serverRole?: string;
}

/** Put as a comment on every schema, role and database that we make: what has a name like ours and not this comment is not ours. */
export function marker(worldId: string): string {
  return `trialbed world ${worldId}`;
}

/** Schema of the pack's tables that new objects go to. */
export function mainSchema(layout: Layout): string {
  return layout.schemas[0] ?? 'public';
}

/** `search_path` of a world's sessions. */
export function searchPath(layout: Layout): string {
  return layout.schemas.map(escapeIdentifier).join(', ');
}

/** A relation or function of the world's own schema, quoted. */
export function inSys(layout: Layout, name: string): string {
  return `${escapeIdentifier(layout.sys)}.${escapeIdentifier(name)}`;
}

/** DDL of a world's own schema. Run once, as the administrator, before the pack's. */
export function sysDdl(layout: Layout, clock: { readonly now: string; readonly timezone: string }): string {
  const s = escapeIdentifier(layout.sys);
  const tool = escapeIdentifier(TOOL_ROLE);
  // Images and keys must not depend on what the writing session has set.
  const fixed =
    "SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET intervalstyle = 'postgres' SET bytea_output = 'hex' SET extra_float_digits = 1";
  return `
    CREATE SCHEMA ${s};
    CREATE SEQUENCE ${s}.seq;
    CREATE TABLE ${s}.fence (one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch integer NOT NULL, closed boolean NOT NULL);
    CREATE TABLE ${s}.door (one boolean PRIMARY KEY DEFAULT true CHECK (one), closing boolean NOT NULL);
    CREATE TABLE ${s}.clock (one boolean PRIMARY KEY DEFAULT true CHECK (one), now timestamptz NOT NULL, timezone text NOT NULL);
    INSERT INTO ${s}.fence (epoch, closed) VALUES (0, true);
    INSERT INTO ${s}.door (closing) VALUES (false);
    INSERT INTO ${s}.clock (now, timezone) VALUES (${escapeLiteral(clock.now)}, ${escapeLiteral(clock.timezone)});
    CREATE TABLE ${s}.operations (
      n bigint GENERATED ALWAYS AS IDENTITY,
      id text PRIMARY KEY,
      tool text NOT NULL,
      -- Who of a team called; null where the agent is no team.
      actor text,
      args json NOT NULL,
      idempotency_key text,
      refusal json,
      state text NOT NULL,
      -- Why it needs an approval; null: it needs none. Until it is granted, nothing may speak for the operation.
      approval json,
      granted text,
      attempt integer NOT NULL DEFAULT 0,
      result json,
      problem json,
      -- Why it failed, for operators. Agents are told the problem alone.
      detail text,
      duration_ms double precision,
      -- Of the production client, for this one call.
      tries integer NOT NULL DEFAULT 1,
      at timestamptz NOT NULL,
      -- It was made in another world, of which this one is a continuation: it is answered from this row.
      recorded boolean NOT NULL DEFAULT false
    );
    -- Beside the ledger row, so that a mail of an operation can be stored while the operation's own transaction holds that row.
    -- With the positions of sequences when the operation was proposed; null in a row that was put in from a snapshot without them.
    CREATE TABLE ${s}.attempts (operation text PRIMARY KEY, fenced integer NOT NULL DEFAULT 0, positions json);
    -- The tool server's role, and the operation that it carries out at the moment: what the role writes meanwhile is that operation's.
    CREATE TABLE ${s}.serving (one boolean PRIMARY KEY DEFAULT true CHECK (one), role text, operation text, attempt integer);
    INSERT INTO ${s}.serving DEFAULT VALUES;
    CREATE TABLE ${s}.journal (
      seq bigint PRIMARY KEY DEFAULT nextval('${s}.seq'),
      tbl text NOT NULL,
      change text NOT NULL,
      key jsonb NOT NULL,
      before json,
      after json,
      operation text,
      attempt integer,
      epoch integer NOT NULL,
      phase text NOT NULL,
      -- Of phase fault: which rule of the schedule.
      rule integer,
      at timestamptz NOT NULL
    );
    CREATE TABLE ${s}.mails (
      seq bigint PRIMARY KEY DEFAULT nextval('${s}.seq'),
      operation text,
      attempt integer NOT NULL,
      mail json NOT NULL,
      raw bytea NOT NULL,
      at timestamptz NOT NULL
    );
    CREATE TABLE ${s}.late (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source text NOT NULL, operation text, detail text NOT NULL, at timestamptz NOT NULL);

    CREATE FUNCTION ${s}.journal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ${fixed} AS $body$
    DECLARE
      f record;
      image json;
      row_key jsonb := '{}';
      operation text;
      attempt integer;
      phase text := 'run';
      rule integer;
      v record;
    BEGIN
      SELECT epoch, closed INTO f FROM ${s}.fence FOR SHARE;
      IF session_user = ${escapeLiteral(TOOL_ROLE)} THEN
        -- Only the tool role's settings are trusted: any role can set a custom setting.
        IF f.closed OR f.epoch::text IS DISTINCT FROM current_setting('trialbed.epoch', true) THEN
          RAISE EXCEPTION 'the world is fenced' USING ERRCODE = '${REFUSED.fenced}';
        END IF;
        operation := nullif(current_setting('trialbed.operation', true), '');
        attempt := nullif(current_setting('trialbed.attempt', true), '')::integer;
      ELSIF session_user = current_user AND current_setting('trialbed.phase', true) = 'state' THEN
        phase := 'state';
      ELSIF f.closed THEN
        RAISE EXCEPTION 'the world is fenced' USING ERRCODE = '${REFUSED.fenced}';
      ELSIF session_user = current_user AND current_setting('trialbed.phase', true) = 'fault' THEN
        phase := 'fault';
        rule := current_setting('trialbed.rule')::integer;
      ELSE
        -- A tool server knows of no operation. It serves one at a time, and which one stands where it cannot write.
        SELECT w.role, w.operation, w.attempt INTO v FROM ${s}.serving w;
        IF session_user = v.role AND v.operation IS NOT NULL THEN
          PERFORM 1 FROM ${s}.attempts a WHERE a.operation = v.operation FOR SHARE;
          IF v.attempt <= (SELECT a.fenced FROM ${s}.attempts a WHERE a.operation = v.operation) THEN
            RAISE EXCEPTION 'attempt % of operation % is fenced', v.attempt, v.operation USING ERRCODE = '${REFUSED.attemptFenced}';
          END IF;
          operation := v.operation;
          attempt := v.attempt;
        END IF;
      END IF;
      image := CASE WHEN TG_OP = 'DELETE' THEN row_to_json(OLD) ELSE row_to_json(NEW) END;
      IF TG_NARGS = 1 THEN
        row_key := image::jsonb;
      ELSE
        FOR i IN 1 .. TG_NARGS - 1 LOOP
          row_key := row_key || jsonb_build_object(TG_ARGV[i], image -> TG_ARGV[i]);
        END LOOP;
      END IF;
      INSERT INTO ${s}.journal (tbl, change, key, before, after, operation, attempt, epoch, phase, rule, at)
      SELECT TG_ARGV[0], lower(TG_OP), row_key,
             CASE WHEN TG_OP <> 'INSERT' THEN row_to_json(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN row_to_json(NEW) END,
             operation, attempt, f.epoch, phase, rule, c.now
        FROM ${s}.clock c;
      RETURN NULL;
    END $body$;

    CREATE FUNCTION ${s}.refuse_truncate() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      RAISE EXCEPTION 'TRUNCATE leaves no record of what it removed; use DELETE' USING ERRCODE = '${REFUSED.truncate}';
    END $body$;

    -- The door of an operation: holds the fence, and the operation's attempts, until the transaction ends.
    CREATE FUNCTION ${s}.enter(op text, att integer, ep integer, writes boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      f record;
      n integer;
    BEGIN
      SELECT epoch, closed INTO f FROM ${s}.fence FOR SHARE;
      -- A reader passes the closed door of its own lease.
      IF f.closed OR f.epoch <> ep THEN
        IF writes OR NOT f.closed OR f.epoch NOT IN (ep, ep + 1) THEN
          RAISE EXCEPTION 'the world is fenced' USING ERRCODE = '${REFUSED.fenced}';
        END IF;
      END IF;
      IF op IS NULL THEN RETURN; END IF;
      SELECT fenced INTO n FROM ${s}.attempts WHERE operation = op FOR SHARE;
      IF att <= n THEN
        RAISE EXCEPTION 'attempt % of operation % is fenced', att, op USING ERRCODE = '${REFUSED.attemptFenced}';
      END IF;
      IF EXISTS (SELECT 1 FROM ${s}.operations WHERE id = op AND approval IS NOT NULL AND granted IS NULL) THEN
        RAISE EXCEPTION 'operation % needs an approval and has none', op USING ERRCODE = '${REFUSED.notApproved}';
      END IF;
    END $body$;

    CREATE FUNCTION ${s}.claim(op text, att integer, ep integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      found_state text;
    BEGIN
      PERFORM ${s}.enter(op, att, ep, true);
      -- Set before the fence waits for writers, so that no new one makes it wait longer.
      IF (SELECT closing FROM ${s}.door) THEN
        RAISE EXCEPTION 'the world is being fenced' USING ERRCODE = '${REFUSED.fenced}';
      END IF;
      -- A failed one may be tried again by the production client itself.
      UPDATE ${s}.operations SET state = 'running', attempt = att WHERE id = op AND state IN ('proposed', 'awaiting_approval', 'running', 'unknown', 'failed') AND attempt <= att;
      IF FOUND THEN RETURN; END IF;
      SELECT state INTO found_state FROM ${s}.operations WHERE id = op;
      IF found_state = 'committed' THEN
        RAISE EXCEPTION 'operation % has committed before', op USING ERRCODE = '${REFUSED.committed}';
      END IF;
      RAISE EXCEPTION 'operation % is %', op, coalesce(found_state, 'not in the ledger') USING ERRCODE = '${REFUSED.unknownOperation}';
    END $body$;

    CREATE FUNCTION ${s}.complete(op text, att integer, outcome json, ms double precision) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      IF current_setting('trialbed.operation', true) IS DISTINCT FROM op OR current_setting('trialbed.attempt', true) IS DISTINCT FROM att::text THEN
        RAISE EXCEPTION 'operation % changed its own settings', op USING ERRCODE = '${REFUSED.forged}';
      END IF;
      UPDATE ${s}.operations SET state = 'committed', result = outcome, problem = NULL, duration_ms = ms WHERE id = op AND attempt = att;
    END $body$;

    CREATE FUNCTION ${s}.store_mail(op text, att integer, ep integer, message json, source bytea) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      n bigint;
    BEGIN
      PERFORM ${s}.enter(op, att, ep, true);
      INSERT INTO ${s}.mails (operation, attempt, mail, raw, at) SELECT op, att, message, source, c.now FROM ${s}.clock c RETURNING seq INTO n;
      RETURN n;
    END $body$;

    ${faultDdl(s, fixed, REFUSED)}

    ${changesDdl(s, fixed)}

    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${s} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${s} TO ${tool};
    GRANT EXECUTE ON FUNCTION ${s}.enter, ${s}.claim, ${s}.complete, ${s}.store_mail, ${s}.rewind TO ${tool};
  `;
}

/** The world's clock as SQL for defaults and tools. In the pack's schema, so that unqualified DDL finds it. */
export function worldNowDdl(layout: Layout): string {
  const name = `${escapeIdentifier(mainSchema(layout))}.world_now`;
  return `
    CREATE FUNCTION ${name}() RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
      AS $body$ SELECT now FROM ${escapeIdentifier(layout.sys)}.clock $body$;
  `;
}
