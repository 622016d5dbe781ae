package reports

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/projections/history"
)

func TestTheAnswerShowsTheReportAtTheTimeOfTheRequest(t *testing.T) {
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
		then, now report.Status
		want      history.ReportRow
	}{
		{report.StatusQueued, report.StatusQueued, row(report.StatusQueued)},
		{report.StatusQueued, report.StatusBuilding, row(report.StatusQueued)},
		{report.StatusQueued, report.StatusReady, row(report.StatusQueued)},
		{report.StatusBuilding, report.StatusBuilding, row(report.StatusBuilding)},
		{report.StatusBuilding, report.StatusReady, row(report.StatusBuilding)},
		{report.StatusBuilding, report.StatusFailed, row(report.StatusBuilding)},
	} {
		if diff := cmp.Diff(c.want, asJoined(row(c.now), c.then)); diff != "" {
			t.Errorf("%s, and %s by now: %s", c.then, c.now, diff)
		}
	}
}
