-- What approvers are asked, and what they decided. The workflow decides what counts; here it is found and read.

create table trialbed.approvals (
  trial text collate "C" not null,
  attempt integer not null,
  operation text collate "C" not null,
  subject json not null,
  ending json,
  asked_at timestamptz not null default now(),
  primary key (trial, attempt, operation),
  foreign key (trial, attempt) references trialbed.attempts (trial, attempt)
);

create index approvals_waiting on trialbed.approvals (asked_at) where ending is null;
