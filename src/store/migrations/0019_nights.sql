-- Nights of schedules: one row for each time that one was due.
create table trialbed.nights (
  id text collate "C" primary key,
  schedule text collate "C" not null,
  due timestamptz not null,
  workflow text collate "C",
  began timestamptz,
  ended timestamptz,
  state text not null check (state in ('running', 'held', 'broken', 'lost', 'missed')),
  batch text collate "C",
  why text,
  -- Versions, faults, findings, what was cleaned up, whom it was told. No secret, and nothing that an agent said beyond a finding.
  body json not null default '{}'
);
create index nights_schedule on trialbed.nights (schedule, due desc);

-- What two nights must not use at once.
create table trialbed.night_locks (
  account text collate "C" primary key,
  night text collate "C" not null references trialbed.nights on delete cascade,
  workflow text collate "C" not null
);
