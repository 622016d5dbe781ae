#!/usr/bin/env bash
# What `go test -exec` runs a test binary with: the packages whose tests fill the machine run alone, one after
# the other, and the others beside each other. Three of the former took a fifth more processor time at once than
# one after the other, on a virtual machine on which each process costs much. Linking does not wait for a turn.
#
#   TURN=FILE LONGEST="./e2e …" scripts/turn.sh BINARY [ARGUMENT…]
set -euo pipefail
unset GOGC # the tests collect garbage as the program does
command -v flock >/dev/null || exec "$@"
root=$(dirname "$(dirname "$0")")
for package in $LONGEST; do
  # A test runs in the folder of its package.
  if [ "$PWD" -ef "$root/$package" ]; then exec flock --close --exclusive "$TURN" "$@"; fi
done
exec flock --close --shared "$TURN" "$@"
