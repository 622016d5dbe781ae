package pdf_test

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// TestADigestHasOneOrTwoPages: with 1,000 servers in trouble, too.
func TestADigestHasOneOrTwoPages(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	letter := snapshottest.CrowdedDay(1000)
	letter.Organization.PaperSize = "Letter"
	for name, c := range map[string]struct {
		doc  snapshot.Document
		most int
	}{
		"quiet": {snapshottest.Quiet(), 1}, "empty": {snapshottest.Empty(report.DailyDigest), 1}, "busy": {snapshottest.Rich(report.DailyDigest), 2},
		"1,000 servers": {snapshottest.CrowdedDay(1000), 2}, "1,000 servers on Letter": {letter, 2},
	} {
		if _, rendered := render(t, r, c.doc); rendered.Pages > c.most {
			t.Errorf("%s: %d pages, want at most %d", name, rendered.Pages, c.most)
		}
	}
}
