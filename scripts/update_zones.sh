#!/usr/bin/env bash
# Usage: scripts/update_zones.sh FILE
# Makes internal/process/zones/zoneinfo.zip of FILE, the tzdata.zi of a release of the IANA's time
# zone database. Debian's package tzdata has it as /usr/share/zoneinfo/tzdata.zi.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
head -1 "$1" | grep -q '^# version ' || { echo "$1 names no release in its first line" >&2; exit 1; }
cp "$1" "$(dirname "$0")/../internal/process/zones/testdata/tzdata.zi"
cd "$(dirname "$0")/.."
go test ./internal/process/zones -run TestTheEmbeddedZonesMatchTheirSource -update
head -1 internal/process/zones/testdata/tzdata.zi
echo "Set 'released' and 'knownRules' in internal/process/zones/zones.go, then run: go test ./internal/process/zones"
