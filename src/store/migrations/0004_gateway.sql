-- A token outlives the worker that issued it, so that a client outside goes on with another one. Its secret is stored nowhere.
create table trialbed.gateway_tokens (
  name text collate "C" primary key,
  -- sha256 of the secret, in hex.
  digest text not null,
  trial text collate "C" not null,
  attempt integer not null,
  agent text not null,
  ended_at timestamptz,
  unique (trial, attempt, agent),
  foreign key (trial, attempt) references trialbed.attempts
);

-- Calls to which their client gave a name: a request that is repeated joins the operation that it was.
create table trialbed.gateway_calls (
  trial text collate "C" not null,
  attempt integer not null,
  call_id text collate "C" not null,
  -- sha256 of tool and arguments, in hex.
  digest text not null,
  operation text not null,
  primary key (trial, attempt, call_id),
  foreign key (trial, attempt) references trialbed.attempts
);

-- Requests with the token of an attempt that has ended, whether its record had been made by then or not.
create table trialbed.late_requests (
  id bigint generated always as identity primary key,
  trial text collate "C" not null,
  attempt integer not null,
  detail text not null,
  at timestamptz not null,
  foreign key (trial, attempt) references trialbed.attempts
);

create index late_requests_by_attempt on trialbed.late_requests (trial, attempt);
