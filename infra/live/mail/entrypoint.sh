#!/bin/bash
# Starts the database of accounts, Dovecot and Postfix. TRIALBED_MAIL_ADMIN_PASSWORD is the password of the database's role `admin`, by which the test bed makes accounts.
set -eu

stop() {
  postfix stop || true
  dovecot stop || true
  pg_ctlcluster 15 main stop -m fast || true
  exit 0
}
trap stop TERM INT

# A container that was killed leaves these behind.
rm -f /var/spool/postfix/pid/* /run/dovecot/master.pid
pg_ctlcluster 15 main start || { rm -f /var/lib/postgresql/15/main/postmaster.pid; pg_ctlcluster 15 main start; }
su postgres -c "psql -q -v ON_ERROR_STOP=1 mail" <<SQL
DO \$\$ BEGIN CREATE ROLE admin LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
ALTER ROLE admin PASSWORD '${TRIALBED_MAIL_ADMIN_PASSWORD:?}';
GRANT SELECT, INSERT, UPDATE, DELETE ON trialbed_accounts TO admin;
SQL
dovecot
postfix set-permissions 2>/dev/null || true
postfix start-fg &
wait $!
