-- Tags, severity and quarantine of the batch's cases, by case: they are no part of a case's hash, so that its document may be older than they are. Null: as the documents say.
alter table trialbed.batches add column labels jsonb;
