# shellcheck shell=bash
# Sourced: fetches the programs of PostgreSQL servers, any major version, as npm
# packages into .cache/. Whatever is there is not fetched again: without a network it
# goes by that.

for tool in npm node tar; do
  command -v "$tool" >/dev/null || {
    echo "$0 needs $tool" >&2
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

programs_of() { # MAJOR: prints the directory that holds its programs
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
  if [ ! -d "$unpacked/$major" ]; then
    mkdir "$unpacked/$major"
    tar -xzf "$archive" -C "$unpacked/$major" --strip-components 1
    # npm archives hold no symbolic links; the package's own script puts them back.
    (cd "$unpacked/$major" && node scripts/hydrate-symlinks.js)
    chmod -R a+rX "$unpacked/$major"
  fi
  echo "$unpacked/$major/native/bin"
}
