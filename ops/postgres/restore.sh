#!/bin/bash
# restore.sh BACKUP [TIME]: puts a backup of back-up.sh into the empty data folder of the server, with a copy of the
# write-ahead log that was archived beside it. At its next start the server recovers that log, up to TIME if it is
# given, begins a new timeline, and deletes the copy.
set -euo pipefail

backup=${BACKUP_FOLDER:-/backup}/${1:?name of a backup, such as backup-2030-01-31T02-00-00Z}
archive=$(dirname "$backup")/wal
until=${2:-}
until=${until/%Z/+00} # PostgreSQL does not take a Z here

if [ -n "$(ls -A "$PGDATA" 2> /dev/null)" ]; then
  echo "$PGDATA is not empty. A restore replaces nothing: move the old data away, and keep them." >&2
  exit 1
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
tar -xzf "$backup/base.tar.gz" -C "$PGDATA"
tar -xzf "$backup/pg_wal.tar.gz" -C "$PGDATA/pg_wal"
pg_verifybackup --manifest-path="$backup/backup_manifest" "$PGDATA"

# The server cannot read the archive itself: root received the files, and only their owner may read them. It needs the
# files from the first of the backup on, and the histories of the timelines.
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$PGDATA/backup_label")
mkdir "$PGDATA/archived_wal"
if [ -d "$archive" ]; then
  for file in "$archive"/*; do
    name=${file##*/}
    if [[ $name == *.history || ! $name < $first ]]; then cp "$file" "$PGDATA/archived_wal/$name"; fi
  done
  # A recovery ends at a gap, and the server reports no error. It reads the log in the backup, too, which comes first. A log
  # of 4 GB has 256 files of 16 MB.
  segments() {
    find "$@" -type f -printf '%f\n' | sed 's/\.partial$//' | { grep -E '^[0-9A-F]{24}$' || true; } | LC_ALL=C sort -u
  }
  if [ -z "$(segments "$PGDATA/archived_wal")" ]; then
    echo "$archive has no files since the backup: all later changes are lost." >&2
  fi
  before=
  for name in $(segments "$PGDATA/pg_wal" "$PGDATA/archived_wal"); do
    if [ "${before:0:8}" = "${name:0:8}" ] &&
      [ $((16#${name:8:8} * 256 + 16#${name:16})) -gt $((16#${before:8:8} * 256 + 16#${before:16} + 1)) ]; then
      echo "$archive has no files between $before and $name: the server recovers no change after the gap." >&2
    fi
    before=$name
  done
else
  echo "$archive does not exist: all changes after the backup are lost." >&2
fi
# The receiver gives the file that it writes to the ending .partial. A missing file ends the recovery. With the exit code
# 126 the server does not start: a file that is there and cannot be copied must not end the recovery, too.
cat >> "$PGDATA/postgresql.auto.conf" << END
restore_command = 'f=archived_wal/%f; [ -e \$f ] || f=\$f.partial; [ -e \$f ] || exit 1; cp \$f "%p" || exit 126'
recovery_end_command = 'rm -rf archived_wal'
recovery_target_timeline = 'latest'
recovery_target_time = '$until'
recovery_target_action = 'promote'
END
touch "$PGDATA/recovery.signal"
if [ "$(id -u)" = 0 ]; then chown -R postgres:postgres "$PGDATA"; fi
echo "$PGDATA is restored from $backup."
