#!/usr/bin/env bash
# Puts bin/muster into an image, an OCI layout in a directory, and prints its digest. It
# needs neither a daemon nor a registry (kit/image).
#
#   SOURCE_DATE_EPOCH=… scripts/image.sh VERSION COMMIT DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."

certificates=/etc/ssl/certs/ca-certificates.crt
[ -r "$certificates" ] || { echo "image: $certificates is missing: install ca-certificates" >&2; exit 1; }
maker=$(mktemp)
trap 'rm -f "$maker"' EXIT
CGO_ENABLED=0 GOOS='' GOARCH='' go build -trimpath -o "$maker" ./kit/image
"$maker" bin/muster "$certificates" "$3" "$1" "$2" "$(go env GOARCH)"
