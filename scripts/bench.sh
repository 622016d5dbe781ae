#!/usr/bin/env bash
# Runs the benchmarks one after the other and holds them to their goals, and then
# scripts/load.sh: on a machine that does nothing else, about two hours, half an hour
# of them with 10,000 servers; never much more than two and a half.
# Standard output is the Markdown that docs/performance.md takes under "Figures";
# how it goes on is on standard error.
#
#   scripts/bench.sh            everything
#   QUICK=1 scripts/bench.sh    few and small: do the benchmarks work at all?
#
# A goal that is missed is said in words and is no error: this is a measurement.
# A benchmark that does not run is one (exit status 1).
set -euo pipefail
export LC_ALL=C # a point in every number
cd "$(dirname "$0")/.."

limit=9000 # seconds; what is not measured by then is not measured
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
raw=$work/raw
: >"$raw"
export MUSTER_BENCH_TABLES=$work/tables # what is a table of its own
broken=()

# measure PACKAGE BENCHMARK BENCHTIME runs one benchmark with all its cases.
measure() {
  local left=$((limit - SECONDS))
  if [ "$left" -le 0 ]; then
    echo "# $2: no time left of $limit s" >&2
    broken+=("$2")
    return
  fi
  echo "# go test -run '^\$' -bench '^$2\$' -benchtime $3 ./$1" >&2
  go test -run '^$' -bench "^$2\$" -benchtime "$3" -timeout "${left}s" "./$1" 2>&1 | tee -a "$raw" >&2 || broken+=("$2")
}

# figure BENCHMARK UNIT prints a metric of what has run, or nothing.
figure() {
  awk -v name="$1" -v unit="$2" '
    { n = $1; sub(/-[0-9]+$/, "", n) }
    n == name { for (i = 3; i < NF; i++) if ($(i + 1) == unit) value = $i }
    END { print value }' "$raw"
}

# all VALUE COMPARISON BOUND... says whether every value is there and holds.
all() {
  while [ $# -gt 0 ]; do
    [ -n "$1" ] || return 1
    awk -v a="$1" -v b="$3" -v how="$2" 'BEGIN { exit !(how == ">=" ? a + 0 >= b : a + 0 <= b) }' || return 1
    shift 3
  done
}

# round VALUE and thousands VALUE print it for people.
round() { [ -z "$1" ] || awk -v v="$1" 'BEGIN { printf v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v }'; }
thousands() {
  [ -z "$1" ] || awk -v v="$1" 'BEGIN {
    for (s = sprintf("%.0f", v); length(s) > 3; s = substr(s, 1, length(s) - 3)) out = "," substr(s, length(s) - 2) out
    printf "%s", s out
  }'
}

table=()
missed=()
goals=0
# row WHAT GOAL MEASURED YARDSTICK VALUE COMPARISON BOUND... adds a line to the table.
row() {
  local met=yes measured=$3
  goals=$((goals + 1))
  if [ -z "$5" ]; then measured="not measured"; fi
  if ! all "${@:5}"; then
    met='**no**'
    missed+=("$1 ($measured, goal $2)")
  fi
  table+=("| $1 | $2 | $measured | $4 | $met |")
}

# In QUICK the counts are too small to mean anything.
if [ -n "${QUICK:-}" ]; then
  export MUSTER_BENCH_REPORTS=5000 MUSTER_BENCH_ALERTS=20000 MUSTER_BENCH_HOURS=1 MUSTER_BENCH_INSTANCES=20 MUSTER_BENCH_TREE=70000 MUSTER_BENCH_MIXED=10 MUSTER_BENCH_MINUTES=1 MUSTER_BENCH_EVENTS=20000
  count() { echo "$2"; }
else
  unset MUSTER_BENCH_REPORTS MUSTER_BENCH_ALERTS MUSTER_BENCH_HOURS MUSTER_BENCH_INSTANCES MUSTER_BENCH_TREE MUSTER_BENCH_MIXED MUSTER_BENCH_MINUTES MUSTER_BENCH_EVENTS
  count() { echo "$1"; }
fi

# The machine, before it is busy with us.
load=$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || true)
cores=$(getconf _NPROCESSORS_ONLN)
ram=$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo 2>/dev/null || true)
cpu=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null || true)
# As the tests choose it: the newest that is installed.
server=$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null | sort -V | tail -n 1)
server=${server:-$(command -v postgres || true)}
postgres=${server:+$("$server" --version)}
fsync=
if [ -n "$server" ] && [ -x "${server%/*}/pg_test_fsync" ]; then
  echo "# pg_test_fsync" >&2
  fsync=$("${server%/*}/pg_test_fsync" -s 1 -f "$work/fsync" 2>/dev/null |
    awk '$1 == "fdatasync" && !found { found = $(NF - 1) " µs" } END { print found }')
fi
echo "# building" >&2
go test -run '^$' ./eventstore ./eventstore/tree ./projections/history ./projections/audit ./projections/alerts ./internal/intake/remotewrite ./internal/intake/measure/postgresql ./internal/intake/measure/sqlserver ./internal/intake/measure/oracle ./internal/report/pdf ./internal/testing/bench >&2

measure eventstore BenchmarkAppend "$(count 10x 1x)"
measure eventstore BenchmarkAppendBesideAFlood "$(count 15s 2s)"
measure eventstore BenchmarkVerify "$(count 3x 1x)"
measure eventstore BenchmarkLockKeys "$(count 50x 5x)"
measure eventstore/tree BenchmarkTree "$(count 200x 20x)"
measure projections/history BenchmarkAppendToVisible "$(count 1000x 50x)"
measure internal/testing/bench BenchmarkPostToReady "$(count 50x 5x)"
measure internal/testing/bench BenchmarkIdleMemory 1x
measure internal/testing/bench BenchmarkTwoOrganizations 1x
measure internal/testing/bench BenchmarkStart 1x
measure internal/testing/bench BenchmarkTurns "$(count 50x 5x)"
measure internal/report/pdf BenchmarkRows26000 "$(count 5x 1x)"
measure internal/report/pdf BenchmarkInstances500 "$(count 5x 1x)"
measure projections/history BenchmarkRebuild "$(count 3x 1x)"
measure projections/history BenchmarkFirstPage "$(count 2000x 50x)"
measure internal/testing/bench BenchmarkAlertsOverHTTP "$(count 60s 3s)"
measure internal/testing/bench BenchmarkDayOfFiring 1x
measure projections/audit BenchmarkPassingMachines "$(count 3x 1x)"
measure projections/alerts BenchmarkAlerts "$(count 300x 20x)"
measure internal/testing/bench BenchmarkTiles "$(count 100x 10x)"
measure internal/testing/bench BenchmarkTilesTenThousand "$(count 100x 10x)"
measure internal/testing/bench BenchmarkTilesGrow "$(count 100x 10x)"
measure internal/testing/bench BenchmarkFindings "$(count 300x 20x)"
measure internal/testing/bench BenchmarkInstances "$(count 100x 10x)"
measure internal/testing/bench BenchmarkTeams "$(count 200x 10x)"
measure internal/testing/bench BenchmarkTeamLists "$(count 200x 10x)"
measure internal/testing/bench BenchmarkStatements "$(count 20x 3x)"
measure internal/testing/bench BenchmarkStatementsOverHTTP "$(count 60s 3s)"
measure internal/testing/bench BenchmarkDayOfMeasuring 1x
measure internal/intake/remotewrite BenchmarkDecode "$(count 100x 10x)"
measure internal/intake/measure/postgresql BenchmarkRound "$(count 3s 1x)"
measure internal/intake/measure/sqlserver BenchmarkRound "$(count 3s 1x)"
measure internal/intake/measure/oracle BenchmarkRound "$(count 3s 1x)"
measure internal/testing/bench BenchmarkMixedFleet 1x
[ -z "${QUICK:-}" ] || export MUSTER_BENCH_MINUTES=0.2
measure internal/testing/bench BenchmarkTenThousand 1x
measure internal/testing/bench BenchmarkGrowth 1x
if [ -z "${QUICK:-}" ] && command -v clickhouse-server >/dev/null; then
  echo "# measurements in ClickHouse" >&2
  MUSTER_BENCH_CLICKHOUSE=1 measure internal/testing/bench BenchmarkGrowth 1x
fi

one=BenchmarkAppend/clients=1
bare="pgbench's prepared insert $(thousands "$(figure $one bare/s)")/s"
ratio=$(figure $one store-ratio)
row "append, 1 client: \`Store.Append\` against pgbench's bare insert" "≥ 0.8" "$(round "$ratio")" \
  "$bare, \`Store.Append\` $(thousands "$(figure $one append/s)")/s" "$ratio" '>=' 0.8
ratio=$(figure $one ratio)
row "the same, with pgbench as the client of both" "≥ 0.8" "$(round "$ratio")" "$bare" "$ratio" '>=' 0.8
for commit in 0 4; do
  name=BenchmarkAppendBesideAFlood/commit=${commit}ms
  p95=$(figure "$name" p95-ms) flood=$(figure "$name" flood-events/s)
  # Less than the flood that the goal names would be no test of it.
  row "append to \`reports\`, p95, while \`fleet\` takes 5,000 events/s; commits + $commit ms" "≤ 50 ms" \
    "$(round "$p95") ms" "p50 $(round "$(figure "$name" p50-ms)") ms; flood $(thousands "$flood") events/s" \
    "$p95" '<=' 50 "$flood" '>=' 4900
done
name=BenchmarkRebuild
rebuilt=$(figure $name events/s) page=$(figure $name page-p95-ms)
row "rebuild of the history from 1,000,000 events" "≥ 50,000 events/s" "$(thousands "$rebuilt") events/s" "–" "$rebuilt" '>=' 50000
row "a history page meanwhile, p95" "≤ 20 ms" "$(round "$page") ms" "–" "$page" '<=' 20
name=BenchmarkAppendToVisible
p50=$(figure $name p50-ms) p95=$(figure $name p95-ms)
row "append to visible, p50" "≤ 10 ms" "$(round "$p50") ms" "–" "$p50" '<=' 10
row "append to visible, p95" "≤ 60 ms" "$(round "$p95") ms" "–" "$p95" '<=' 60
ready=BenchmarkPostToReady
p50=$(figure $ready p50-ms)
row "POST to Ready, Security over 14 assessed instances, p50" "≤ 100 ms" "$(round "$p50") ms" \
  "p95 $(round "$(figure $ready p95-ms)") ms; rendering alone $(round "$(figure $ready render-ms)") ms, a plain GET $(round "$(figure $ready get-ms)") ms" \
  "$p50" '<=' 100
seconds() { [ -z "$1" ] || awk -v v="$1" 'BEGIN { print v / 1e9 }'; }
for size in 'Rows26000|26,000 findings of one check, rendered|1.2' 'Instances500|Security over 500 instances, rendered|5'; do
  IFS='|' read -r name what most <<<"$size"
  took=$(seconds "$(figure "Benchmark$name" ns/op)") peak=$(figure "Benchmark$name" peak-MiB)
  row "$what" "≤ $most s and 200 MiB" "$(round "$took") s, $(round "$peak") MiB at most" \
    "$(thousands "$(figure "Benchmark$name" pages)") pages" "$took" '<=' "$most" "$peak" '<=' 200
done
name=BenchmarkFirstPage
p95=$(figure $name p95-ms)
row "first history page, 1,000,000 reports, p95" "≤ 10 ms" "$(round "$p95") ms" "p50 $(round "$(figure $name p50-ms)") ms" "$p95" '<=' 10
verified=$(figure BenchmarkVerify/everything events/s)
row "verify" "≥ 150,000 events/s" "$(thousands "$verified") events/s" \
  "one organization's own $(thousands "$(figure BenchmarkVerify/one_organization events/s)") events/s" "$verified" '>=' 150000
idle=$(figure BenchmarkIdleMemory idle-MiB)
row "resident set of an idle \`serve\`" "≤ 120 MiB" "$(round "$idle") MiB" \
  "after $(thousands "$(figure $ready reports)") reports $(round "$(figure $ready memory-MiB)") MiB" "$idle" '<=' 120

two=BenchmarkTwoOrganizations
for of in p50 p95; do
  ratio=$(figure $two $of-ratio)
  row "a server and its sample of one organization while another sends the worst bodies to every endpoint, $of" "≤ 2 times its time alone" "$(round "$ratio") times" \
    "$(round "$(figure $two $of-ms)") ms, alone $(round "$(figure $two alone-$of-ms)") ms; $(figure $two attacks) bodies were answered" "$ratio" '<=' 2
done
peak=$(figure $two peak-MiB)
row "the peak memory of \`serve\` meanwhile" "≤ 512 MiB" "$(round "$peak") MiB" "–" "$peak" '<=' 512

again=$(figure BenchmarkStart ready-s) killed=$(figure BenchmarkStart killed-s) resident=$(figure BenchmarkStart ready-MiB)
row "from the start of \`serve\` to ready on logs of 1,000,000 events" "≤ 10 s, ≤ 120 MiB" "$(round "$again") s, $(round "$resident") MiB" \
  "after SIGKILL $(round "$killed") s; filling every projection first $(round "$(figure BenchmarkStart filling-s)") s" "$again" '<=' 10 "$killed" '<=' 10 "$resident" '<=' 120

for what in assess build; do
  ratio=$(figure BenchmarkTurns $what-ratio)
  [ $what = assess ] && named='an assessment' || named='a report'
  row "$named while another organization's slow servers hold its slots, p95, against before" "≤ 2" "$(round "$ratio")" \
    "p95 $(round "$(figure BenchmarkTurns $what-p95-ms)") ms, before $(round "$(figure BenchmarkTurns $what-alone-p95-ms)") ms" "$ratio" '<=' 2
done

intake=BenchmarkAlertsOverHTTP
rate=$(figure $intake alerts/s) lag=$(figure $intake lag-s) p95=$(figure $intake append-p95-ms)
row "alerts over HTTP, 100 a call, half of them repeats, for $(round "$(figure $intake seconds)") s" "≥ 5,000 alerts/s" \
  "$(thousands "$rate") alerts/s" "a call p50 $(round "$(figure $intake call-p50-ms)") ms, p95 $(round "$(figure $intake call-p95-ms)") ms" "$rate" '>=' 5000
row "the largest delay of the projections during the flood of alerts" "≤ 2 s" "$(round "$lag") s" \
  "$(figure $intake lagging-answers) answers did not wait for them" "$lag" '<=' 2
row "append to \`reports\` during the flood of alerts, p95" "≤ 50 ms" "$(round "$p95") ms" \
  "p50 $(round "$(figure $intake append-p50-ms)") ms; before the flood p95 $(round "$(figure $intake alone-p95-ms)") ms" "$p95" '<=' 50
firing=BenchmarkDayOfFiring
log=$(figure $firing log-MB)
row "log of a day in which 1,000 alerts fire and are resent every minute" "≤ 60 MB" "$(round "$log") MB" \
  "$(thousands "$(figure $firing events)") events, themselves $(round "$(figure $firing rows-MB)") MB; beside the log $(round "$(figure $firing beside-MB)") MB" \
  "$log" '<=' 60
wal=$(figure $firing wal-MB)
row "WAL of that day" "≤ 450 MB" "$(thousands "$wal") MB" "a call p50 $(round "$(figure $firing call-p50-ms)") ms, p95 $(round "$(figure $firing call-p95-ms)") ms" \
  "$wal" '<=' 450
alerts=BenchmarkAlerts
rate=$(figure $alerts/rebuild=both events/s)
row "rebuild of \`fleet\` and \`alerts\` at the same time, events of the log that both have read" "≥ 40,000 events/s" "$(thousands "$rate") events/s" \
  "\`fleet\` alone $(thousands "$(figure $alerts/rebuild=fleet events/s)"), \`alerts\` alone $(thousands "$(figure $alerts/rebuild=alerts events/s)") events/s" \
  "$rate" '>=' 40000
# p95_row NAME GOAL WHAT [BESIDE] is a row of how long something took, in ms.
p95_row() {
  local p95
  p95=$(figure "$1" p95-ms)
  row "$3, p95" "≤ $2 ms" "$(round "$p95") ms" "p50 $(round "$(figure "$1" p50-ms)") ms${4:+; $4}" "$p95" '<=' "$2"
}
p95_row $alerts/digest=24h 15 "digest of 24 h"
p95_row $alerts/digest=24h,instances=10 15 "digest of 24 h, 10 instances"
p95_row $alerts/digest=30d 15 "digest of 30 days"
p95_row $alerts/digest=30d,instances=10 15 "digest of 30 days, 10 instances"
p95_row $alerts/overview 30 "overview of 10,000 instances, 60,000 databases, 1,000,000 alerts"
p95_row $alerts/overview,instances=100 20 "overview of 100 instances of them"
month=history=30d@1h
apart=$(figure $alerts/$month bucket-by-bucket-ms)
times=$(awk -v a="${apart:-0}" -v b="$(figure $alerts/$month p50-ms)" 'BEGIN { if (b > 0) printf "%.0f", a / b }')
p95_row $alerts/$month 60 "alert history, 30 days at 1h" "bucket by bucket $(round "$apart") ms, ${times:-?} times as long"
p95_row $alerts/history=7d@1m 120 "alert history, 7 days at 1m"
tiles=BenchmarkTiles
# tile_row TILE WINDOW INSTANCES GOAL WHAT is a row of BenchmarkTiles.
tile_row() {
  local name=$tiles/$1/$2/instances=$3 p50 beside of took
  p50=$(figure "$name" p50-ms)
  beside="SQL over the samples $(thousands "$(figure "$name" sql-ms)") ms, $(times "$(figure "$name" sql-ms)" "$p50")"
  for of in promql:Prometheus victoria:VictoriaMetrics; do
    took=$(figure "$name" "${of%:*}-ms")
    [ -z "$took" ] || beside="$beside; PromQL on ${of#*:} $(thousands "$took") ms, $(times "$took" "$p50")"
  done
  p95_row "$name" "$4" "$5" "$beside"
}
# times A B says how many times as long A is.
times() { awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { if (b > 0) printf "%.1f times as long", a / b; else printf "?" }'; }
for tile in utilization query-performance wait-events; do
  for window in 24h@1m 30d@1h; do
    what="$tile, ${window/@/ at }"
    tile_row "$tile" "$window" 0 8 "$what, 1,000 instances"
    tile_row "$tile" "$window" 200 30 "$what, 200 of them"
    tile_row "$tile" "$window" 10 10 "$what, 10 of them"
  done
  p95_row "$tiles/$tile/kept" 5 "$tile, 7d at 1m, cached"
done
# promql_row ENGINE NAME GOAL WHAT INSTANCES... is how many times as long PromQL takes, where
# that is the least of all tiles and windows.
promql_row() {
  local least="" where="" tile window n name ratio engine=$1 called=$2 goal=$3 what=$4
  shift 4
  for tile in utilization query-performance wait-events; do
    for window in 24h@1m 30d@1h; do
      for n in "$@"; do
        name=$tiles/$tile/$window/instances=$n
        ratio=$(awk -v a="$(figure "$name" "$engine-ms")" -v b="$(figure "$name" p50-ms)" 'BEGIN { if (a > 0 && b > 0) print a / b }')
        if [ -n "$ratio" ] && { [ -z "$least" ] || ! all "$ratio" '>=' "$least"; }; then
          least=$ratio where="$tile, ${window/@/ at }$([ "$n" = 0 ] || echo ", $n instances")"
        fi
      done
    done
  done
  row "how many times as long PromQL on $called takes for the same tile of 1,000 instances, $what: the smallest ratio" "≥ $goal" "$(round "$least")" "${where:-$called is not installed}" "$least" '>=' "$goal"
}
for of in promql:Prometheus victoria:VictoriaMetrics; do
  promql_row "${of%:*}" "${of#*:}" 8 "the whole organization" 0
  promql_row "${of%:*}" "${of#*:}" 2 "200 or 10 of them" 200 10
done
for tile in utilization query-performance wait-events; do
  for window in 24h@1m 30d@1h; do
    what="$tile, ${window/@/ at }"
    name=BenchmarkTilesTenThousand/$tile/$window/instances
    p95_row "$name=0" 15 "$what, 10,000 instances of one database"
    p95_row "$name=200" 30 "$what, 200 of them"
    p95_row "$name=10" 10 "$what, 10 of them"
  done
done
for n in 0:50 200:40 10:20; do
  of="${n%:*} instances"
  [ "${n%:*}" != 0 ] || of="1,000 instances"
  p95_row "$tiles/connections/instances=${n%:*}" "${n#*:}" "connections of $of"
done
finds=BenchmarkFindings
p95_row $finds/first 30 "findings of 1,000 instances, 30 each, first page" "one statement without exceptions and names $(round "$(figure $finds/first sql-ms)") ms"
p95_row $finds/oldest 30 "the same, the oldest"
p95_row $finds/by-instance 30 "the same, by instance, page 50"
p95_row $finds/search 30 "the same, searched for an object"
p95_row $finds/security 30 "the same, of one domain and severity"
p95_row $finds/instance 30 "the same, of one instance"
list=BenchmarkInstances
p95_row $list/first 100 "the list of 1,000 instances with their state, first page"
p95_row $list/page-of-200 100 "the same, 200 a page"
p95_row $list/by-alerts 100 "the same, first page by alerts"
p95_row $list/by-cpu 100 "the same, by CPU"
p95_row $list/by-disk 100 "the same, by disk"
# beside CASE MOST WHAT is a row for the p95 of a case as a ratio to that of its yardstick.
beside() {
  local ratio
  ratio=$(awk -v a="$(figure "$1" p95-ms)" -v b="$(figure "$1" yardstick-p95-ms)" 'BEGIN { if (a > 0 && b > 0) print a / b }')
  row "$3" "≤ $2" "$(round "$ratio")" "p95 $(round "$(figure "$1" p95-ms)") and $(round "$(figure "$1" yardstick-p95-ms)") ms" "$ratio" '<=' "$2"
}
for tile in utilization query-performance wait-events; do
  beside "BenchmarkTeams/$tile" 1.2 "$tile of 200 of 1,000 instances by their tag, beside the same by their ids"
done
p95_row BenchmarkTeamLists/instances-by-tag 30 "the list of 200 of 1,000 instances by a tag"
for list in instances alerts alerts-of-300-days findings overview tags; do
  beside "BenchmarkTeamLists/$list" 1.3 "$list for the role team, a fifth of 1,000 instances, beside an administrator"
done
statements=BenchmarkStatements
# on_the_hour CASE is what stands beside a row of BenchmarkStatements.
on_the_hour() { echo "on the hour p95 $(round "$(figure "$statements/$1" p95-ms)") ms"; }
for bucket in "an hour" "a minute"; do
  for by in instance database statement; do
    p95_row "$statements/${bucket#* }-by-$by" 80 "contributors of a latency, 1,000 instances with 200 statements each: of $bucket by $by"
  done
done
p95_row $statements/hour-maximum 80 "the same, of the maximum of an hour by statement"
p95_row $statements/day-by-instance 80 "the same, of 24 h by instance"
p95_row $statements/day-by-statement 2000 "the same, of 24 h by statement" "$(on_the_hour hours-by-statement)"
p95_row $statements/day-of-one 15 "the same, of 24 h of one instance by statement"
p95_row $statements/list-of-a-day 2500 "list of statements, first page of 24 h" "$(on_the_hour list-of-hours)"
p95_row $statements/list-of-one 30 "the same, of one instance"
p95_row $statements/slower 5000 "the same, statements slower than before" "$(on_the_hour slower-of-hours)"
flood=BenchmarkStatementsOverHTTP
rate=$(figure $flood deltas/s) behind=$(figure $flood behind-s) size=$(figure $flood bytes/delta)
# shares BENCHMARK says what each process took.
shares() {
  echo "serve $(round "$(figure "$1" serve-cores)"), PostgreSQL $(round "$(figure "$1" postgres-cores)"), senders $(round "$(figure "$1" senders-cores)") of a core"
}
# The pace is the goal: what is left of it when the last answers have come is a little less.
row "statement deltas over HTTP, sent at $(thousands "$(figure $flood pace/s)")/s for $(round "$(figure $flood seconds)") s" "≥ 40,000 deltas/s" "$(thousands "$rate") deltas/s" \
  "a call of 800 p50 $(round "$(figure $flood call-p50-ms)") ms, p95 $(round "$(figure $flood call-p95-ms)") ms; $(shares $flood); the minute before, in which every statement is new, $(thousands "$(figure $flood new-deltas/s)") deltas/s" "$rate" '>=' 39800
row "the largest delay of the series meanwhile" "≤ 15 s" "$(round "$behind") s" \
  "caught up $(round "$(figure $flood caught-up-s)") s after the last call; $(round "$(figure $flood new-behind-s)") s while every statement is new" "$behind" '<=' 15
row "a statement delta on disk when its hour is over, index included" "≤ 21 bytes" "$(awk -v v="${size:-0}" 'BEGIN { printf "%.2f", v }') bytes" "$(round "$(figure $flood open-bytes/delta)") bytes until then" "$size" '<=' 21
day=BenchmarkDayOfMeasuring
wal=$(figure $day wal-MB) raw=$(figure $day raw-MB)
row "WAL of a day of 1,000 servers" "≤ 15,000 MB" "$(thousands "$wal") MB" \
  "with a checkpoint every five minutes $(thousands "$(figure $day wal-checkpoints-MB)") MB" "$wal" '<=' 15000
row "raw samples of such a day on disk" "≤ 2,300 MB" "$(thousands "$raw") MB" "all tables $(thousands "$(figure $day disk-MB)") MB" "$raw" '<=' 2300
decode=BenchmarkDecode
for version in 1.0 2.0; do
  rate=$(figure "$decode/$version" samples/s)
  row "remote_write $version, decoding full scrapes of node_exporter" "≥ 300,000 samples/s" "$(thousands "$rate") samples/s" \
    "–" "$rate" '>=' 300000
done
share=$(figure BenchmarkRound/counters %-of-a-core)
row "cost of measuring for a server with 5,000 statements" "≤ 1 % of a core" "$(awk -v s="${share:-0}" 'BEGIN { printf "%.3f", s }') %" "a minute of it takes $(round "$(figure BenchmarkRound/counters server-ms)") ms of CPU there" "$share" '<=' 1
texts=$(figure BenchmarkRound/texts %-of-a-core)
row "the same in a minute in which texts are read" "≤ 1 % of a core" "$(awk -v s="${texts:-0}" 'BEGIN { printf "%.3f", s }') %" "a minute of it takes $(round "$(figure BenchmarkRound/texts server-ms)") ms of CPU there" "$texts" '<=' 1
for from in plan_cache query_stores; do
  ms=$(figure "BenchmarkRound/$from" ms/round)
  share=$([ -z "$ms" ] || awk -v ms="$ms" 'BEGIN { print ms / 600 }')
  row "Muster's cost of measuring a SQL Server with 5,000 statements, from ${from/_/ }, with the driver and a stub" "≤ 1 % of a core" "$(awk -v s="${share:-0}" 'BEGIN { printf "%.3f", s }') %" "a minute of it takes $(round "$ms") ms" "$share" '<=' 1
done
share=$(figure BenchmarkRound %-of-a-core)
row "Muster's cost of measuring an Oracle server with 5,000 statements, with the driver and a stub" "≤ 1 % of a core" "$(awk -v s="${share:-0}" 'BEGIN { printf "%.3f", s }') %" "three lists a minute, of which 50 statements are new" "$share" '<=' 1

mixed=BenchmarkMixedFleet
for engine in postgresql sqlserver oracle; do
  p95=$(figure $mixed $engine-p95-ms)
  row "300 servers of three engines in one \`serve\`, ten of each hang: delay of rounds at their start, $engine, p95" "≤ 1,000 ms" "$(round "$p95") ms" \
    "$(thousands "$(figure $mixed $engine-rounds)") rounds, p50 $(round "$(figure $mixed $engine-p50-ms)") ms, at most $(round "$(figure $mixed $engine-most-ms)") ms" "$p95" '<=' 1000
done
missing=$(figure $mixed missing)
row "missing rounds of these servers" "0" "$missing" "a core is busy for $(round "$(figure $mixed %-of-a-core)") % of the time" "$missing" '<=' 0
more=$(figure $mixed more-MiB)
row "additional memory with these servers, at most" "≤ 150 MiB" "$(round "$more") MiB" "half of the time $(round "$(figure $mixed more-p50-MiB)") MiB; without $(round "$(figure $mixed without-MiB)") MiB" "$more" '<=' 150

ten=BenchmarkTenThousand
servers="$(thousands "$(figure $ten servers)") servers"
behind=$(figure $ten behind-s) late=$(figure $ten late-s) refused=$(figure $ten refused) serve=$(figure $ten serve-MiB)
row "$servers, every minute a host with 3 volumes, 3 databases' sessions and 20 statements of each, for $(round "$(figure $ten seconds)") s: behind, at most" "≤ 60 s" "$(round "$behind") s" \
  "$(round "$(figure $ten calls/s)") calls, $(thousands "$(figure $ten deltas/s)") deltas a second; a call p50 $(round "$(figure $ten call-p50-ms)") ms, p95 $(round "$(figure $ten call-p95-ms)") ms, sent $(round "$late") s late at most; $(shares $ten)" "$behind" '<=' 60 "$late" '<=' 60
row "calls refused meanwhile" "0" "$refused" "–" "$refused" '<=' 0
row "resident set of \`serve\` meanwhile, at most" "≤ 400 MiB" "$(round "$serve") MiB" \
  "half of the time $(round "$(figure $ten serve-p50-MiB)") MiB; PostgreSQL $(round "$(figure $ten postgres-MiB)") MiB at most" "$serve" '<=' 400
cat <<END
Taken on $(date -u +%Y-%m-%d) with \`${QUICK:+QUICK=1 }make bench\` at $(git describe --always --dirty 2>/dev/null || echo "an unknown commit"), in $((SECONDS / 60)) min $((SECONDS % 60)) s: $cores cores${cpu:+ ($cpu)}, ${ram:-RAM unknown}, ${postgres:-PostgreSQL unknown}, ${fsync:-unknown time} for fdatasync (pg_test_fsync), $(go env GOVERSION).
END
if [ -n "${QUICK:-}" ]; then
  echo
  echo "**With QUICK: the counts are too small for these figures to mean anything.**"
fi
if awk -v l="${load:-0}" -v c="$cores" 'BEGIN { exit !(l > c / 4) }'; then
  echo
  echo "**The machine was at other work too: load $load before the start. Only the ratios mean something.**"
fi
cat <<END

| What | Goal | Measured | Yardstick in the same run | Met |
|---|---|---|---|---|
END
printf '%s\n' "${table[@]}"
echo
if [ ${#missed[@]} -eq 0 ]; then
  echo "All $goals goals are met."
else
  echo "$((goals - ${#missed[@]})) of $goals goals are met. Missed:"
  printf -- '* %s\n' "${missed[@]}"
fi
cat <<END

Where the time of a report goes (p50 each, from its audit trail): until Queued is recorded $(round "$(figure $ready queued-ms)") ms, until a worker has it $(round "$(figure $ready claimed-ms)") ms, gathering $(round "$(figure $ready gathered-ms)") ms, keeping the inputs $(round "$(figure $ready inputs-kept-ms)") ms, rendering and keeping the PDF $(round "$(figure $ready pdf-kept-ms)") ms ($(thousands "$(figure $ready pages)") pages), until Ready is recorded $(round "$(figure $ready committed-ms)") ms, until a client sees it $(round "$(figure $ready visible-ms)") ms.

Without a goal: 10,000 known keys locked in $(round "$(figure BenchmarkLockKeys ns/op | awk '{ print $1 / 1e6 }')") ms. Alert history, p50: 10,999 buckets of a minute $(round "$(figure $alerts/history=11000@1m p50-ms)") ms; 30 days at 1h of 100 instances $(round "$(figure $alerts/$month,instances=100 p50-ms)") ms, 300 days ago $(round "$(figure $alerts/$month,old p50-ms)") ms; 10,999 hours, which is every alert there is, $(round "$(figure $alerts/history=11000@1h p50-ms)") ms. A call of the day's 1,000 firing alerts takes $(round "$(figure $firing call-p50-ms)") ms; the audit list passes over $(thousands "$(figure "BenchmarkPassingMachines/a_rebuild" events/s)") events of machines a second, out of PostgreSQL; after the flood \`serve\` has $(round "$(figure $intake memory-MiB)") MiB resident. While $servers are measured, tiles of a day at 1m take p50 / p95: of all $(round "$(figure $ten tile-0-p50-ms)") / $(round "$(figure $ten tile-0-p95-ms)") ms, of 200 $(round "$(figure $ten tile-200-p50-ms)") / $(round "$(figure $ten tile-200-p95-ms)") ms, of 10 $(round "$(figure $ten tile-10-p50-ms)") / $(round "$(figure $ten tile-10-p95-ms)") ms. The Merkle tree over $(thousands "${MUSTER_BENCH_TREE:-1000000}") events: its root from nothing in $(round "$(figure BenchmarkTree root-from-nothing-s)") s, its tiles kept in $(round "$(figure BenchmarkTree fill-s)") s; from then on the root takes $(round "$(figure BenchmarkTree root-ms)") ms, the proof that an event is in it $(round "$(figure BenchmarkTree inclusion-ms)") ms, that it goes on from an earlier one $(round "$(figure BenchmarkTree consistency-ms)") ms.
END
echo
echo 'The tiles of two hours of minutes by the size of the fleet (p50 / p95), and how fast its samples were written, and written and rolled up:'
echo
echo '| Instances | utilization | query-performance | wait-events | written | in the series |'
echo '|---|---|---|---|---|---|'
for n in 100 1000 5000; do
  printf '| %s |' "$(thousands $n)"
  for tile in utilization query-performance wait-events; do
    printf ' %s / %s ms |' "$(round "$(figure "BenchmarkTilesGrow/$n/$tile" p50-ms)")" "$(round "$(figure "BenchmarkTilesGrow/$n/$tile" p95-ms)")"
  done
  name=BenchmarkTilesGrow/$n/utilization
  printf ' %s samples/s | %s samples/s |\n' "$(thousands "$(figure "$name" written/s)")" "$(thousands "$(figure "$name" visible/s)")"
done
cat <<END

A day of 1,000 servers (a host every 15 s, the sessions of two databases every 10 s, 100 statements every minute; measured with 50 and scaled): raw samples $(thousands "$(figure $day raw-MB)") MB, which stay for three days, rollups $(thousands "$(figure $day rolled-MB)") MB, statements one by one $(thousands "$(figure $day details-MB)") MB, all tables $(thousands "$(figure $day disk-MB)") MB, written ahead (WAL) $(thousands "$(figure $day wal-MB)") MB; it takes $(round "$(figure $day cores)") of a core, the database's share included.

END
cat "$work/tables" 2>/dev/null || true
echo '### Under load'
echo
go build -o bin/muster ./cmd/muster
bash scripts/load.sh || broken+=("scripts/load.sh")
if [ ${#broken[@]} -gt 0 ]; then
  echo
  echo "Did not run: ${broken[*]}."
  exit 1
fi
