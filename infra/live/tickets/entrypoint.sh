#!/bin/bash
# Starts the database and the web server. TRIALBED_MAIL_HOST and TRIALBED_MAIL_PORT name the mail server for Request Tracker's own mail.
# The operator's token is in /run/trialbed/token before the first request is answered.
set -eu

if [ -n "${TRIALBED_MAIL_HOST:-}" ]; then
  printf 'account default\nhost %s\nport %s\nfrom %s\ntls off\nauth off\ntimeout 10\n' \
    "$TRIALBED_MAIL_HOST" "${TRIALBED_MAIL_PORT:-25}" "${TRIALBED_MAIL_FROM:-desk@trialbed.test}" >/etc/msmtprc
fi

stop() {
  kill "$web" 2>/dev/null || true
  wait "$web" 2>/dev/null || true
  pg_ctlcluster 15 main stop -m fast || true
  exit 0
}

pg_ctlcluster 15 main start
install -d -m 700 /run/trialbed
perl /usr/local/lib/trialbed/mint-token.pl >/run/trialbed/token.partial
mv /run/trialbed/token.partial /run/trialbed/token

/usr/share/request-tracker5/libexec/rt-server --server Starlet --port 8080 --max-workers "${TRIALBED_RT_WORKERS:-2}" &
web=$!
trap stop TERM INT
wait "$web"
