#!/bin/sh
# Creates Temporal's two databases, or brings them to the version of this image. May run any number of times.
# The password comes from SQL_PASSWORD, so that it stands on no command line.
set -eu

for store in temporal:temporal temporal_visibility:visibility; do
  database=${store%%:*}
  folder=${store##*:}
  tool="temporal-sql-tool --plugin postgres12_pgx --endpoint $SQL_HOST --port $SQL_PORT --user $SQL_USER --database $database"
  $tool create-database --defaultdb postgres
  $tool setup-schema --version 0.0
  $tool update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
