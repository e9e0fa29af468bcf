-- From where an attempt of a trial, and each after it, goes on: the world of another attempt as it was after so many calls.
create table trialbed.origins (
  trial text collate "C" not null references trialbed.trials on delete cascade,
  attempt integer not null check (attempt >= 1),
  source_trial text collate "C" not null,
  source_attempt integer not null,
  calls integer not null check (calls >= 0),
  snapshot text not null,
  -- What the agent was told of each of these calls.
  notes json not null,
  made_at timestamptz not null default now(),
  primary key (trial, attempt)
);
