-- What the mail server knows of accounts. The test bed writes here and nowhere else on the server; Postfix and Dovecot only read.
CREATE TABLE trialbed_accounts (
  -- A name, "@", and the domain of the account.
  login text PRIMARY KEY,
  -- A password scheme of Dovecot with its hash, such as {SSHA512}...
  password text NOT NULL,
  -- The account sends from and to this domain and those below it, and reads what has come to them.
  domain text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  -- Until when it may be there at the latest.
  until timestamptz NOT NULL
);
CREATE INDEX trialbed_accounts_domain ON trialbed_accounts (domain);
