#!/bin/bash
# Makes one base backup of all databases. The folder has its final name only when the backup is complete.
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
name=backup-$(date --utc +%Y-%m-%dT%H-%M-%SZ)
# PostgreSQL's tools read no file that contains only a password.
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PGPASSWORD
fi

rm -rf "$folder"/backup-*.partial
pg_basebackup --pgdata="$folder/$name.partial" --format=tar --gzip --wal-method=stream --checkpoint=fast \
  --manifest-checksums=SHA256 --no-password
mv "$folder/$name.partial" "$folder/$name"
echo "$folder/$name"
