package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/intake/remotewrite/remotewritetest"
)

// TestSenders: what each sender of the organization sent in the last day is listed by name,
// with what became of it, and nobody else's.
func TestSenders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/ops/senders"
	in := sender{w, w.ingestToken(w.ours.admin)}
	at := w.clock.Now()
	for _, version := range []string{"1.0", "2.0"} {
		in.write(version, remotewritetest.One("node_memory_MemTotal_bytes", at, 1, "instance", "db01:9100"),
			remotewritetest.One("node_load1", at, 1, "instance", "db01:9100"), remotewritetest.One("node_load1", at, 2, "instance", "db02:9100"),
			remotewritetest.One("pg_up", at, 1, "instance", "nobody")).is(204)
	}
	in.send(otlpPath, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"system.load","gauge":{"dataPoints":[{},{}]}}]}]}]}`,
		map[string]string{"Content-Type": "application/json", "X-Muster-Sender": "otelcol-01"}).is(200)
	(sender{w, w.ingestToken(w.theirs.admin)}).write("1.0", remotewritetest.One("their_metric", at, 1)).is(204)
	must(t, w.deps.Senders.Flush(t.Context()))
	list := func() map[string]any {
		found := map[string]any{}
		for _, item := range w.get(w.ours.auditor, path).is(200).object()["items"].([]any) {
			s := item.(map[string]any)
			for _, c := range s["counts"].([]any) {
				count := c.(map[string]any)
				found[fmt.Sprint(s["sender"], " ", count["door"], " ", count["name"], " ", count["reason"])] = count["count"]
			}
		}
		return found
	}
	want := map[string]any{
		"<nil> " + writePath + " node_memory_MemTotal_bytes <nil>": 2.0,
		"<nil> " + writePath + " node_load1 not_used":              4.0,
		"<nil> " + writePath + " pg_up <nil>":                      2.0, // it was read
		"<nil> " + writePath + "  no_instance":                     2.0, // and not placed
		"<nil> " + writePath + " host_sample <nil>":                2.0,
		"otelcol-01 " + otlpPath + " system.load not_used":         2.0,
	}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	w.get(w.ours.viewer, path).is(403)
	w.clock.Advance(25 * time.Hour)
	if found, err := w.deps.Senders.List(t.Context(), w.ours.organization.ID); err != nil || len(found) != 0 {
		t.Errorf("a day later: %v, %v", found, err)
	}
}
