package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/internal/proof/prooftest"
	"muster/internal/testing/pgtest"
)

// TestAChangedHistoryDegrades: a mail is taken out of a report while nothing runs, and the chain,
// the head and every checkpoint are made to fit. The next process says so by itself: in /readyz,
// in its log, in `events verify` and of the PDF. A read model that had applied the mail says that
// its log lost it, and shows what is recorded from then on.
func TestAChangedHistoryDegrades(t *testing.T) {
	t.Parallel()
	h := newReported(t) // the tree that the scorecard's proof is of has the mail
	h.serves(t)
	_, pdf := h.ana.download(t, h.security)
	if status, passed := h.ana.checks(t, "/readyz"); status != "ready" || !passed["history"] || !passed["projections_ahead"] || !passed["witnesses"] {
		t.Fatalf("before, /readyz is %s: %v", status, passed)
	}
	h.server.stop(t)
	db := pgtest.Connect(t, h.url)
	db.SetMaxOpenConns(1)
	db.MustExec(`SET session_replication_role = replica`)
	prooftest.Remove(t, db, h.security, "report.email_sent")
	db.MustExec(`DELETE FROM log_checkpoints WHERE log = 'reports'`)

	h.serves(t)
	eventually(t, "the process is degraded", func() bool {
		status, passed := h.ana.checks(t, "/readyz")
		return status == "degraded" && !passed["history"] && !passed["projections_ahead"]
	})
	if said := h.server.logged.String(); !strings.Contains(said, `msg="a log is not the one that was signed before" log=reports`) {
		t.Error("the log does not say that the history was changed")
	}
	ahead := 0
	var projections struct {
		Items []struct {
			Name, Status, LastError string
			LagEvents, AheadEvents  int
		}
	}
	h.ana.get(t, "/api/v1/ops/projections", &projections)
	for _, p := range projections.Items {
		if p.Status == "ahead" && p.AheadEvents == 1 && p.LagEvents == 0 && strings.Contains(p.LastError, "1 events of the log reports are gone") {
			ahead++
		}
	}
	if ahead == 0 {
		t.Errorf("no projection is ahead: %+v", projections.Items)
	}
	h.fail(t, []string{"verify", pdf}, "its proof does not hold")
	h.fail(t, []string{"events", "verify", "--log", "reports"}, "does not fit")
	next := h.ana.request(t, scorecard(h.live, 1))
	h.ana.call(t, http.StatusOK, http.MethodGet, "/api/v1/reports/"+next.String(), nil, nil)
	h.ana.await(t, next, "Ready")

	if _, passed := h.ana.checks(t, "/readyz"); !passed["facts"] {
		t.Error("facts are altered before they are")
	}
	db.MustExec(`UPDATE assessments SET facts = (facts::text || ' ')::json`)
	now := time.Now().UTC()
	h.ana.get(t, "/api/v1/controls/PG-S17?from="+now.AddDate(0, 0, -2).Format(time.RFC3339)+"&to="+now.Format(time.RFC3339), nil)
	eventually(t, "the altered facts degrade the process", func() bool {
		_, passed := h.ana.checks(t, "/readyz")
		return !passed["facts"] && strings.Contains(string(h.ana.get(t, "/metrics", nil).body), "\nmuster_facts_altered_total 1\n")
	})
}
