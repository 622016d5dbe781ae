#!/usr/bin/env bash
# Times POST to Ready of this tree against an earlier commit, in turns on the same
# machine, and prints the median of each and how they compare: about 8 minutes.
#
#   scripts/bench_against.sh                 against the state before "Documents that decide"
#   scripts/bench_against.sh COMMIT [TURNS]  against another one
#
# Nothing else should run: both share the machine's noise, but not the same moment.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
commit=${1:-4e741e5} turns=${2:-3} reports=${REPORTS:-50}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/before" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --detach --quiet "$work/before" "$commit"
if [ -d web/dist/app ]; then cp -R web/dist/app "$work/before/web/dist/app"; fi

# p50 DIRECTORY runs the benchmark there, in the folder that it had at that commit.
p50() {
  (cd "$1" && go test -run '^$' -bench '^BenchmarkPostToReady$' -benchtime "${reports}x" \
    "./$(dirname "$(git grep -l '^func BenchmarkPostToReady(' -- '*_test.go')")") |
    tee -a /dev/stderr | awk '/^BenchmarkPostToReady/ { for (i = 3; i < NF; i++) if ($(i + 1) == "p50-ms") print $i }'
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
for turn in $(seq "$turns"); do
  echo "# turn $turn of $turns, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || true)" >&2
  p50 "$work/before" >>"$work/was"
  p50 . >>"$work/is"
done
was=$(median "$work/was") is=$(median "$work/is")
awk -v was="$was" -v is="$is" -v commit="$commit" -v now="$(git rev-parse --short HEAD)" 'BEGIN {
  printf "POST to Ready over 14 assessed instances, p50: %.1f ms at %s, %.1f ms at %s, %.2f of it\n", was, commit, is, now, is / was
}'
