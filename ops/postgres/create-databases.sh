#!/bin/bash
# Runs once, when the PostgreSQL container creates its data folder: one role and database for the product, and one role
# for Temporal, which creates its two databases itself. Neither role can read the databases of the other.
set -euo pipefail

database_password=$(cat "$DATABASE_PASSWORD_FILE")

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set reseller_password="$database_password" --set temporal_password="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE reseller LOGIN PASSWORD :'reseller_password';
CREATE DATABASE reseller OWNER reseller;
REVOKE CONNECT ON DATABASE reseller FROM PUBLIC;
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'temporal_password';
SQL
