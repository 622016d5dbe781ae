package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/internal/assessment/changes"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
)

// told is an announcement in short: the databases, those that are gone with a minus.
func told(t testing.TB, body string) string {
	t.Helper()
	var batch api.FleetBatch
	must(t, json.Unmarshal([]byte(body), &batch))
	var names []string
	for _, d := range *batch.Instances[0].Databases {
		name := d.Name
		if d.Removed != nil && *d.Removed {
			name = "-" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// announcements are those that were sent since the last time.
func (b *bench) announcements() (all []string) {
	b.t.Helper()
	for _, c := range b.calls {
		if c.path == fleetPath {
			all = append(all, told(b.t, c.body))
		}
	}
	b.calls = nil
	return all
}

func (b *bench) expectTold(want ...string) {
	b.t.Helper()
	must(b.t, b.deliverAll())
	if got := b.announcements(); strings.Join(got, "; ") != strings.Join(want, "; ") {
		b.t.Errorf("told %q, want %q", got, want)
	}
}

// TestAnAnnouncementIsComplete: a refused one is not sent again after a newer one, which names
// everything that is gone since the server last accepted one.
func TestAnAnnouncementIsComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	has := func(names ...string) {
		t.Helper()
		_, err := w.Databases(t.Context(), names)
		must(t, err)
	}
	must(t, b.announceAll())
	has("a", "b", "c")
	b.expectTold("", "a b c")
	has("a", "b", "c")
	b.expectTold()
	b.answers = []answer{refused(422, "x"), taken}
	has("a", "b")
	b.expectTold("a b -c")
	has("a")
	b.expectTold("a -b -c")
	must(t, b.store.retry())
	b.expectTold()
	has("a", "b")
	b.expectTold("a b")
	b.announceAgain(t.Context(), "db")
	b.announceAgain(t.Context(), "db") // it is on its way
	b.expectTold("a b")
}

// TestABadNameLeavesOutOnlyItsDatabase: the fleet accepts no illegible name, and refuses
// everything that comes with one.
func TestABadNameLeavesOutOnlyItsDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	odd := `Größe "x"]; 🙂`
	ids, err := w.Databases(t.Context(), []string{"a\nb", odd, strings.Repeat("x", 201)})
	var rule *usecase.RuleError
	if !errors.As(err, &rule) || len(ids) != 1 || strings.Contains(err.Error(), "a\nb") {
		t.Errorf("it has %v (%v)", ids, err)
	}
	b.expectTold(odd)
	at := instant.Cut(time.Now())
	must(t, w.Record(t.Context(), measurements.Batch{Sessions: []measurements.SessionSample{{Instance: w.id, Database: ids[odd], At: at, Active: 1}}}, nil))
	found := snapshot.Assessment{
		Databases: []snapshot.DatabaseFact{{Name: "a\nb", AllowsConn: true}, {Name: odd, AllowsConn: true}},
		Results: []snapshot.CheckResult{
			{CheckID: "PG-C04", Database: "a\nb", Status: snapshot.StatusFail, Violations: []snapshot.Violation{{Object: "i"}}},
			{CheckID: "PG-C04", Database: odd, Status: snapshot.StatusPass},
		},
	}
	must(t, keepFound(w, at, found))
	must(t, b.deliverAll())
	for _, c := range b.calls {
		if strings.Contains(c.body, `a\nb`) {
			t.Errorf("sent %s", c.body)
		}
	}
	if len(b.calls) != 3 || b.calls[2].path != assessmentsPath {
		t.Errorf("sent %q", b.calls)
	}
	b.holds(0, 0, 0, "")
}

func keepFound(w *watched, at time.Time, found snapshot.Assessment) error {
	sent := sentAssessment(w.ExternalID, w.Engine, at, found, changes.State{}, nil)
	body, err := marshal(api.AssessmentBatch{Assessments: []api.SentAssessment{sent}})
	if err != nil {
		return err
	}
	return w.keepAssessment(at, body, found, sent)
}

// TestAnAssessmentThatListsNoDatabasesRemovesNone: they could not be read.
func TestAnAssessmentThatListsNoDatabasesRemovesNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	_, err := w.Databases(t.Context(), []string{"a", "b"})
	must(t, err)
	b.expectTold("a b")
	at := instant.Cut(time.Now())
	must(t, keepFound(w, at, snapshot.Assessment{VersionText: "x", VersionNum: 170002}))
	b.expectTold("a b") // with the version
	must(t, keepFound(w, at, snapshot.Assessment{VersionNum: 170002, Databases: []snapshot.DatabaseFact{{Name: "b"}}}))
	b.expectTold("b -a")
}
