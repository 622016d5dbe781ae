package control_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/report/control"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
	projected "muster/projections/fleet"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// scene is an organization whose history is written by hand.
type scene struct {
	t      testing.TB
	db     *sqlx.DB
	events *eventstore.Store
	reader *control.Reader
	acme   uuid.UUID
	key    *secrets.Ring
}

// sent has a feed send assessments, each with its event.
func (s *scene) sent(all ...assessment.Sent) {
	s.t.Helper()
	service := commands.New(usecase.Base{DB: s.db, Events: s.events, Now: time.Now}, commands.Needs{})
	err := s.reader.Assessments.RecordSent(s.t.Context(), s.acme, all, func(tx *sqlx.Tx, told []fleet.Assessed) error {
		_, err := service.RecordAssessmentTx(s.t.Context(), tx, usecase.Actor{OrganizationID: s.acme, Component: "test"}, told...)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// of is an assessment of a server some time ago, with a result of PG-S17.
func of(instance uuid.UUID, ago time.Duration, status string, objects ...string) assessment.Sent {
	r := snapshot.CheckResult{CheckID: "PG-S17", Status: status, Threshold: "nobody", Total: len(objects)}
	for _, o := range objects {
		r.Violations = append(r.Violations, snapshot.Violation{Object: o})
	}
	return assessment.Sent{Instance: instance, Engine: fleet.PostgreSQL, At: time.Now().UTC().Add(-ago).Truncate(time.Microsecond), Assessment: snapshot.Assessment{
		Outcome: snapshot.OutcomeComplete, CatalogueVersion: "7", Results: []snapshot.CheckResult{r},
	}}
}

// server registers a server that existed long before.
func (s *scene) server(name string) uuid.UUID {
	s.t.Helper()
	id := uuid.New()
	s.happens(eventstore.Fleet, fleet.InstanceStream, id, s.acme, fleet.InstanceRegistered{Name: name, Engine: fleet.PostgreSQL, Active: true, CreatedAt: time.Now().AddDate(0, -6, 0)})
	return id
}

func newScene(t testing.TB) *scene {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	events, facts := eventstore.New(db), assessment.NewStore(db, key)
	return &scene{t, db, events, &control.Reader{
		Assessments: facts, Log: events, Fleet: projected.NewReader(db), Decode: usecase.Registry().Decode,
		Logged: &logged.Reader{Facts: facts, Log: events, Decode: usecase.Registry().Decode},
	}, uuid.New(), key}
}

// happens appends facts to a stream of a log.
func (s *scene) happens(log eventstore.Log, streamType string, stream, who uuid.UUID, facts ...any) {
	s.t.Helper()
	a := eventstore.Append{Organization: s.acme, StreamType: streamType, Stream: stream, Expected: eventstore.AnyVersion, Metadata: eventstore.Metadata{ActorID: who.String()}}
	for _, fact := range facts {
		e, err := usecase.Registry().Encode(fact)
		if err != nil {
			s.t.Fatal(err)
		}
		a.Events = append(a.Events, e)
	}
	if _, err := s.events.Append(s.t.Context(), log, a); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) read(q control.Question) control.Evidence {
	s.t.Helper()
	q.Organization, q.Engine = s.acme, fleet.PostgreSQL
	e, err := s.reader.Read(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// TestTheLogsDecideOverServersAndExceptions as far as they went at the instant of the question: a decision
// counts from its record to that of its revocation.
func TestTheLogsDecideOverServersAndExceptions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one, gone, idle := uuid.New(), uuid.New(), uuid.New()
	from := time.Now().UTC().Add(-48 * time.Hour).Truncate(time.Microsecond)
	at := func(created time.Time, name string, active bool) fleet.InstanceRegistered {
		return fleet.InstanceRegistered{Name: name, Engine: fleet.PostgreSQL, Active: active, CreatedAt: created}
	}
	s.happens(eventstore.Fleet, fleet.InstanceStream, one, s.acme, at(from.Add(-time.Hour), "one", true))
	s.happens(eventstore.Fleet, fleet.InstanceStream, gone, s.acme, at(from.Add(time.Hour), "gone", true), fleet.InstanceRemoved{})
	s.happens(eventstore.Fleet, fleet.InstanceStream, idle, s.acme, at(from, "idle", false))
	s.happens(eventstore.Fleet, fleet.InstanceStream, uuid.New(), s.acme, fleet.InstanceRegistered{Name: "ora", Engine: fleet.Oracle, Active: true, CreatedAt: from})
	x, refused, admin := uuid.New(), uuid.New(), uuid.New()
	asked := exception.Requested{Subject: exception.Subject{CheckID: "PG-S17"}, Reason: "legacy", Until: from.AddDate(0, 0, 90)}
	s.happens(eventstore.Organization, exception.StreamType, x, uuid.New(), asked)
	s.happens(eventstore.Organization, exception.StreamType, x, admin, exception.Granted{})
	s.happens(eventstore.Organization, exception.StreamType, refused, admin, asked, exception.Revoked{})
	s.sent(of(one, time.Hour, "fail"))
	s.db.MustExec(`UPDATE assessments SET answers = '{}'`)
	s.happens(eventstore.Organization, exception.StreamType, x, admin, exception.Revoked{})

	e := s.read(control.Question{Check: "PG-S17", From: from, To: time.Now().UTC().Add(time.Minute), Now: time.Now(), FromRecord: true})
	var names []string
	for _, item := range e.Items {
		names = append(names, fmt.Sprint(item.Name, " ", item.Removed))
	}
	if got := fmt.Sprint(names); got != "[gone true one false]" {
		t.Errorf("servers %s", got)
	}
	if len(e.Exceptions) != 1 || e.Exceptions[0].ID != x || e.Exceptions[0].GrantedBy != admin || e.Exceptions[0].GrantedIn != 2 || e.Exceptions[0].RevokedIn != 5 {
		t.Errorf("exceptions %+v", e.Exceptions)
	}
	var states []control.State
	for _, p := range e.Items[1].Course.Periods {
		states = append(states, p.State)
	}
	if got := fmt.Sprint(states); got != "[notAssessed failed accepted failed]" {
		t.Errorf("states %s", got)
	}
	if life := e.Items[0].Course.Life.Round(time.Hour); life != 47*time.Hour {
		t.Errorf("the one that is gone was there for %s", life)
	}

	if e.Fleet.Position != 6 || e.Organization.Position != 5 {
		t.Errorf("heads %s and %s", e.Fleet, e.Organization)
	}
	s.acme = uuid.New()
	if e := s.read(control.Question{Check: "PG-S17", Instances: []uuid.UUID{one}, From: from, To: time.Now(), Now: time.Now()}); len(e.Items)+len(e.Exceptions) > 0 {
		t.Errorf("another organization sees %+v", e)
	}
}

// TestAServerExistsSinceItsFirstAssessment where that is older than its registration, which then says nothing
// about when the server came: the whole window counts.
func TestAServerExistsSinceItsFirstAssessment(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sent, quiet := uuid.New(), uuid.New()
	now := time.Now().UTC()
	for _, id := range []uuid.UUID{sent, quiet} {
		s.happens(eventstore.Fleet, fleet.InstanceStream, id, s.acme, fleet.InstanceRegistered{Name: id.String(), Engine: fleet.PostgreSQL, Active: true, CreatedAt: now.Add(-time.Hour)})
	}
	s.sent(of(sent, 6*time.Hour, "pass"))
	e := s.read(control.Question{Check: "PG-S17", Instances: []uuid.UUID{sent, quiet}, From: now.Add(-12 * time.Hour), To: now, Now: now})
	for _, item := range e.Items {
		want, share := time.Hour, 0.0
		if item.Instance == sent {
			want, share = 12*time.Hour, 0.5
		}
		if item.Course.Life != want || math.Abs(item.Course.PassedShare()-share) > 0.001 {
			t.Errorf("it is %s old, and passed for %v of that; want %s, %v", item.Course.Life, item.Course.PassedShare(), want, share)
		}
	}
	if len(e.Items) != 2 {
		t.Errorf("%d servers", len(e.Items))
	}
}

// TestAnExceptionForAnObject reads which objects failed.
func TestAnExceptionForAnObject(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := uuid.New()
	from := time.Now().UTC().Add(-2 * time.Hour)
	s.happens(eventstore.Fleet, fleet.InstanceStream, one, s.acme, fleet.InstanceRegistered{Name: "one", Engine: fleet.PostgreSQL, Active: true, CreatedAt: from})
	x := uuid.New()
	s.happens(eventstore.Organization, exception.StreamType, x, s.acme,
		exception.Requested{Subject: exception.Subject{CheckID: "PG-S17", ObjectRef: "t"}, Reason: "legacy", Until: from.AddDate(0, 0, 90)}, exception.Granted{})
	s.sent(of(one, -100*time.Second, "fail", "t"), of(one, -200*time.Second, "fail", "u"))
	// SQL gives another answer to the third read of the facts. Evidence reads each once; in
	// other cases a second read is compared with the first.
	s.db.MustExec(`ALTER TABLE assessments RENAME TO kept`)
	s.db.MustExec(`CREATE SEQUENCE reads`)
	s.db.MustExec(`CREATE VIEW assessments AS SELECT id, organization_id, instance_id, recorded_at, outcome, answers,
		CASE WHEN nextval('reads') <= 2 THEN facts ELSE replace(facts::text, '"u"', '"t"')::json END AS facts FROM kept`)
	for want, evidence := range map[string]bool{"[notAssessed accepted failed]": true, "[notAssessed accepted altered]": false} {
		s.db.MustExec(`ALTER SEQUENCE reads RESTART`)
		e := s.read(control.Question{Check: "PG-S17", Instances: []uuid.UUID{one}, From: from, To: time.Now().Add(time.Hour), Now: time.Now(), FromRecord: evidence})
		var states []control.State
		for _, p := range e.Items[0].Course.Periods {
			states = append(states, p.State)
		}
		if got := fmt.Sprint(states); got != want {
			t.Errorf("from facts %v: the states are %s, want %s", evidence, got, want)
		}
	}
}

// BenchmarkTenThousandAssessments of 200 servers, each with the answers of 60 checks and
// facts of 30 kB. Beside it stands how many times as long it takes to fetch the facts
// too, which a reading does without.
func BenchmarkTenThousandAssessments(b *testing.B) {
	s := newScene(b)
	var all []uuid.UUID
	for i := range 200 {
		one := uuid.UUID{0: byte(i), 15: 1}
		s.happens(eventstore.Fleet, fleet.InstanceStream, one, s.acme,
			fleet.InstanceRegistered{Name: fmt.Sprint("db", i), Engine: fleet.PostgreSQL, Active: true, CreatedAt: time.Now().AddDate(0, 0, -90)})
		all = append(all, one)
	}
	var sent []assessment.Sent
	for i, id := range all {
		for n := 50; n > 0; n-- {
			one := of(id, time.Duration(n)*20*time.Hour, "pass")
			one.Assessment.VersionText = strings.Repeat("x", 22_000)
			for c := range 60 {
				status := "pass"
				if (i+n+c)%3 == 0 {
					status = "fail"
				}
				one.Assessment.Results = append(one.Assessment.Results, snapshot.CheckResult{CheckID: fmt.Sprint("PG-X", c), Status: status, Total: c})
			}
			sent = append(sent, one)
		}
	}
	s.sent(sent...)
	pgtest.Unguard(b, s.db) // each was recorded when it was made
	s.db.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz WHERE stream_type LIKE '%assessment'`)
	s.db.MustExec(`VACUUM ANALYZE`)
	question := control.Question{Check: "PG-S17", Instances: all, From: time.Now().AddDate(0, 0, -60), To: time.Now(), Now: time.Now()}
	var reading, fetching time.Duration
	for b.Loop() {
		begun := time.Now()
		e := s.read(question)
		reading += time.Since(begun)
		looks := 0
		for _, item := range e.Items {
			for _, p := range item.Course.Periods {
				looks += p.Looks
			}
		}
		if looks != 10_000 || len(e.Items) != 200 {
			b.Fatalf("%d assessments of %d servers", looks, len(e.Items))
		}
		begun = time.Now()
		var whole []struct{ Answers, Facts []byte }
		if err := s.db.Select(&whole, `SELECT answers, facts FROM assessments WHERE organization_id = $1`, s.acme); err != nil || len(whole) != looks {
			b.Fatalf("%d assessments, %v", len(whole), err)
		}
		fetching += time.Since(begun)
	}
	b.ReportMetric(reading.Seconds()/float64(b.N), "s/reading")
	b.ReportMetric(fetching.Seconds()/reading.Seconds(), "times-with-facts")
}
