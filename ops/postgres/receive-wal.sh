#!/bin/bash
# Archives the write-ahead log as it is written, so that a restore reaches the last moments before a disaster. A
# replication slot makes the server keep what was not received yet, up to 10 GB: a receiver that is down for long must
# not fill the disk of the server. After that, a new backup begins a new archive. It ends when it loses the server; the
# restart policy of the container starts it again.
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
slot=reseller_backup
# PostgreSQL's tools read no file that contains only a password.
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PGPASSWORD
fi

mkdir -p "$folder/wal"
psql --quiet --set ON_ERROR_STOP=1 --no-password --dbname postgres \
  --command "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'" --command 'SELECT pg_reload_conf()' > /dev/null
pg_receivewal --slot="$slot" --create-slot --if-not-exists --no-password
# A server that vanished is noticed after 30 seconds: a status message to it every ten seconds gets no answer.
exec pg_receivewal --dbname='tcp_user_timeout=30000' --slot="$slot" --directory="$folder/wal" --synchronous --no-loop \
  --no-password
