#!/usr/bin/env bash
# The first report, from request to proof, with curl and the binary only:
# starts the demo on a fresh data directory, signs in, requests a Security
# report, waits for Ready, downloads it, and then proves it five ways.
#
#   scripts/first_report.sh            starts bin/muster serve --demo by itself
#   KEEP=1 scripts/first_report.sh     keeps the data directory and says where
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/fresh_demo.sh
. scripts/fresh_demo.sh

passed=0
ok() {
  passed=$((passed + 1))
  echo "ok $passed - $1"
}
fail() {
  echo "not ok - $1" >&2
  exit 1
}
# field NAME reads the first string member of that name from the JSON on standard input.
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4; }
api() { curl -sS --fail-with-body --max-time 20 -b "$work/cookies" -c "$work/cookies" "$@"; }

email=$MUSTER_ADMIN_EMAIL
unset MUSTER_ADMIN_EMAIL MUSTER_ADMIN_PASSWORD_FILE # as make demo, whose first administrator comes by the link
started=$(date +%s%N)
serve --demo
ready_ms=$((($(date +%s%N) - started) / 1000000))
ok "a fresh demo is ready after $ready_ms ms"

token=$(sed -n "s|.*$base/setup#token=\([A-Za-z0-9_-]*\).*|\1|p" "$work/server.log" | head -n 1)
[ -n "$token" ] || fail "no link is printed"
link() { # as the page sends it
  api -H 'Content-Type: application/json' "$@" "$base/api/v1/setup" -d "{\"setupToken\":\"$token\",\"email\":\"$email\",
    \"name\":\"First\",\"password\":\"$(cat "$work/password")\",\"organizationName\":\"Demo\",\"demo\":true}"
}
link -o "$work/session.json"
grep -q '"authenticated":true' "$work/session.json" || fail "not signed in: $(cat "$work/session.json")"
ok "signed in with the printed link"
link -o "$work/again.json" 2>/dev/null || true
grep -q '"code":"setup_closed"' "$work/again.json" || fail "the link works twice: $(cat "$work/again.json")"
ok "the link signs in once"

for _ in $(seq 150); do
  api -o "$work/overview.json" "$base/api/v1/health-checks/overview"
  grep -q '"alerts":{"current":[1-9]' "$work/overview.json" && break
  sleep 0.1
done
grep -q '"alerts":{"current":[1-9]' "$work/overview.json" || fail "no alert is open: $(cat "$work/overview.json")"
ok "alerts are open"

api -H 'Content-Type: application/json' -D "$work/headers" -o "$work/created.json" \
  -d '{"kind":"Security"}' "$base/api/v1/reports"
id=$(tr -d '\r' <"$work/headers" | sed -n -E 's|^(content-)?location: /api/v1/reports/||Ip')
[ -n "$id" ] || fail "no report: $(cat "$work/created.json")"
ok "requested report $id"

status=
for _ in $(seq 300); do
  api -o "$work/report.json" "$base/api/v1/reports/$id"
  status=$(field status <"$work/report.json")
  case "$status" in Ready | Failed | Expired) break ;; esac
  sleep 0.1
done
[ "$status" = Ready ] || fail "the report ended $status: $(cat "$work/report.json")"
ok "the report is Ready"

signed=
for _ in $(seq 300); do
  api -o "$work/report.json" "$base/api/v1/reports/$id"
  grep -q '"signed":true' "$work/report.json" && signed=yes && break
  sleep 0.1
done
[ "$signed" ] || fail "the report is not signed: $(cat "$work/report.json")"
ok "the report is signed"

api -D "$work/headers" -o "$work/report.pdf" "$base/api/v1/reports/$id/download"
head -c 5 "$work/report.pdf" | grep -q '%PDF-' || fail "the download is no PDF"
digest=$(sha256sum "$work/report.pdf" | cut -d' ' -f1)
[ "$digest" = "$(field sha256 <"$work/report.json")" ] || fail "the history's SHA-256 is another"
ok "downloaded; the history's SHA-256 fits"

api -o "$work/base.pdf" "$base/api/v1/reports/$id/download?revision=base"
built=$(sha256sum "$work/base.pdf" | cut -d' ' -f1)
[ "$built" = "$(field baseSha256 <"$work/report.json")" ] || fail "the history's SHA-256 of what was built is another"

"$muster" events list --log reports --type report.ready >"$work/ready.json"
grep -q "\"pdfSha256\":\"$built\"" "$work/ready.json" || fail "the log's Ready event holds another SHA-256"
ok "the log's SHA-256 fits"

"$muster" events verify || fail "the log does not verify"
ok "the logs verify"

if command -v pdftotext >/dev/null; then
  witness=$(pdftotext "$work/report.pdf" - | grep -oE '\breports:[0-9]+:[0-9a-f]{64}\b' | head -n 1)
  "$muster" events verify --witness "$witness" || fail "the log does not hold the witness that the report prints: $witness"
  ok "the log holds the witness as the report prints it"
fi

"$muster" reports rebuild "$id" --verify || fail "the rebuilt PDF differs"
ok "the PDF is built again byte for byte"

"$muster" verify "$work/report.pdf" || fail "the PDF is not recognized"
ok "the PDF proves itself"

cp "$work/report.pdf" "$work/forged.pdf"
printf 'x' >>"$work/forged.pdf"
if "$muster" verify "$work/forged.pdf" >/dev/null 2>&1; then fail "a changed PDF was accepted"; fi
ok "a changed PDF is refused"

for _ in $(seq 200); do # a mail waits for the proof, 15 seconds at most
  ls "$MUSTER_DATA_DIR"/outbox/*.eml >/dev/null 2>&1 && grep -lq "$id" "$MUSTER_DATA_DIR"/outbox/*.eml && break
  sleep 0.1
done
grep -lq "$id" "$MUSTER_DATA_DIR"/outbox/*.eml || fail "no mail about the report in the outbox"
ok "the mail with the link is in the outbox"

echo "$passed passed, 0 failed"
