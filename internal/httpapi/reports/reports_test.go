package reports

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/projections/history"
)

func TestARequestIsAnsweredAsItLeftTheReport(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	row := func(status report.Status) history.ReportRow {
		r := history.ReportRow{ID: uuid.Max, Status: status, CreatedAt: at}
		if status != report.StatusQueued {
			r.StartedAt = &at
		}
		switch status {
		case report.StatusReady:
			r.FinishedAt, r.ExpiresAt, r.File = &at, &at, &history.ReportFile{Name: "a.pdf"}
		case report.StatusFailed:
			r.FinishedAt, r.ErrorCode, r.ErrorMessage = &at, "render_failed", "x"
		case report.StatusQueued, report.StatusBuilding, report.StatusExpired:
		}
		return r
	}
	for _, c := range []struct {
		now    report.Status
		reused bool
		want   history.ReportRow
	}{
		{report.StatusQueued, false, row(report.StatusQueued)},
		{report.StatusBuilding, false, row(report.StatusQueued)},
		{report.StatusReady, false, row(report.StatusQueued)},
		{report.StatusFailed, false, row(report.StatusQueued)},
		{report.StatusQueued, true, row(report.StatusQueued)},
		{report.StatusBuilding, true, row(report.StatusBuilding)},
		{report.StatusReady, true, row(report.StatusBuilding)},
		{report.StatusFailed, true, row(report.StatusBuilding)},
	} {
		if diff := cmp.Diff(c.want, asLeft(row(c.now), c.reused)); diff != "" {
			t.Errorf("%s, reused %t: %s", c.now, c.reused, diff)
		}
	}
}
