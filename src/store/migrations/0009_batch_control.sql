-- A trial is settled when nothing more is to come of it; the number is its place in the order in which trials settled, from which whoever follows a batch reads on.
-- Null: it waits, is under way, or is to be run again.
create sequence trialbed.settled_order;
alter table trialbed.trials add column settled bigint;
update trialbed.trials set settled = nextval('trialbed.settled_order') where phase = 'done';

-- The workflow that has it among those in flight; null: nobody has launched it yet.
alter table trialbed.trials add column claimed_by text;

create index trials_unsettled on trialbed.trials (batch, ordinal) where settled is null;
create index trials_settled on trialbed.trials (batch, settled) where settled is not null;

-- What somebody has asked of a batch that runs.
alter table trialbed.batches add column hold text check (hold in ('paused', 'cancelling'));
-- Nothing is launched once models have cost so much; null: no limit.
alter table trialbed.batches add column max_cost json;
