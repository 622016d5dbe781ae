#!/usr/bin/env bash
# Looks for known vulnerabilities in bin/muster and in the npm packages that make the pages.
# Exits 1 if there is one, or if a scan cannot be trusted.
#
#   GOVULNCHECK=… scripts/vulnerabilities.sh [BINARY]     after make build
#
# The Go database is the newest golang.org/x/vulndb of the module proxy, which is also the
# only host that is asked. The npm packages are checked where npm's registry answers an audit.
# Before each scan a program or lock with a known vulnerability has to be found vulnerable:
# a scanner that finds nothing anywhere, or an old database, must not look like a clean result.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-bin/muster}")
lock=$PWD/web/package-lock.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "vulnerabilities: $*" >&2
  exit 1
}

database() { # prints the directory of the newest database
  cd "$work" && go mod download -json golang.org/x/vulndb@latest | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'
}
# scan BINARY exits 0 without findings and 3 with some.
scan() { "$GOVULNCHECK" -db "file://$osv" -mode binary "$1"; }

osv=$(database)/data/osv
[ -d "$osv" ] || fail "the module proxy has no golang.org/x/vulndb"
day=$(sed -n 's/.*@v0\.0\.0-\([0-9]\{8\}\)[0-9]\{6\}-.*/\1/p' <<<"$osv")
[ $(($(date +%s) - $(date -d "$day" +%s))) -le $((60 * 86400)) ] || fail "the newest database of the module proxy is of $day: too old to trust"
echo "== Go: the database of $day"

# GO-2022-1059, in golang.org/x/text before 0.3.8.
mkdir "$work/known"
(
  cd "$work/known"
  printf 'module known\n\ngo 1.26.0\n\nrequire golang.org/x/text v0.3.7\n' >go.mod
  printf 'package main\n\nimport "golang.org/x/text/language"\n\nfunc main() { _, _, _ = language.ParseAcceptLanguage("") }\n' >main.go
  CGO_ENABLED=0 GOFLAGS=-mod=mod go build -ldflags '-s -w' -o known .
)
scan "$work/known/known" >"$work/said" && fail "the scan finds nothing in a program with GO-2022-1059: do not trust it"
grep -q GO-2022-1059 "$work/said" || fail "the scan fails: $(cat "$work/said")"

failed=0
scan "$binary" || failed=1

# audit LOCK says "clean", "vulnerable" or "unanswered"; npm's own words go to $work/audit.
audit() {
  mkdir -p "$work/npm" && cp "$1" "$work/npm/package-lock.json"
  node -e 'const fs = require("fs"), root = JSON.parse(fs.readFileSync(process.argv[1])).packages[""]; fs.writeFileSync(process.argv[2], JSON.stringify(root))' "$1" "$work/npm/package.json"
  (cd "$work/npm" && npm audit --package-lock-only --json >"$work/audit" 2>/dev/null) || true
  node -e 'const said = JSON.parse(require("fs").readFileSync(process.argv[1]) + "" || "{}"); console.log(!said.auditReportVersion ? "unanswered" : said.metadata.vulnerabilities.total ? "vulnerable" : "clean")' "$work/audit"
}
if ! command -v npm >/dev/null; then
  echo "NOT CHECKED: npm's packages: npm is missing"
else
  echo "== npm: web/package-lock.json"
  # CVE-2021-23337 and others, in lodash before 4.17.21.
  printf '%s' '{"name":"known","lockfileVersion":3,"packages":{"":{"name":"known","dependencies":{"lodash":"4.17.15"}},"node_modules/lodash":{"version":"4.17.15"}}}' >"$work/known.json"
  case $(audit "$work/known.json") in
  unanswered) echo "NOT CHECKED: npm's packages: the registry of npm does not answer an audit ($(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1]) + "" || "{}").message ?? "it says nothing"' "$work/audit"))" ;;
  clean) fail "npm's audit finds nothing in lodash 4.17.15: do not trust it" ;;
  *) case $(audit "$lock") in
    clean) echo "No vulnerabilities found." ;;
    vulnerable)
      node -e 'for (const v of Object.values(JSON.parse(require("fs").readFileSync(process.argv[1])).vulnerabilities)) console.log(v.name, v.severity, v.via.map((w) => w.url ?? w).join(" "))' "$work/audit"
      failed=1
      ;;
    *) fail "the registry of npm stopped answering: $(cat "$work/audit")" ;;
    esac ;;
  esac
fi
exit "$failed"
