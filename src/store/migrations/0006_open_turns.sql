-- A turn that an agent's own server works on and will be asked for: what another worker needs to go on asking.
create table trialbed.open_turns (
  trial text collate "C" not null,
  attempt integer not null,
  -- How many messages the agent was sent, this one included.
  asked integer not null,
  status text not null,
  primary key (trial, attempt),
  foreign key (trial, attempt) references trialbed.attempts
);
