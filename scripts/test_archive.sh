#!/usr/bin/env bash
# Builds the last commit in two directories of different names, from the pages that are
# built here, and holds program, archive and checksums together: they are the same bytes.
#
#   SBOM=cyclonedx-gomod scripts/test_archive.sh
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export SOURCE_DATE_EPOCH=1767225600
for place in here some/where/else; do
  git clone -q . "$dir/$place"
  cp -r web/dist/. "$dir/$place/web/dist/"
  make -s -C "$dir/$place" program VERSION=1.0.0
  (cd "$dir/$place" && bash scripts/archive.sh 1.0.0 v1.0.0 abc)
done
for file in muster SHA256SUMS; do
  cmp "$dir/here/bin/$file" "$dir/some/where/else/bin/$file" || {
    echo "test_archive: two builds of one commit are not the same ($file)" >&2
    exit 1
  }
done
cd "$dir/here/bin"
sha256sum --quiet -c SHA256SUMS
[ "$(wc -l <SHA256SUMS)" = 4 ]
grep -q '"name": "github.com/jackc/pgx/v5"' muster-*.cdx.json || {
  echo 'test_archive: the list of what it is made of lacks the driver of PostgreSQL' >&2
  exit 1
}
tar -xzf muster-*.tar.gz
cd muster-*-*/
[ -z "$(find . -name '*.go' -o -name 'go.*')" ] || { echo 'test_archive: sources of Go are in the archive' >&2; exit 1; }
[[ $(./muster --version) = *1.0.0* && -f kit/systemd/muster.service && ! -x NOTICES.md ]]
cd ..
echo "two builds of $(git -C .. rev-parse --short HEAD) are the same: $(sha256sum muster | cut -c1-16)…"
