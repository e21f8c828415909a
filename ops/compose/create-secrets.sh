#!/bin/sh
# Creates the secrets of docker-compose.yml that are missing, each in a file of the folder secrets. Existing files stay
# as they are. The password at the service cannot be made here: write it into secrets/service_password. Optional secrets
# are made empty; .env.example says how to use them.
set -eu
umask 077

folder=${1:-secrets}
mkdir -p "$folder"
# Only the owner enters the folder. The files themselves are readable: in the containers, other users read them.
chmod 700 "$folder"

create() {
  [ -s "$folder/$1" ] && return
  printf '%s\n' "$2" > "$folder/$1"
  echo "created $folder/$1"
}

create postgres_password "$(openssl rand -hex 24)"
create database_password "$(openssl rand -hex 24)"
create grafana_password "$(openssl rand -hex 24)"
create encryption_keys "k1:$(openssl rand -base64 32)"
chmod 444 "$folder"/*
# These can only be filled in by hand; all but the password are optional.
for name in service_password service_webhook_secrets temporal_api_key otlp_headers otlp_traces_headers; do
  [ -e "$folder/$name" ] || : > "$folder/$name"
  chmod 644 "$folder/$name"
done
[ -s "$folder/service_password" ] || echo "now write the password at the service into $folder/service_password"
