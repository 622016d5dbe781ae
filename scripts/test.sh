#!/usr/bin/env bash
# Runs the parts of `make test`, each with its time, and says at the end which took how
# long, which tests were the slowest, and what was skipped for want of what
# (scripts/testreport). A part that fails does not keep the others from running.
#
#   scripts/test.sh RESULTS      RESULTS is a directory, emptied first
#
# The Go tests wait a good part of their time, and so do those of the pages: these run at
# once, behind the linters, which do nothing but compute. What the pages' tests print of
# times is of a machine that does something else, too; none is held against it.
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

{
  part lint make --no-print-directory lint
  part web make --no-print-directory test-unit
  part browser make --no-print-directory test-browser
} >"$results/beside.log" 2>&1 &
part go make --no-print-directory test-go
wait
cat "$results/beside.log"
part first-report bash scripts/first_report.sh
part program bash scripts/program.sh

go run ./scripts/testreport "$results"
awk '$3 != 0 { failed = 1 } END { exit failed }' "$results/parts"
