#!/usr/bin/env bash
# Holds bin/muster to what is said of it: it needs nothing but the kernel, weighs at
# most 75 MB with the pages and the fonts of all scripts, is the same wherever it is built from the same commit, and
# NOTICES.md names all that it carries.
#
#   scripts/program.sh         after make build
#   LONG=1 scripts/program.sh  the same, and the pages built twice (make test-all)
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse HEAD)
version=$(git describe --tags --always --dirty) # the Makefile's version: a clone has fewer objects, and git shortens the commit further
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
holds() { # WHAT COMMAND…
  local what=$1
  shift
  if "$@"; then echo "ok - $what"; else
    echo "not ok - $what" >&2
    failed=1
  fi
}
# shellcheck disable=SC2317 # holds calls it
static() { [ "$(uname -s)" != Linux ] || ! ldd "$1" >/dev/null 2>&1; }
# built DIRECTORY builds the commit there, with the pages of this tree; the build cache
# is shared, so that little but linking is done again.
built() {
  mkdir -p "$1"
  git clone -q . "$1"
  git -C "$1" checkout -q "$commit"
  if [ -d web/dist/app ]; then cp -R web/dist/app "$1/web/dist/app"; fi
  make -s -C "$1" program VERSION="$version" >/dev/null
}
# shellcheck disable=SC2317 # likewise
complete() { make -s notices && git diff --exit-code --stat -- NOTICES.md; }
pages() { (cd web && npx vite build --logLevel error --emptyOutDir --outDir "$1"); }

size=$(wc -c <bin/muster)
holds "bin/muster is linked to no library" static bin/muster
holds "bin/muster has $size bytes, at most 75,000,000" [ "$size" -le 75000000 ]
built "$work/deeper/below/there"
one=bin/muster
if [ -n "$(git status --porcelain)" ]; then # bin/muster is of more than the commit
  one=$work/here/bin/muster
  built "$work/here"
fi
holds "two builds of a commit are the same" cmp "$one" "$work/deeper/below/there/bin/muster"
if command -v npm >/dev/null; then
  holds "NOTICES.md names what is carried" complete
  if [ -n "${LONG:-}" ]; then
    pages "$work/pages-1"
    pages "$work/pages-2"
    holds "two builds of the pages are the same" diff -r "$work/pages-1" "$work/pages-2"
  fi
fi
exit "$failed"
