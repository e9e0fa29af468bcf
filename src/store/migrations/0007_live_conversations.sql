-- For the sweeper: a terminated trial forgets nothing by itself.
create index conversation_live on trialbed.conversation (trial, attempt) where exact is not null;
