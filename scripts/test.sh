#!/usr/bin/env bash
# Runs the parts of `make test`, each with its time, and says at the end which took how
# long, which tests were the slowest, and what was skipped for want of what
# (scripts/testreport). A part that fails does not keep the others from running.
#
#   scripts/test.sh RESULTS      RESULTS is a directory, emptied first
#
# The tests of the whole program wait most of their time, and the other Go tests and the
# linters compute: these three run at once. The browser tests have the machine for
# themselves, because they measure how fast the pages are.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

results=$1
rm -rf "$results"
mkdir -p "$results"

part() { # NAME COMMAND…
  local name=$1 started=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "$name $((SECONDS - started)) $status" >>"$results/parts"
}

part lint make --no-print-directory lint >"$results/lint.log" 2>&1 &
part program make --no-print-directory test-program &
part packages make --no-print-directory test-packages
wait
cat "$results/lint.log"
part web make --no-print-directory test-unit
part browser make --no-print-directory test-browser
part first-report bash scripts/first_report.sh
part shipped bash scripts/program.sh

go run ./scripts/testreport "$results"
awk '$3 != 0 { failed = 1 } END { exit failed }' "$results/parts"
