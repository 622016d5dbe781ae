#!/usr/bin/env bash
# Load, with the demo on a fresh data directory: 200 connections for half a
# minute on the report history and on the session, where no request may fail; and
# what a flood of sign-ins from everywhere does to somebody who is signed in.
#
#   scripts/load.sh            about 3 minutes; `make load` builds first
#   QUICK=1 scripts/load.sh    3 s each: does the script work?
#
# Standard output is Markdown for docs/performance.md. Exit status 1: an answer
# was none, or was a refusal. Load goes to 127.0.0.1 only, and needs `wrk`.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
command -v wrk >/dev/null || {
  echo "scripts/load.sh: wrk is missing (Debian: apt-get install wrk)" >&2
  exit 1
}

# shellcheck source=scripts/fresh_demo.sh
. scripts/fresh_demo.sh

seconds=${QUICK:+3}
seconds=${seconds:-30}
say() { echo "# $*" >&2; }
fail() {
  echo "scripts/load.sh: $1" >&2
  exit 1
}

api() { curl -sS --fail-with-body --max-time 20 -H "Authorization: Bearer $token" "$@"; }
# ms DURATION: as wrk prints it (us, ms, s, m), in milliseconds.
ms() {
  awk -v v="$1" 'BEGIN {
    n = v + 0
    if (v ~ /us$/) n /= 1000; else if (v ~ /[0-9]m$/) n *= 60000; else if (v ~ /[0-9]s$/) n *= 1000
    printf n < 10 ? "%.2f" : n < 100 ? "%.1f" : "%.0f", n
  }'
}
# of FILE PATTERN COLUMN: a column of wrk's output.
of() { awk -v p="$2" -v c="$3" '$0 ~ p { print $c; exit }' "$1"; }

# measure NAME FILE WRK-ARGUMENTS... runs wrk and keeps what it prints.
measure() {
  local name=$1 out=$2
  shift 2
  say "$name"
  wrk --latency --timeout 10s "$@" >"$out" || fail "wrk: $(cat "$out")"
  grep -Ei 'requests/sec|99%|non-2xx|socket errors' "$out" | sed 's/^/#   /' >&2 || true
}

# wrong FILE: how many requests had no answer or a refusal.
wrong() {
  awk '/Non-2xx or 3xx responses/ { n += $NF } /Socket errors/ { gsub(",", ""); n += $4 + $6 + $8 + $10 } END { print n + 0 }' "$1"
}

say "starting the demo without limits"
serve --demo --rate-limits=off
token=$("$muster" token create --kind api --email "$MUSTER_ADMIN_EMAIL")
say "requesting reports, so that the history has pages"
api -o "$work/instances" "$base/api/v1/instances?pageSize=50"
grep -o '"id":"[^"]*"' "$work/instances" | cut -d'"' -f4 >"$work/ids"
wanted=0
for _ in 1 2 3; do
  while read -r id; do
    api -o /dev/null -H 'Content-Type: application/json' -d "{\"kind\":\"Security\",\"scope\":{\"instanceIds\":[\"$id\"]}}" "$base/api/v1/reports"
    wanted=$((wanted + 1))
  done <"$work/ids"
  for _ in $(seq 600); do # the same again only once they are built: identical ones are one
    api -o "$work/jobs" "$base/api/v1/ops/jobs"
    grep -q '"building":0,.*"queued":0\|"queued":0,.*"building":0' "$work/jobs" && break
    sleep 0.1
  done
done
sleep 2 # the last mails

table=()
errors=0
for what in 'report history, first page|/api/v1/reports?kind=Security' 'session|/api/v1/session'; do
  out=$work/wrk
  measure "200 connections for $seconds s: ${what#*|}" "$out" -t 2 -c 200 -d "${seconds}s" -H "Authorization: Bearer $token" "$base${what#*|}"
  n=$(wrong "$out")
  errors=$((errors + n))
  table+=("| ${what%|*} | $(of "$out" Requests/sec: 2) | $(ms "$(of "$out" '^ *50%' 2)") ms | $(ms "$(of "$out" '^ *99%' 2)") ms | $n |")
done

# The flood: wrong passwords for accounts that are there and accounts that are
# not, each from an address of its own, as a proxy would pass them on.
cat >"$work/flood.lua" <<'END'
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() math.randomseed(os.time()); statuses = {} end
function request()
  local email = math.random(10) == 1 and "first@example.org" or "p" .. math.random(100000) .. "@flood.example"
  return wrk.format("POST", "/api/v1/session", {
    ["Content-Type"] = "application/json",
    ["X-Forwarded-For"] = string.format("10.%d.%d.%d", math.random(0, 255), math.random(0, 255), math.random(1, 254)),
  }, '{"email":"' .. email .. '","password":"wrong-' .. math.random(1000000) .. '"}')
end
function response(status) statuses[status] = (statuses[status] or 0) + 1 end
function done()
  for _, thread in ipairs(threads) do
    for status, n in pairs(thread:get("statuses")) do print("status " .. status .. " " .. n) end
  end
end
END
# Somebody who works: 8 requests a second, which their quota of 600 a minute allows.
cat >"$work/user.lua" <<'END'
function delay() return 250 end
END
say "starting again as in production, behind a proxy"
serve --demo --trusted-proxies=127.0.0.1/32
token=$("$muster" token create --kind api --email "$MUSTER_ADMIN_EMAIL")
user() { measure "$1" "$2" -t 1 -c 2 -d "${seconds}s" -s "$work/user.lua" -H "Authorization: Bearer $token" "$base/api/v1/reports?kind=Security"; }
user "a signed-in user alone" "$work/before"
wrk -t 1 -c 200 -d "$((seconds + 4))s" --timeout 30s -s "$work/flood.lua" "$base" >"$work/flood" 2>&1 &
flood=$!
sleep 2
user "the same during a flood of sign-ins over 200 connections" "$work/during"
wait "$flood" || fail "the flood did not run: $(cat "$work/flood")"
sed 's/^/#   /' "$work/flood" >&2
for file in before during; do
  n=$(wrong "$work/$file")
  errors=$((errors + n))
done
refused=$(awk '/^status/ { printf "%s%s answered %s", sep, $3, $2; sep = ", " }' "$work/flood")
if grep -Eq '^status (2|500)' "$work/flood"; then fail "the flood was answered $refused"; fi
before=$(ms "$(of "$work/before" '^ *99%' 2)") during=$(ms "$(of "$work/during" '^ *99%' 2)")
half=$(ms "$(of "$work/before" '^ *50%' 2)") halfway=$(ms "$(of "$work/during" '^ *50%' 2)")

cpu=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null || true)
cat <<END
Taken on $(date -u +%Y-%m-%d) with \`${QUICK:+QUICK=1 }make load\` at $(git describe --always --dirty 2>/dev/null || echo "an unknown commit"): $(getconf _NPROCESSORS_ONLN) cores${cpu:+ ($cpu)}, which \`wrk\`, Muster and PostgreSQL share. $wanted reports in the history.

| 200 connections for $seconds s | Requests/s | p50 | p99 | Errors |
|---|---|---|---|---|
$(printf '%s\n' "${table[@]}")

| A signed-in user, 8 requests/s of the history | p50 | p99 |
|---|---|---|
| alone | $half ms | $before ms |
| during a flood of sign-ins, 200 connections, each attempt from another address | $halfway ms | $during ms |
| ratio | $(awk -v a="$halfway" -v b="$half" 'BEGIN { printf "%.1f", a / b }') | $(awk -v a="$during" -v b="$before" 'BEGIN { printf "%.1f", a / b }') |

The flood: $(of "$work/flood" Requests/sec: 2) attempts/s; $refused.
END
[ "$errors" -eq 0 ] || fail "$errors requests failed"
