-- What stands for the world of an attempt that is played on a cassette: a clock, and the operations with what answered them. Gone with the attempt.
create table trialbed.cassette_worlds (
  id text collate "C" primary key,
  trial text collate "C" not null references trialbed.trials on delete cascade,
  now timestamptz not null,
  timezone text not null,
  closed boolean not null default false,
  -- Why the clock was moved, each once.
  moved text[] not null default '{}',
  late json not null default '[]'
);
create index cassette_worlds_trial on trialbed.cassette_worlds (trial);

create table trialbed.cassette_operations (
  world text collate "C" not null references trialbed.cassette_worlds on delete cascade,
  trial text collate "C" not null,
  id text collate "C" not null,
  n bigint generated always as identity,
  -- Which interaction of the cassette answered it, from 0.
  entry integer,
  body json not null,
  primary key (world, id)
);
