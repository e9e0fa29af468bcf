-- When the tools of an environment were held against recordings or against another environment. Shapes were compared; nothing that was said is here.
create table trialbed.contract_checks (
  id bigint generated always as identity primary key,
  environment text not null,
  generation text collate "C" not null,
  -- Null: it was held against recordings.
  other_environment text,
  other_generation text collate "C",
  -- Services that were real on one side alone.
  live text[] not null,
  tools integer not null,
  differences integer not null,
  not_played integer not null,
  checked_at timestamptz not null
);
create index contract_checks_generation on trialbed.contract_checks (generation, checked_at);
create index contract_checks_other on trialbed.contract_checks (other_generation, checked_at);
