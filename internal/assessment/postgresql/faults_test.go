package postgresql

import (
	"fmt"
	"testing"
	"time"

	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
)

// TestFault25TheCheckOfCVEsAgreesWithTheSections: of a version out of support, of which no CVE is open and some are
// not ruled out, it names none as open; of one that lacks fixes, as many as are open.
func TestFault25TheCheckOfCVEsAgreesWithTheSections(t *testing.T) {
	t.Parallel()
	known, err := feed.Load()
	if err != nil {
		t.Fatal(err)
	}
	for version, some := range map[int]bool{120022: false, 160004: true} {
		found := &snapshot.Assessment{VersionNum: version}
		var open, possible int
		for _, c := range known.Concerns(feed.VersionOf(version), found) {
			switch c.Applies {
			case snapshot.CVEOpen:
				open++
			case snapshot.CVEUnknown:
				possible++
			}
		}
		violations, measured, unknown := knownVulnerabilities(evidence{found: found, feed: known, at: time.Now()})
		want := fmt.Sprintf("PostgreSQL %s, CVEs: %d open, %d not ruled out", feed.VersionOf(version), open, possible)
		if len(violations) != open || (open > 0) != some || possible == 0 || measured != want || unknown != "" {
			t.Errorf("%d findings, %q %q, want %d, %q", len(violations), measured, unknown, open, want)
		}
	}
}
