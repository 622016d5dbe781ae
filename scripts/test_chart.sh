#!/usr/bin/env bash
# Has helm judge the chart of kit/helm, holds what it makes of it strictly against the
# types of the Kubernetes API and against each other (kit/helm/check), and tries values
# that are wrong: each is refused by its name.
#
#   HELM=… scripts/test_chart.sh
set -euo pipefail
cd "$(dirname "$0")/.."

chart=kit/helm/muster
all=$chart/ci/values.yaml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "test_chart: $*" >&2; exit 1; }
(cd kit/helm/check && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 go build -trimpath -o "$dir/check" .)

# rendered NAME ARGUMENT… is what a cluster would be given, in $dir/NAME.yaml.
rendered() {
  local name=$1
  shift
  "$HELM" template muster "$chart" --kube-version 1.30.0 "$@" >"$dir/$name.yaml" 2>"$dir/said" || fail "$name: $(cat "$dir/said")"
  "$dir/check" <"$dir/$name.yaml" >"$dir/$name.list" || fail "$name does not hold"
}
"$HELM" lint --strict "$chart" -f "$all" >"$dir/said" || fail "$(cat "$dir/said")"
rendered everything -f "$all"
rendered least --set image.repository=r.example.org/muster,image.digest=sha256:"$(printf %064d 1)",publicURL=https://muster.example.org \
  --set database.secret=d,secretKey.secret=k,files.url=s3://muster
[ "$(grep -c . <"$dir/everything.list")" = 10 ] || fail "everything is $(cat "$dir/everything.list")"
[ "$(grep -c . <"$dir/least.list")" = 8 ] || fail "the least is $(cat "$dir/least.list")"

# The pods of other settings are other pods.
rendered others -f "$all" --set settings.MUSTER_LOG_LEVEL=debug
[ "$(grep -c checksum/settings: <(diff "$dir/everything.yaml" "$dir/others.yaml"))" = 4 ] || fail "other settings start no pod anew"

refused() { # VALUE WORD
  if "$HELM" template muster "$chart" --kube-version 1.30.0 -f "$all" --set "$1" >"$dir/said" 2>&1; then fail "$1 is taken"; fi
  grep -qF -- "$2" "$dir/said" || fail "$1: $(cat "$dir/said")"
}
refused publicURL=muster.example.org "'/publicURL'"
refused database.secret= "'/database/secret'"
refused secretKey.secret= "'/secretKey/secret'"
refused files.url=file:///srv/muster "'/files/url'"
refused image.tag= "'/image/tag'"
refused image.digest=sha256:12 "'/image/digest'"
refused api.replica=3 "'replica' not allowed"
refused workers.replicas=0 "'/workers/replicas'"
refused settings.MUSTER_LOG_LEVL=debug "'MUSTER_LOG_LEVL' not allowed"
refused settings.MUSTER_LOG_LEVEL=loud "'/settings/MUSTER_LOG_LEVEL'"
refused settings.MUSTER_DATABASE_URL=postgres://muster:secret@db/muster "'MUSTER_DATABASE_URL' not allowed"
refused settings.MUSTER_COLLECT_OWN_HOST=true "'/settings/MUSTER_COLLECT_OWN_HOST'"
refused service.port=http "'/service/port'"
refused ingres.enabled=true "'ingres' not allowed"

# What the checking itself is worth: a member that Kubernetes would drop is refused.
misspelt() { # SED WORD
  if sed "$1" "$dir/everything.yaml" | "$dir/check" >"$dir/said" 2>&1; then fail "$1 is taken"; fi
  grep -qF -- "$2" "$dir/said" || fail "$1: $(cat "$dir/said")"
}
misspelt s/terminationGracePeriodSeconds/terminationGracePeriod/ 'unknown field "spec.template.spec.terminationGracePeriod"'
misspelt s/relabelings:/relabeling:/ 'unknown field "spec.endpoints[0].relabeling"'
misspelt 's/port: ops$/port: opps/' 'chooses no service with the port opps'

# The chart as make kit packs it makes the same, by its own version, and without ci/.
SOURCE_DATE_EPOCH=1767225600 bash scripts/chart.sh 1.2.3.4.gabc "$dir/muster.tgz"
"$HELM" lint --strict "$dir/muster.tgz" -f "$all" >"$dir/said" || fail "$(cat "$dir/said")"
"$HELM" template muster "$dir/muster.tgz" --kube-version 1.30.0 -f "$all" >"$dir/packed.yaml"
same() { sed -e s/muster-0.1.0/muster-1.2.3_4.gabc/ -e /checksum.settings:/d "$1"; } # the settings' labels have the version
diff <(same "$dir/everything.yaml") <(same "$dir/packed.yaml") || fail "the packed chart is another one"
"$HELM" show chart "$dir/muster.tgz" | grep -qx 'appVersion: 1.2.3.4.gabc' || fail "the packed chart does not say of which Muster it is"
"$HELM" package "$chart" --destination "$dir" >/dev/null
diff <(tar -tzf "$dir/muster-0.1.0.tgz" | sort) <(tar -tzf "$dir/muster.tgz" | grep -v '/$' | sort) || fail "helm packs other files"
echo "helm: lint, $(grep -c . <"$dir/everything.list") manifests, wrong values refused by name"
