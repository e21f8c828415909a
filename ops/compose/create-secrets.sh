#!/bin/sh
# Creates the secrets of docker-compose.yml that are missing, each in a file of the folder secrets. Existing files stay
# as they are. The password at the service cannot be made here: write it into secrets/service_password. Optional secrets
# are made empty; .env.example says how to use them.
set -eu
umask 077

if ! command -v openssl > /dev/null; then
  echo "openssl is missing; it makes the secrets. Install it, and run this again. Nothing was created." >&2
  exit 1
fi

folder=${1:-secrets}
mkdir -p "$folder"
# Only the owner enters the folder. The files themselves are readable: in the containers, other users read them.
chmod 700 "$folder"

# create NAME PREFIX COMMAND…: writes PREFIX and the output of COMMAND, and nothing if COMMAND fails.
create() {
  file=$folder/$1
  prefix=$2
  shift 2
  # An empty file, or one with the prefix alone, is a secret that could not be made.
  [ -s "$file" ] && [ "$(cat "$file")" != "$prefix" ] && return
  value=$("$@")
  rm -f "$file"
  printf '%s%s\n' "$prefix" "$value" > "$file"
  echo "created $file"
}

create postgres_password '' openssl rand -hex 24
create database_password '' openssl rand -hex 24
create grafana_password '' openssl rand -hex 24
create encryption_keys k1: openssl rand -base64 32
chmod 444 "$folder"/*
# These can only be filled in by hand; all but the password are optional.
for name in service_password service_webhook_secrets temporal_api_key otlp_headers otlp_traces_headers; do
  [ -e "$folder/$name" ] || : > "$folder/$name"
  chmod 644 "$folder/$name"
done
[ -s "$folder/service_password" ] || echo "now write the password at the service into $folder/service_password"
