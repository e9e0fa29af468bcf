-- A row for each call of a model, whoever made it; no message is in it.
create table trialbed.model_calls (
  trial text collate "C" not null,
  attempt integer not null,
  id text not null,
  who text not null check (who in ('agent', 'user')),
  agent text,
  source text not null check (source in ('loop', 'gateway', 'otlp')),
  route text not null,
  -- The whole call as it was recorded.
  body json not null,
  input_tokens bigint,
  output_tokens bigint,
  cached_tokens bigint,
  reasoning_tokens bigint,
  price numeric,
  currency text,
  latency_ms double precision,
  tries integer not null,
  ended_at timestamptz not null,
  ordinal bigint generated always as identity,
  primary key (trial, attempt, id),
  foreign key (trial, attempt) references trialbed.attempts,
  check ((price is null) = (currency is null))
);

-- What was said between a model and whoever asked it, redacted and bounded.
create table trialbed.conversation (
  trial text collate "C" not null,
  attempt integer not null,
  who text not null check (who in ('agent', 'user')),
  -- Of several agents which; empty: the trial's only one.
  agent text not null default '',
  seq integer not null,
  role text not null check (role in ('system', 'user', 'assistant', 'tool')),
  -- Id of the model call that it came with or from.
  call text,
  body json not null,
  -- As it was said, for a conversation that must be able to go on; gone with the attempt's end.
  exact json,
  primary key (trial, attempt, who, agent, seq),
  foreign key (trial, attempt) references trialbed.attempts
);
