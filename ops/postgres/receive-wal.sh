#!/bin/bash
# Archives the write-ahead log as it is written, so that a restore reaches the last moments before a disaster. A
# replication slot makes the server keep what was not received yet, up to 10 GB: a receiver that is down for long must
# not fill the disk of the server. After that, a new backup begins a new archive.
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
slot=reseller_backup

mkdir -p "$folder/wal"
psql --quiet --set ON_ERROR_STOP=1 --dbname postgres \
  --command "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'" --command 'SELECT pg_reload_conf()' > /dev/null
pg_receivewal --slot="$slot" --create-slot --if-not-exists --no-password
exec pg_receivewal --slot="$slot" --directory="$folder/wal" --synchronous --no-password
