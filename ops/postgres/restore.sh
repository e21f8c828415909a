#!/bin/bash
# restore.sh BACKUP [TIME]: puts a backup of back-up.sh into the empty data folder of the server. At its next start the
# server recovers what is in the archive of the write-ahead log, up to TIME if it is given, and begins a new timeline.
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
backup=$folder/${1:?name of a backup, such as backup-2030-01-31T02-00-00Z}
until=${2:-}

if [ -n "$(ls -A "$PGDATA" 2> /dev/null)" ]; then
  echo "$PGDATA is not empty. A restore replaces nothing: move the old data away, and keep them." >&2
  exit 1
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
tar -xzf "$backup/base.tar.gz" -C "$PGDATA"
tar -xzf "$backup/pg_wal.tar.gz" -C "$PGDATA/pg_wal"
pg_verifybackup --manifest-path="$backup/backup_manifest" "$PGDATA"
# The receiver gives the file that it writes to the ending .partial.
cat >> "$PGDATA/postgresql.auto.conf" << END
restore_command = 'cp $folder/wal/%f "%p" || cp $folder/wal/%f.partial "%p"'
recovery_target_timeline = 'latest'
recovery_target_time = '$until'
recovery_target_action = 'promote'
END
touch "$PGDATA/recovery.signal"
if [ "$(id -u)" = 0 ]; then chown -R postgres:postgres "$PGDATA"; fi
echo "$PGDATA is restored from $backup."
