-- Rubrics as their files said. Of one version of a suite's rubric there is one text.
create table trialbed.rubrics (
  suite text not null,
  name text not null,
  version text not null,
  digest text collate "C" not null,
  body json not null,
  -- What is asked of a judge before it counts. It scores nothing and may change without another version.
  calibration json not null,
  seen_at timestamptz not null,
  primary key (suite, name, version)
);
create index rubrics_digest on trialbed.rubrics (digest);

-- What may be read together: one rubric's contents, one model, asked in one way.
create table trialbed.judge_series (
  id text collate "C" primary key,
  rubric text not null,
  version text not null,
  rubric_digest text collate "C" not null,
  route text not null,
  -- The model and how it is asked.
  judge json not null,
  prompt text not null,
  began_at timestamptz not null
);
create index judge_series_digest on trialbed.judge_series (rubric_digest);

-- What a model said of an attempt.
create table trialbed.judgements (
  series text collate "C" not null references trialbed.judge_series,
  trial text collate "C" not null,
  attempt integer not null,
  -- Null: it gave none that the rubric has.
  category text,
  reason json,
  -- Why there is none, and in which words.
  problem_code text,
  problem json,
  shortened boolean not null,
  input_tokens bigint,
  output_tokens bigint,
  cached_tokens bigint,
  reasoning_tokens bigint,
  price numeric,
  currency text,
  reported text,
  latency_ms double precision,
  tries integer not null,
  judged_at timestamptz not null,
  primary key (series, trial, attempt),
  foreign key (trial, attempt) references trialbed.attempts,
  check ((price is null) = (currency is null)),
  check ((category is null) = (problem_code is not null))
);
create index judgements_trial on trialbed.judgements (trial);

-- What people said of an attempt, by the same rubrics. A second word of the same person takes the place of the first.
create table trialbed.labels (
  trial text collate "C" not null,
  attempt integer not null,
  rubric text not null,
  version text not null,
  rubric_digest text collate "C" not null,
  rater text not null check (length(rater) between 1 and 100),
  category text not null,
  note json,
  labelled_at timestamptz not null,
  primary key (trial, attempt, rubric_digest, rater),
  foreign key (trial, attempt) references trialbed.attempts
);
create index labels_digest on trialbed.labels (rubric_digest);
