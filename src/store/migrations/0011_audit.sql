-- What people asked of batches, trials and stored data, whether it was done or refused, whichever way they came.
create table trialbed.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  -- Who asked: user and machine on the command line, the holder of the token in the console.
  actor text not null,
  via text not null check (via in ('cli', 'library', 'console')),
  -- Roles of the token that it was asked with; null: none was needed.
  roles text[],
  action text not null,
  target text not null,
  -- What was given with the request, such as a reason.
  detail text,
  -- 'asked' until it is known what became of it; it stays so where the process ended meanwhile.
  outcome text not null check (outcome in ('asked', 'done', 'refused', 'failed')),
  -- Why it was refused or failed.
  problem text
);

create index audit_by_target on trialbed.audit (target text_pattern_ops, id);
