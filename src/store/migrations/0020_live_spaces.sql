-- What worlds have at real services: an account each, by the name under which it is cleaned up. No secret, and nothing that was said.
create table trialbed.live_spaces (
  -- The world's id and epoch.
  world text collate "C" not null,
  service text not null,
  -- How it was bound: kind, address and the names of variables.
  binding jsonb not null,
  owner text collate "C" not null,
  -- How-manieth try to make it; its name ends so.
  try integer not null default 1,
  name text collate "C" not null unique,
  acts_for text not null,
  shift_ms bigint not null,
  until timestamptz not null,
  state text not null default 'making' check (state in ('making', 'ready', 'fenced')),
  kept json not null default '{}',
  primary key (world, service)
);
create index live_spaces_until on trialbed.live_spaces (until);

-- Requests with an effect, noted before they were sent. Contents are digests.
create table trialbed.live_requests (
  world text collate "C" not null,
  service text not null,
  number bigint generated always as identity,
  operation text collate "C" not null,
  attempt integer not null,
  sent json not null,
  answered json,
  primary key (world, service, number),
  foreign key (world, service) references trialbed.live_spaces on delete cascade
);
