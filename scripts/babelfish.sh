#!/usr/bin/env bash
# Starts Babelfish, a PostgreSQL that speaks T-SQL over TDS, and has the tests of SQL Server's collectors judge it, or runs
# a command with its connection string in MUSTER_TEST_SQLSERVER.
#
#   BABELFISH=/opt/babelfish/4.2 scripts/babelfish.sh
#   BABELFISH=/opt/babelfish/4.2 scripts/babelfish.sh COMMAND…
#
# BABELFISH is where it was installed (bin/initdb, …): there is no package of it, and CI does not need it. What it proves,
# and what not, is in docs/engines.md. The server listens on 127.0.0.1 alone, on free ports, and is gone afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

refuse() {
  echo "$0: $1" >&2
  exit 2
}
[ -n "${BABELFISH:-}" ] || refuse "BABELFISH has to name the directory of an installed Babelfish (docs/engines.md)"
for program in initdb pg_ctl psql pg_config; do
  [ -x "$BABELFISH/bin/$program" ] || refuse "$BABELFISH has no bin/$program"
done
[ -e "$("$BABELFISH/bin/pg_config" --sharedir)/extension/babelfishpg_tds.control" ] ||
  refuse "$BABELFISH is a PostgreSQL without the extension babelfishpg_tds"
[ $# -gt 0 ] || set -- go test -count=1 -v -run '^TestARealServer' ./internal/intake/measure/sqlserver ./internal/assessment/sqlserver

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
home=$(mktemp -d)
trap '"$BABELFISH/bin/pg_ctl" -D "$home/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$home"' EXIT
trap 'exit 130' INT TERM
port=$(free_port)
tds=$(free_port)

# TDS knows no SCRAM, and sends the password as it is: hence the trust of local sockets and md5.
"$BABELFISH/bin/initdb" -D "$home/data" -U postgres -E UTF8 --locale=C --auth-local=trust --auth-host=md5 >"$home/initdb.log" ||
  { cat "$home/initdb.log" >&2; exit 1; }
cat >>"$home/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$home'
password_encryption = md5
shared_preload_libraries = 'babelfishpg_tds'
babelfishpg_tds.listen_addresses = '127.0.0.1'
babelfishpg_tds.port = $tds
CONF
"$BABELFISH/bin/pg_ctl" -D "$home/data" -l "$home/log" -w start >/dev/null || { cat "$home/log" >&2; exit 1; }
sql() { # DATABASE STATEMENT…
  local database=$1 statement
  shift
  for statement; do
    "$BABELFISH/bin/psql" -X -q -v ON_ERROR_STOP=1 -h "$home" -p "$port" -U postgres -d "$database" -c "$statement" >/dev/null
  done
}
sql postgres "CREATE ROLE judge LOGIN SUPERUSER CREATEDB CREATEROLE PASSWORD 'judge'" "CREATE DATABASE babelfish OWNER judge" \
  "ALTER SYSTEM SET babelfishpg_tsql.database_name = 'babelfish'"
sql babelfish "CREATE EXTENSION babelfishpg_tds CASCADE" "GRANT ALL ON SCHEMA sys TO judge" \
  "ALTER DATABASE babelfish SET babelfishpg_tsql.migration_mode = 'multi-db'" "SELECT pg_reload_conf()" \
  "CALL sys.initialize_babelfish('judge')"

export MUSTER_TEST_SQLSERVER="sqlserver://judge:judge@127.0.0.1:$tds?database=master&encrypt=disable"
status=0
"$@" || status=$?
exit $status
