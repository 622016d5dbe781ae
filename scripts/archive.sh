#!/usr/bin/env bash
# Packs bin/muster with what it is installed by into one archive, beside it the list of
# what the program is made of (CycloneDX), the chart, the container image, and the
# checksums of all that make kit made. The same commit gives the same bytes, whoever packs
# it and wherever; those of the image are the machine's certificate authorities, too.
#
#   SBOM=cyclonedx-gomod SOURCE_DATE_EPOCH=… scripts/archive.sh VERSION TAG COMMIT
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
name=muster-$version-$(go env GOOS)-$(go env GOARCH)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir "$tree/$name"
# The commit's own files, and none that lie about. What is Go in kit makes and tests it.
git archive HEAD README.md CHANGELOG.md NOTICES.md docs kit ':(exclude,glob)kit/**/*.go' ':(exclude,glob)kit/**/go.*' | tar -x -C "$tree/$name"
install -m 0755 bin/muster "$tree/$name/muster"
same=(--sort=name --owner=0 --group=0 --numeric-owner "--mtime=@$SOURCE_DATE_EPOCH" "--mode=u=rwX,go=rX" --format=ustar)
tar "${same[@]}" -C "$tree" -c "$name" | gzip -9n >"bin/$name.tar.gz"
bash scripts/chart.sh "$version" "bin/muster-chart-$version.tgz"
bash scripts/image.sh "$2" "$3" "$tree/image" >"$tree/said"
tar "${same[@]}" -C "$tree/image" -cf "bin/muster-image-$version-linux-$(go env GOARCH).oci.tar" blobs index.json oci-layout

"$SBOM" bin -json -std -noserial -notimestamp -version "$version" -output "bin/$name.cdx.json" bin/muster 2>"$tree/said" ||
  { cat "$tree/said" >&2; exit 1; }
cd bin
find . -maxdepth 1 -type f -name '*muster*' \( -name '*.tar.gz' -o -name '*.tgz' -o -name '*.oci.tar' -o -name '*.cdx.json' -o -name '*.deb' -o -name '*.rpm' \) -printf '%P\n' |
  LC_ALL=C sort | xargs sha256sum >SHA256SUMS
