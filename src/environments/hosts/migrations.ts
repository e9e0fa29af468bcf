/** Database that holds the registry and every world of isolation `schema`. */
export const WORLDS_DATABASE = 'trialbed_worlds';

/** Role that the harness's own tools log in as. Owns nothing, inherits nothing; may become any world's role. */
export const TOOL_ROLE = 'trialbed_tool';

/** Steps of the registry's layout, forward only. Applied in order under a lock, each in a transaction of its own with its row in `trialbed.migrations`. */
export const MIGRATIONS: readonly { readonly version: number; readonly sql: string }[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE trialbed.settings (
        name text PRIMARY KEY,
        value text NOT NULL
      );
      CREATE TABLE trialbed.generations (
        generation text PRIMARY KEY,
        catalogue text NOT NULL,
        contents jsonb NOT NULL,
        rows_kept boolean NOT NULL DEFAULT false,
        first_seen timestamptz NOT NULL DEFAULT now()
      );
      -- A row of the seed by the hashes of its key and of itself: what a reset compares touched rows with.
      CREATE TABLE trialbed.seed_rows (
        generation text NOT NULL REFERENCES trialbed.generations ON DELETE CASCADE,
        tbl text NOT NULL,
        key text NOT NULL,
        hash text NOT NULL,
        PRIMARY KEY (generation, tbl, key)
      );
      CREATE TABLE trialbed.templates (
        generation text PRIMARY KEY,
        database text NOT NULL UNIQUE,
        layout jsonb NOT NULL,
        last_used timestamptz NOT NULL DEFAULT now()
      );
      CREATE TABLE trialbed.worlds (
        id text PRIMARY KEY,
        generation text NOT NULL,
        isolation text NOT NULL CHECK (isolation IN ('schema', 'database', 'container')),
        state text NOT NULL CHECK (state IN ('making', 'leased', 'free', 'dropping')),
        owner text UNIQUE,
        workflow_id text,
        lease_until timestamptz,
        epoch integer NOT NULL,
        tool_secret text,
        agent_secret text,
        layout jsonb NOT NULL,
        services jsonb NOT NULL,
        tables jsonb NOT NULL,
        sequences jsonb NOT NULL,
        lease jsonb,
        container jsonb,
        resets integer NOT NULL DEFAULT 0,
        server_started timestamptz NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX worlds_free ON trialbed.worlds (generation) WHERE state = 'free';
    `,
  },
  {
    version: 2,
    // What a reset compares first: equal, when no DDL has touched the world since it was made.
    sql: 'ALTER TABLE trialbed.worlds ADD COLUMN stamp text',
  },
  {
    version: 3,
    // Sequences, because all workers count at once and none may wait for another.
    sql: 'CREATE SEQUENCE trialbed.worlds_made; CREATE SEQUENCE trialbed.worlds_released; CREATE SEQUENCE trialbed.worlds_swept',
  },
  {
    version: 4,
    // In a pool that is full, the world that nobody has wanted for longest makes room.
    sql: 'ALTER TABLE trialbed.worlds ADD COLUMN free_since timestamptz',
  },
  {
    version: 5,
    // Of the environment's tool server, for the lease.
    sql: 'ALTER TABLE trialbed.worlds ADD COLUMN server_secret text',
  },
  {
    version: 6,
    // Counted on every server before a world is leased on one of them.
    sql: "CREATE INDEX worlds_leased ON trialbed.worlds (state) WHERE state IN ('making', 'leased')",
  },
  {
    version: 7,
    // Worlds in which something was other than their journal says, by whom they were leased: reports count them.
    sql: 'CREATE TABLE trialbed.unlike (world text NOT NULL, owner text NOT NULL, why text NOT NULL, at timestamptz NOT NULL DEFAULT now()); CREATE INDEX unlike_owner ON trialbed.unlike (owner text_pattern_ops)',
  },
];
