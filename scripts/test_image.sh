#!/usr/bin/env bash
# Makes the image twice, which are the same bytes, has other tools judge it (umoci, which
# reads the configuration as an engine does, and skopeo), and, as root, starts it: in an
# empty directory, as the account that the image names, and by runc where that is installed.
#
#   scripts/test_image.sh        after make build
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "test_image: $*" >&2; exit 1; }
export SOURCE_DATE_EPOCH=1767225600
missing=()
for tool in skopeo umoci; do command -v $tool >/dev/null || missing+=("$tool"); done
if [ "${#missing[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
  missing=()
fi
[ "${#missing[@]}" = 0 ] || fail "install ${missing[*]}: nothing of ours can say whether the image is one"
digest=$(bash scripts/image.sh v1.0.0 abc "$dir/image")
[ "$digest" = "$(bash scripts/image.sh v1.0.0 abc "$dir/again")" ] || fail "the same image twice is not the same"
diff -r "$dir/image" "$dir/again" || fail "the same image twice is not the same"

# Every blob is what its name says, and each names the next.
(cd "$dir/image/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum --quiet -c -)
python3 - "$dir" "$digest" <<'PYTHON'
import json, re, shlex, sys
dir, digest = sys.argv[1:]
blob = lambda d: f"{dir}/image/blobs/{d['digest'].replace(':', '/')}"
index = json.load(open(f"{dir}/image/index.json"))
[entry] = index["manifests"]
assert entry["digest"] == digest and entry["platform"]["os"] == "linux", entry
assert json.load(open(f"{dir}/image/oci-layout")) == {"imageLayoutVersion": "1.0.0"}
manifest = json.load(open(blob(entry)))
[layer] = manifest["layers"]
assert (manifest["mediaType"], manifest["config"]["mediaType"], layer["mediaType"]) == tuple(
    "application/vnd.oci.image." + kind for kind in ("manifest.v1+json", "config.v1+json", "layer.v1.tar+gzip")), manifest
config = json.load(open(blob(manifest["config"])))["config"]
labels = {"title": "Muster", "version": "v1.0.0", "revision": "abc"}
assert config["Labels"] == {"org.opencontainers.image." + k: v for k, v in labels.items()}, config
assert config["User"] == "65532:65532" and list(config["ExposedPorts"]) == ["8080/tcp"], config
print(blob(layer), file=open(f"{dir}/layer", "w"))
print("\n".join(config["Env"]), file=open(f"{dir}/env", "w"))
# The Containerfile ends with the same.
last = open("kit/image/Containerfile").read().split("FROM scratch\n")[1]
said = lambda word: re.search(rf"^{word} (.*)$", last, re.M)[1]
assert json.loads(said("ENTRYPOINT")) == config["Entrypoint"] and json.loads(said("CMD")) == config["Cmd"], last
assert shlex.split(said("ENV")) == config["Env"], last
assert said("USER") == config["User"] and said("WORKDIR") == config["WorkingDir"] and said("EXPOSE") == "8080/tcp", last
PYTHON
skopeo copy --quiet "oci:$dir/image:v1.0.0" "dir:$dir/copied" || fail "skopeo does not copy it"
[ "sha256:$(sha256sum <"$dir/copied/manifest.json" | cut -d ' ' -f 1)" = "$digest" ] || fail "skopeo copies another image"
unpacked=(umoci unpack --image "$dir/image:v1.0.0" "$dir/bundle")
[ "$(id -u)" = 0 ] || unpacked+=(--rootless)
"${unpacked[@]}" >"$dir/said" 2>&1 || fail "umoci: $(cat "$dir/said")"
cmp bin/muster "$dir/bundle/rootfs/usr/bin/muster" || fail "umoci unpacks another program"
mkdir "$dir/root"
tar -xzf "$(cat "$dir/layer")" -C "$dir/root" --numeric-owner
cmp bin/muster "$dir/root/usr/bin/muster" || fail "another program is in it"
[ -z "$(find "$dir/root" -perm /6000)" ] || fail "something in it gives rights"
if [ "$(id -u)" != 0 ]; then
  echo "image: $digest, twice; not started: chroot is root's"
  exit 0
fi
chmod 755 "$dir"
mapfile -t environment <"$dir/env"
inside() { timeout 60 env -i "${environment[@]}" "$(command -v chroot)" --userspec=65532:65532 "$dir/root" /usr/bin/muster "$@" >"$dir/said" 2>&1; }
inside --version || fail "$(cat "$dir/said")"
if inside serve; then
  fail "without a database it runs"
fi
grep -q 'no PostgreSQL 15 or newer was found (none is installed): .* give a server with --database-url' "$dir/said" || fail "$(cat "$dir/said")"
engine='no runc, so no container'
if command -v runc >/dev/null; then
  python3 - "$dir/bundle/config.json" <<'PYTHON'
import json, sys
bundle = json.load(open(sys.argv[1]))
bundle["process"].update(terminal=False, args=["/usr/bin/muster", "--version"])
json.dump(bundle, open(sys.argv[1], "w"))
PYTHON
  runc --root "$dir/runc" run --bundle "$dir/bundle" "muster-$$" >"$dir/said" 2>&1 || fail "runc: $(cat "$dir/said")"
  [ "$(cat "$dir/said")" = "$(bin/muster --version)" ] || fail "runc: $(cat "$dir/said")"
  engine='started by runc'
fi
echo "image: $digest, twice; taken by skopeo and umoci; started as 65532, says what it needs; $engine"
