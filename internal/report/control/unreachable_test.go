package control_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/report/control"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// unreachable is a server that was attempted every quarter of an hour, so many times up to now,
// and never reached. Each attempt has its row and its event.
func (s *scene) unreachable(name string, attempts int) uuid.UUID {
	s.t.Helper()
	server := s.server(name)
	a := snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable, CatalogueVersion: "7", Error: "Nothing listens there."}
	now := time.Now().UTC().Truncate(time.Second)
	begun := now.Add(-time.Duration(attempts) * 15 * time.Minute)
	s.sent(assessment.Sent{Instance: server, Engine: fleet.PostgreSQL, At: begun, Assessment: a})
	first, err := s.reader.Assessments.LatestAssessment(s.t.Context(), s.acme, server)
	if err != nil {
		s.t.Fatal(err)
	}
	var answers string
	if err := s.db.Get(&answers, `SELECT encode(sha256(convert_to(answers::text, 'UTF8')), 'hex') FROM assessments WHERE id = $1`, first.ID); err != nil {
		s.t.Fatal(err)
	}
	service := commands.New(usecase.Base{DB: s.db, Events: s.events, Now: time.Now}, commands.Needs{})
	var ids []uuid.UUID
	for some := 1; some < attempts; some += 2000 {
		var told []fleet.Assessed
		for n := some; n < min(some+2000, attempts); n++ {
			e := fleet.AssessmentKept{
				InstanceID: server, AssessmentID: uuid.New(), At: begun.Add(time.Duration(n) * 15 * time.Minute),
				FactsSHA256: first.SHA256, AnswersSHA256: answers, Catalogue: "7",
			}
			e.Mark = s.key.Mark(secrets.MarkAssessment, assessment.MarkedText(s.acme, e))
			told, ids = append(told, e), append(ids, e.AssessmentID)
		}
		tx := s.db.MustBegin()
		if _, err := service.RecordAssessmentTx(s.t.Context(), tx, usecase.Actor{OrganizationID: s.acme, Component: "test"}, told...); err != nil {
			s.t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.db.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, outcome, facts, answers, recorded_at)
		SELECT n.id, a.organization_id, a.instance_id, a.outcome, a.facts, a.answers, a.recorded_at + n.n * interval '15 minutes'
		FROM assessments a, unnest($2::uuid[]) WITH ORDINALITY n (id, n) WHERE a.id = $1`, first.ID, ids)
	return server
}

// asRecorded has each event recorded when its assessment was made.
func (s *scene) asRecorded() {
	pgtest.Unguard(s.t, s.db)
	s.db.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz WHERE stream_type LIKE '%assessment'`)
	s.db.MustExec(`VACUUM ANALYZE`)
}

// peak is how much more is on the heap at once while something runs, in MB.
func peak(of func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, ctx := heap(), make(chan struct{})
	most := make(chan uint64)
	go func() {
		top := uint64(0)
		for {
			select {
			case <-ctx:
				most <- top
				return
			case <-time.After(time.Millisecond):
				top = max(top, heap())
			}
		}
	}()
	of()
	close(ctx)
	return float64(max(<-most, before)-before) / 1e6
}

// TestAServerThatIsUnreachable for weeks has an event every quarter of an hour, and what a report
// and a control say of it is what all of them say.
func TestAServerThatIsUnreachable(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.unreachable("down", 500)
	s.asRecorded()
	now := time.Now().UTC()
	bind := func() (map[uuid.UUID]logged.Entry, []logged.Alteration) {
		t.Helper()
		kept, err := s.reader.Assessments.LatestAssessment(t.Context(), s.acme, server)
		if err != nil {
			t.Fatal(err)
		}
		reached := kept.Outcome != snapshot.OutcomeUnreachable
		bound, altered, err := s.reader.Logged.Bind(t.Context(), s.acme, []logged.Used{{Stored: kept.Stored, Reached: reached, MaxAge: 24 * time.Hour}}, now)
		if err != nil {
			t.Fatal(err)
		}
		return bound, altered
	}
	if bound, altered := bind(); len(bound) != 1 || len(altered) > 0 {
		t.Errorf("bound are %+v, altered %+v", bound, altered)
	}
	month := control.Question{Check: "PG-S17", From: now.Add(-30 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{server}}
	if got, want := spoken(s.read(month), now), "down 30-0:notAssessed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// One of long ago in the place of the last hour.
	s.db.MustExec(`DELETE FROM assessments WHERE recorded_at > $1`, now.Add(-time.Hour))
	s.db.MustExec(`UPDATE assessments SET recorded_at = $1 WHERE recorded_at = (SELECT min(recorded_at) FROM assessments)`, now.Add(-30*time.Minute))
	if bound, altered := bind(); len(bound) != 0 || len(altered) != 1 || altered[0].Position == 0 {
		t.Errorf("with an old one moved, bound are %+v, altered %+v", bound, altered)
	}
	unlogged := func(l control.Look) bool { return l.Altered == control.ReasonNoEvent } // the log has it, of long ago
	if e := s.read(month); len(e.Items[0].Altered) != 3 || slices.ContainsFunc(e.Items[0].Altered, unlogged) {
		t.Errorf("with an old one moved, altered are %+v", e.Items[0].Altered)
	}
}

// BenchmarkServersThatAreUnreachableForAYear is what 40,000 attempts at each of two servers cost
// a report, and a control of the last month and of 400 days.
func BenchmarkServersThatAreUnreachableForAYear(b *testing.B) {
	s := newScene(b)
	const attempts = 40_000
	servers := []uuid.UUID{s.unreachable("a", attempts), s.unreachable("b", attempts)}
	s.asRecorded()
	var used []logged.Used
	for _, id := range servers {
		kept, err := s.reader.Assessments.LatestAssessment(context.Background(), s.acme, id)
		if err != nil {
			b.Fatal(err)
		}
		used = append(used, logged.Used{Stored: kept.Stored, MaxAge: 24 * time.Hour})
	}
	measured := func(name string, of func()) {
		for range b.N {
			b.ReportMetric(peak(of), "MB/"+name)
			begun := time.Now()
			of()
			b.ReportMetric(time.Since(begun).Seconds(), "s/"+name)
		}
	}
	measured("report", func() {
		if bound, altered, err := s.reader.Logged.Bind(b.Context(), s.acme, used, time.Now()); err != nil || len(altered) > 0 || len(bound) != len(servers) {
			b.Fatal(len(bound), altered, err)
		}
	})
	for name, days := range map[string]int{"month": 30, "400days": 399} {
		measured(name, func() {
			e := s.read(control.Question{Check: "PG-S17", Instances: servers, From: time.Now().AddDate(0, 0, -days), To: time.Now(), Now: time.Now()})
			if n := e.Items[0].Course.Periods[0].Looks; len(e.Items) != len(servers) || n < days*96-1 || e.Items[0].Altered != nil {
				b.Fatal(len(e.Items), n, len(e.Items[0].Altered))
			}
		})
	}
}
