#!/bin/sh
# Installs and starts PostgreSQL 17 with pgvector in a folder of its own, for tests and benchmarks against a real server on a
# machine without containers. Debian 12 has no pgvector, Debian 13 (trixie) has.
#
#   scripts/install-postgres.sh [FOLDER] [PORT]     prints the DATABASE_URL as its last line; may be run again
set -eu

folder=${1:-/var/tmp/quadrivium-postgres}
port=${2:-54329}

fail() {
  echo "install-postgres: $1" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'must be run as root: it uses debootstrap and chroot.'
command -v apt-get >/dev/null || fail 'needs a Debian or Ubuntu machine (apt-get). Elsewhere, run the image pgvector/pgvector:pg17.'

if [ ! -e "$folder/etc/postgresql/17/main/postgresql.conf" ]; then
  apt-get update >&2 || fail 'apt-get update failed.'
  # The mirror this machine already uses.
  mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 2>/dev/null | awk '$2 == "Debian" && !/security/ { print $1; exit }')
  [ -n "$mirror" ] || fail 'found no Debian mirror in the apt sources of this machine.'
  command -v debootstrap >/dev/null || apt-get install -y debootstrap >&2 || fail 'could not install debootstrap.'
  rm -rf "$folder"
  debootstrap --variant=minbase --include=postgresql-17-pgvector,locales trixie "$folder" "$mirror" >&2 || fail "debootstrap from $mirror failed."
fi

mountpoint -q "$folder/proc" || mount -t proc proc "$folder/proc"
mkdir -p "$folder/dev/shm"
mountpoint -q "$folder/dev/shm" || mount -t tmpfs tmpfs "$folder/dev/shm"

sed -i "s/^port = .*/port = $port/" "$folder/etc/postgresql/17/main/postgresql.conf"
chroot "$folder" pg_lsclusters -h | grep -q online || chroot "$folder" pg_ctlcluster 17 main start || fail 'the server did not start.'

psql_as_postgres() {
  chroot "$folder" su postgres -c "psql --quiet --no-psqlrc --tuples-only --no-align --set ON_ERROR_STOP=1 --port $port"
}
psql_as_postgres <<'SQL' || fail "the server on port $port does not answer."
select 'create role quadrivium superuser login password ''quadrivium''' where not exists (select from pg_roles where rolname = 'quadrivium') \gexec
select 'create database quadrivium owner quadrivium' where not exists (select from pg_database where datname = 'quadrivium') \gexec
SQL

echo "postgres://quadrivium:quadrivium@127.0.0.1:$port/quadrivium"
