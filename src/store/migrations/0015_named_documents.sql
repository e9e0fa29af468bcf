-- When a document was last named by whoever plans a batch. One that no trial names any more goes when that is as long ago as verdicts are kept.
alter table trialbed.cases add column named_at timestamptz not null default now();
alter table trialbed.agents add column named_at timestamptz not null default now();
alter table trialbed.schedules add column named_at timestamptz not null default now();
