package httpapi

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sentTime is a time in what an agent sent, which was then.
var sentTime = regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:.]+Z"`)

// TestAgentsOfEarlierVersionsAreUnderstood: every call that an agent of a version made, as it
// was recorded, is taken whole. A folder of testdata/agents is a version, by commit or day: one
// is added where agents begin to send more, and none is changed.
func TestAgentsOfEarlierVersionsAreUnderstood(t *testing.T) {
	t.Parallel()
	versions, err := filepath.Glob("testdata/agents/*")
	if err != nil || len(versions) < 2 {
		t.Fatalf("recorded are %v, %v", versions, err)
	}
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := sender{w, w.ingestToken(w.ours.admin)}
			now := fmt.Sprintf("%q", w.ago(time.Minute).UTC().Format(time.RFC3339Nano))
			for _, call := range []struct {
				name string
				path string
				want int
			}{{"fleet", "/ingest/v1/fleet", 200}, {"agents", agentsPath, 204}, {"assessments", assessmentsPath, 202}, {"samples", samplesPath, 202}} {
				body, err := os.ReadFile(filepath.Join(version, call.name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				in.send(call.path, sentTime.ReplaceAllString(string(body), now), as("agent-01")).is(call.want)
			}
			if kept := w.kept(); !strings.HasPrefix(kept, "5 series, 5 samples") { // of a host, of the sessions of two databases and what they do, of statements
				t.Errorf("of samples is kept: %s", kept)
			}
			if kept := w.keptOfFeeds(); !strings.HasPrefix(kept, "1 assessments, 2 classified") {
				t.Errorf("of assessments is kept: %s", kept)
			}
		})
	}
}
