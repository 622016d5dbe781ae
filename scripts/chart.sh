#!/usr/bin/env bash
# Packs the chart of the last commit as `helm package` would, but the same bytes each time,
# and without helm. Versions of charts are SemVer: what follows the third number of ours is
# a pre-release (0.0.0~git…), or a build of it (1.2.3.4.gabc).
#
#   SOURCE_DATE_EPOCH=… scripts/chart.sh VERSION FILE
set -euo pipefail
cd "$(dirname "$0")/.."

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
version=$(sed -E 's/~git([0-9]+)\./-git\1-/; s/^([0-9]+\.[0-9]+\.[0-9]+)\./\1+/' <<<"$1")
git archive HEAD:kit/helm muster | tar -x -C "$tree"
rm -r "$tree/muster/ci" # .helmignore
sed -i "s/^version: .*/version: $version\nappVersion: $1/" "$tree/muster/Chart.yaml"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX --format=ustar \
  -C "$tree" -c muster | gzip -9n >"$2"
