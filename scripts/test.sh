#!/usr/bin/env bash
# Runs the parts of `make test`, each with its time, and says at the end which took how
# long, which tests were the slowest, and what was skipped for want of what
# (scripts/testreport). A part that fails does not keep the others from running.
#
#   scripts/test.sh RESULTS      RESULTS is a directory, emptied first
#
# Go's tests compute, and wait for the programs and databases that they start. The linters and the
# builds of scripts/program.sh only compute: they take what is left of the machine, from the
# beginning on. The browser tests begin when Go's are over, because some of them measure how fast
# the pages are.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# A launcher of Python versions takes longer than what it launches, and some tests run Python a hundred times.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || python=
if [ "$python" != "$(command -v python3)" ]; then PATH=$(dirname "$python"):$PATH; fi

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
  part lint nice -n 19 make --no-print-directory lint >"$results/lint.log" 2>&1
  part shipped nice -n 19 bash scripts/program.sh >"$results/shipped.log" 2>&1
} &
part go make --no-print-directory test-go
part browser make --no-print-directory -o build test-browser # make test has built it
part web make --no-print-directory test-unit
part first-report bash scripts/first_report.sh
wait
cat "$results/lint.log" "$results/shipped.log"

make --no-print-directory test-report RESULTS="$results"
awk '$3 != 0 { failed = 1 } END { exit failed }' "$results/parts"
