#!/bin/bash
# Archives the write-ahead log as it is written, so that a restore reaches the last moments before a disaster. A
# replication slot makes the server keep what was not received yet, up to 10 GB: a receiver that is down for long must
# not fill the disk of the server. It ends when it loses the server; the restart policy of the container starts it again.
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
slot=reseller_backup
# PostgreSQL's tools read no file that contains only a password.
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PGPASSWORD
fi
sql() { psql --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 --no-password --dbname postgres "$@"; }

sql --command "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'" --command 'SELECT pg_reload_conf()' > /dev/null

# The server no longer has the log of a lost slot, so this archive cannot be continued. It is moved away together with the
# complete backups, which need it: restore.sh reads the archive beside a backup. The folder gets its name last, so that a
# script that is interrupted here does the rest at its next start.
moving=$folder/before.partial
status=$(sql --command "SELECT wal_status FROM pg_replication_slots WHERE slot_name = '$slot'")
if [ "$status" = lost ]; then
  mkdir -p "$moving"
  for each in "$folder"/backup-*Z "$folder/wal"; do
    if [ -e "$each" ]; then mv "$each" "$moving/"; fi
  done
  pg_receivewal --slot="$slot" --drop-slot --no-password
fi
if [ -d "$moving" ]; then
  former=$folder/before-$(date --utc +%Y-%m-%dT%H-%M-%SZ)
  mv "$moving" "$former"
  echo "The server no longer has the log that was not received. The archive and its backups are now in $former." >&2
  echo "A new archive begins. It needs a new base backup: make one now." >&2
fi

mkdir -p "$folder/wal"
pg_receivewal --slot="$slot" --create-slot --if-not-exists --no-password
# A server that vanished is noticed after 30 seconds: a status message to it every ten seconds gets no answer.
exec pg_receivewal --dbname='tcp_user_timeout=30000' --slot="$slot" --directory="$folder/wal" --synchronous --no-loop \
  --no-password
