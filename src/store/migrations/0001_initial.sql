-- Documents, records and messages hold what agents wrote, so they are of type json: it keeps the text as it came, with
-- escapes such as \u0000 and unpaired surrogates, which jsonb refuses.

create table trialbed.cases (
  hash text primary key,
  case_id text not null,
  body json not null
);

create table trialbed.agents (
  hash text primary key,
  name text not null,
  spec json not null
);

create table trialbed.batches (
  id text primary key,
  suite text not null,
  suite_file text not null,
  manifest_hash text not null,
  state text not null default 'running' check (state in ('running', 'interrupted', 'finished', 'cancelled')),
  environment json not null,
  seed text not null,
  options json not null,
  sources json not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((finished_at is not null) = (state in ('finished', 'cancelled')))
);

create index batches_by_age on trialbed.batches (created_at desc, id desc);
create index batches_unfinished on trialbed.batches (manifest_hash) where state in ('running', 'interrupted');

create table trialbed.trials (
  id text collate "C" primary key,
  batch text not null references trialbed.batches,
  -- Place in the manifest.
  ordinal integer not null,
  case_id text not null,
  case_hash text not null references trialbed.cases,
  agent_name text not null,
  agent_hash text not null references trialbed.agents,
  schedule text not null,
  repetition integer not null check (repetition >= 1),
  phase text not null default 'waiting'
    check (phase in ('waiting', 'provision', 'drive', 'fence', 'grade', 'release', 'done')),
  -- The attempt that counts; 0 before the first.
  attempt integer not null default 0,
  unique (batch, ordinal)
);

create index trials_by_batch on trialbed.trials (batch, phase);

create table trialbed.attempts (
  trial text collate "C" not null references trialbed.trials,
  attempt integer not null check (attempt >= 1),
  started_at timestamptz not null,
  ended_at timestamptz,
  ending text,
  world json,
  problem json,
  summary json,
  primary key (trial, attempt),
  check ((ended_at is null) = (ending is null) and (ended_at is null) = (summary is null))
);

create table trialbed.messages (
  id bigint generated always as identity primary key,
  trial text collate "C" not null,
  attempt integer not null,
  turn integer not null,
  sender text not null check (sender in ('user', 'agent')),
  body json not null,
  -- sha256 of the body: an activity that runs again adds no second copy.
  digest text not null,
  unique (trial, attempt, turn, sender, digest),
  foreign key (trial, attempt) references trialbed.attempts
);

create table trialbed.records (
  trial text collate "C" not null,
  attempt integer not null,
  body json not null,
  primary key (trial, attempt),
  foreign key (trial, attempt) references trialbed.attempts
);

create sequence trialbed.verdict_rank;

create table trialbed.verdicts (
  trial text collate "C" not null,
  attempt integer not null,
  grader_version text not null,
  case_hash text not null,
  graded_at timestamptz not null,
  -- The highest of the attempt that counts is the current one.
  rank bigint not null default nextval('trialbed.verdict_rank'),
  body json not null,
  primary key (trial, attempt, grader_version, case_hash),
  foreign key (trial, attempt) references trialbed.attempts
);

create table trialbed.snapshots (
  id text primary key,
  trial text collate "C" not null,
  attempt integer not null,
  body json not null,
  foreign key (trial, attempt) references trialbed.attempts
);

create table trialbed.reference_effects (
  generation text not null,
  case_hash text not null,
  effects json not null,
  primary key (generation, case_hash)
);
