-- Who may use the operators' console: tokens, links that sign in once, and the sessions that came from either. Secrets are stored nowhere.
create table trialbed.console_keys (
  name text collate "C" primary key,
  kind text not null check (kind in ('token', 'link', 'session')),
  -- sha256 of the secret, in hex.
  digest text not null,
  holder text not null,
  roles text[] not null,
  -- The token that a session came from: it ends with it.
  parent text collate "C" references trialbed.console_keys,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);

create index console_keys_by_parent on trialbed.console_keys (parent) where parent is not null;

-- By what reason an attempt ended as it did: the digest that its summary carries. See 0008 for why it is read as text.
alter table trialbed.attempts
  add column reason text generated always as (substring(summary::text from '"reason":"([0-9a-f]{32})"')) stored;
