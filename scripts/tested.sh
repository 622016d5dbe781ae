#!/usr/bin/env bash
# Prints the packages with tests, in two parts, of which `make test` gives one to the race
# detector:
#
#   scripts/tested.sh raced   packages whose own code starts goroutines or guards memory that
#                             several of them use, for there the detector finds something
#   scripts/tested.sh plain   all others. First the heavy ones: tests that start whole programs, fill
#                             the demo, set pages or hash passwords compute at least twice as long
#                             with the detector. Then the wide ones: they are made of most of
#                             Muster, or of libraries as large, all of which would be compiled a
#                             second time for them.
#
# make test-all tests all of them with the detector.
set -euo pipefail
cd "$(dirname "$0")/.."

heavy=(e2e internal/httpapi internal/measurements/pgstore handlers commands internal/accounts internal/operate/demo internal/report/pdf)
wide=(internal/cli/serve internal/notify internal/agent internal/intake/monitor internal/intake/collect
  internal/operate/fleetfile internal/httpapi/tiles internal/assessment/inspection internal/measurements/clickhouse
  internal/files/blobs internal/report/pdf/typeset internal/process/telemetry/export)
shares='^[[:space:]]*go [a-z]|\.Go\(|sync\.(RW)?(Mutex|Map|Cond)|atomic\.[A-Z]'

first=("${heavy[@]}" "${wide[@]}")

is_first() { [[ " ${first[*]} " == *" $1 "* ]]; }
# own FOLDER lists its code without its tests.
own() { find "$1" -maxdepth 1 -name '*.go' ! -name '*_test.go'; }
is_raced() { own "$1" | xargs -r grep -qE "$shares"; }

mapfile -t all < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | sed -n "s|^$PWD/||p")
for package in "${first[@]}"; do
  [[ " ${all[*]} " == *" $package "* ]] || {
    echo "$0: $package has no tests" >&2
    exit 1
  }
done
case ${1:-} in
raced) for package in "${all[@]}"; do is_first "$package" || ! is_raced "$package" || echo "./$package"; done ;;
plain)
  printf './%s\n' "${first[@]}"
  for package in "${all[@]}"; do is_first "$package" || is_raced "$package" || echo "./$package"; done
  ;;
*)
  echo "usage: scripts/tested.sh raced|plain" >&2
  exit 2
  ;;
esac
