-- Keys with which something in the store is or was encrypted. Of each one value that it opens, so that another key of the same name is found out before it is used.
create table trialbed.keys (
  id text collate "C" primary key,
  proof json not null,
  first_used timestamptz not null,
  -- Nothing in the store is encrypted with it any more.
  retired_at timestamptz
);

-- Raw mails may be kept for less long than the rest; then the list is empty. Null: they lie in the body, as they did before.
alter table trialbed.snapshots add column raw_mails json;
create index snapshots_by_attempt on trialbed.snapshots (trial, attempt);
