package httpapi

import (
	"log/slog"
	"testing"

	"muster/eventstore"
	"muster/internal/proof/checkpoint"
	"muster/internal/testing/pgtest"
)

// TestEventLogsAreListed: how far each is verified, and by its position alone the first event
// that does not fit, which may be another organization's.
func TestEventLogsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	pgtest.Unguard(t, w.deps.DB)
	w.deps.DB.MustExec(`UPDATE events SET data = data || '\x00' WHERE stream_id = $1 AND version = 1`, id)
	must(t, checkpoint.NewVerifier(w.deps.DB, slog.New(slog.DiscardHandler)).Step(t.Context()))
	items := w.get(w.theirs.auditor, "/api/v1/ops/logs").is(200).object()["items"].([]any)
	if len(items) != len(eventstore.Logs) {
		t.Fatalf("the logs are %v", items)
	}
	for _, item := range items {
		log := item.(map[string]any)
		want, broken := 0.0, log["log"] == "reports"
		if broken {
			want = 1
		}
		if log["misfits"] != want || log["position"] != log["headPosition"] || (log["firstMisfit"] != nil) != broken {
			t.Errorf("a log is %v", log)
		}
	}
	w.get(w.ours.member, "/api/v1/ops/logs").problem(403, "forbidden")
}
