-- What a batch is asked every second while it runs, without reading the summaries of its trials. A summary is of type json, of which no operator can be asked where it holds
-- an escape such as \u0000, so it is read as the text that it is.
alter table trialbed.attempts
  add column pass text generated always as (substring(summary::text from '"pass":"(pass|fail|undetermined)"')) stored;

-- Until when a trial waits for the rate limit of a model, as its worker foresees it: what a worker that dies leaves here is over by itself.
alter table trialbed.trials add column model_wait_until timestamptz;
