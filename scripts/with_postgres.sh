#!/usr/bin/env bash
# Runs a command with further major versions of PostgreSQL for the tests to watch
# (internal/testing/pgtest, TEST_POSTGRES_PROGRAMS).
#
#   scripts/with_postgres.sh 13 18 go test ./internal/intake/monitor
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/postgres_programs.sh
. scripts/postgres_programs.sh

directories=()
while [[ ${1:-} =~ ^[0-9]+$ ]]; do
  directories+=("$(programs_of "$1")")
  shift
done
if [ "${#directories[@]}" -eq 0 ] || [ $# -eq 0 ]; then
  echo "usage: scripts/with_postgres.sh MAJOR… COMMAND…" >&2
  exit 2
fi
TEST_POSTGRES_PROGRAMS=$(IFS=: && echo "${directories[*]}")
export TEST_POSTGRES_PROGRAMS
"$@"
