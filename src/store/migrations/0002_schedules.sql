-- Trials of before have no schedule but `none`, which is the absence of one and has no document.

create table trialbed.schedules (
  hash text primary key,
  name text not null,
  body json not null
);

alter table trialbed.trials add column schedule_hash text references trialbed.schedules;
alter table trialbed.trials add constraint trials_schedule_document check ((schedule = 'none') = (schedule_hash is null));
