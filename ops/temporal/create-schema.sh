#!/bin/sh
# Creates Temporal's two databases, or upgrades them to the version of this image. It may run repeatedly.
# The password comes from SQL_PASSWORD, so that no command line contains it.
set -eu

for store in temporal:temporal temporal_visibility:visibility; do
  database=${store%%:*}
  folder=${store##*:}
  tool="temporal-sql-tool --plugin postgres12_pgx --endpoint $SQL_HOST --port $SQL_PORT --user $SQL_USER --database $database"
  $tool create-database --defaultdb postgres
  $tool setup-schema --version 0.0
  $tool update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
