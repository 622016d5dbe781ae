package logged_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// BenchmarkBind is what binding 500 assessments adds to a report: at most 50 ms.
func BenchmarkBind(b *testing.B) {
	key, err := secrets.LoadOrCreate(filepath.Join(b.TempDir(), "key"))
	if err != nil {
		b.Fatal(err)
	}
	db, acme := pgtest.DB(b), uuid.New()
	events, facts := eventstore.New(db), assessment.NewStore(db, key)
	service := commands.New(usecase.Base{DB: db, Events: events, Now: time.Now}, commands.Needs{})
	const servers = 500
	a := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionText: strings.Repeat("x", 30_000)}
	var sent []assessment.Sent
	var used []logged.Used
	for i := range servers {
		id := uuid.UUID{0: byte(i), 1: byte(i >> 8), 15: 1}
		for n := range 8 {
			sent = append(sent, assessment.Sent{Instance: id, Engine: fleet.PostgreSQL, At: time.Now().UTC().Truncate(time.Second).Add(time.Duration(n-9) * time.Hour), Assessment: a})
		}
		used = append(used, logged.Used{Stored: assessment.Stored{Instance: id}})
	}
	err = facts.RecordSent(b.Context(), acme, sent, func(tx *sqlx.Tx, told []fleet.Assessed) error {
		_, err := service.RecordAssessmentTx(b.Context(), tx, usecase.Actor{OrganizationID: acme, Component: "test"}, told...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range used {
		kept, err := facts.LatestAssessment(b.Context(), acme, used[i].Instance)
		if err != nil {
			b.Fatal(err)
		}
		used[i].Stored, used[i].Reached = kept.Stored, true
	}
	pgtest.Unguard(b, db) // each was recorded when it was made
	db.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz`)
	db.MustExec(`VACUUM ANALYZE`)
	reader := &logged.Reader{Facts: facts, Log: events, Decode: usecase.Registry().Decode}
	for b.Loop() {
		bound, altered, err := reader.Bind(b.Context(), acme, used, time.Now())
		if err != nil || len(altered) > 0 || len(bound) != servers {
			b.Fatal(len(bound), altered, err)
		}
	}
}

// unmarked is an organization with assessments that a program from before marks stored.
type unmarked struct {
	db      *sqlx.DB
	acme    uuid.UUID
	facts   *assessment.Store
	service *commands.Service
	reader  *logged.Reader
}

func beforeMarks(t *testing.T) unmarked {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	events, facts := eventstore.New(db), assessment.NewStore(db, key)
	if err := secrets.CheckKeys(t.Context(), db, key); err != nil {
		t.Fatal(err)
	}
	if _, err := key.BeginMarks(t.Context(), db, "", time.Now(), func(context.Context) (bool, error) { return true, nil }); err != nil {
		t.Fatal(err)
	}
	return unmarked{
		db: db, acme: uuid.New(), facts: facts, service: commands.New(usecase.Base{DB: db, Events: events, Now: time.Now}, commands.Needs{}),
		reader: &logged.Reader{Facts: facts, Log: events, Decode: usecase.Registry().Decode},
	}
}

// record stores assessments; only the first has an event, and that has no digest.
func (u unmarked) record(t *testing.T, sent []assessment.Sent) (first uuid.UUID) {
	t.Helper()
	err := u.facts.RecordSent(t.Context(), u.acme, sent, func(tx *sqlx.Tx, told []fleet.Assessed) error {
		one := told[0].(fleet.InstanceAssessed)
		first = one.AssessmentID
		_, err := u.service.RecordAssessmentTx(t.Context(), tx, usecase.Actor{OrganizationID: u.acme, Component: "test"},
			fleet.InstanceAssessed{InstanceID: sent[0].Instance, AssessmentID: first, At: one.At})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// TestFactsThatCannotBeDecoded are altered, and no error that is tried again: those of an
// assessment that a program from before marks stored without an event, and those of the last
// one in the log.
func TestFactsThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	b := beforeMarks(t)
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	a := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Results: []snapshot.CheckResult{{CheckID: "PG-S17", Status: snapshot.StatusPass}}}
	for name, c := range map[string]struct {
		altered    int // the how manyth of two; -1: none
		used       int // only the first has an event, and that has no digest
		unreadable bool
		want       string
	}{
		"none":                          {-1, 1, false, "[]"},
		"the last that the log has":     {0, 1, false, "[12:00]"},
		"the used, after it was read":   {1, 1, false, "[12:01]"},
		"the used":                      {1, 1, true, "[12:01]"},
		"the used, which has its event": {0, 0, true, "[12:00]"},
	} {
		server := uuid.New()
		sent := []assessment.Sent{{Instance: server, Engine: fleet.PostgreSQL, At: noon, Assessment: a}, {Instance: server, Engine: fleet.PostgreSQL, At: noon.Add(time.Minute), Assessment: a}}
		first := b.record(t, sent)
		kept, err := b.facts.LatestAssessment(t.Context(), b.acme, server)
		if c.used == 0 {
			kept, err = b.facts.Assessment(t.Context(), b.acme, first)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.altered >= 0 {
			b.db.MustExec(`UPDATE assessments SET facts = '[]' WHERE instance_id = $1 AND recorded_at = $2`, server, sent[c.altered].At)
		}
		_, altered, err := b.reader.Bind(t.Context(), b.acme, []logged.Used{{Stored: kept.Stored, Unreadable: c.unreadable, Reached: true}}, time.Now())
		at := []string{}
		for _, one := range altered {
			at = append(at, one.At.Format("15:04"))
		}
		if got := fmt.Sprint(at); err != nil || got != c.want {
			t.Errorf("%s: altered are those of %s, %v", name, got, err)
		}
	}
}

// TestAProcessWithAnOldKeyFile calls no assessment altered that another process recorded: it
// cannot judge the new key's mark, and says which file it needs.
func TestAProcessWithAnOldKeyFile(t *testing.T) {
	t.Parallel()
	file, copied := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "key")
	key, err := secrets.LoadOrCreate(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := secrets.Load(copied)
	if err != nil {
		t.Fatal(err)
	}
	db, acme, server := pgtest.DB(t), uuid.New(), uuid.New()
	if err := secrets.CheckKeys(t.Context(), db, key); err != nil {
		t.Fatal(err)
	}
	_, err = secrets.Rotate(t.Context(), db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func(secrets.Rotation) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	events, facts := eventstore.New(db), assessment.NewStore(db, key)
	service := commands.New(usecase.Base{DB: db, Events: events, Now: time.Now}, commands.Needs{})
	sent := assessment.Sent{Instance: server, Engine: fleet.PostgreSQL, At: time.Now().UTC().Truncate(time.Second), Assessment: snapshot.Assessment{Outcome: snapshot.OutcomeComplete}}
	err = facts.RecordSent(t.Context(), acme, []assessment.Sent{sent}, func(tx *sqlx.Tx, told []fleet.Assessed) error {
		_, err := service.RecordAssessmentTx(t.Context(), tx, usecase.Actor{OrganizationID: acme, Component: "test"}, told...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := facts.LatestAssessment(t.Context(), acme, server)
	if err != nil {
		t.Fatal(err)
	}
	var rotated *secrets.RotatedError
	for name, c := range map[string]struct {
		key     *secrets.Ring
		refused bool
	}{"the installation's file": {key, false}, "an old copy": {old, true}} {
		reader := &logged.Reader{Facts: assessment.NewStore(db, c.key), Log: events, Decode: usecase.Registry().Decode}
		bound, altered, err := reader.Bind(t.Context(), acme, []logged.Used{{Stored: kept.Stored, Reached: true}}, time.Now())
		if len(altered) > 0 || errors.As(err, &rotated) != c.refused || !c.refused && (err != nil || len(bound) != 1) {
			t.Errorf("%s: bound are %d, altered %+v, %v", name, len(bound), altered, err)
		}
	}
}

// TestACopiedEvent vouches for nothing: its mark is genuine, and the first event counts. So an
// attacker cannot restore the earlier knowledge of the databases.
func TestACopiedEvent(t *testing.T) {
	t.Parallel()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db, acme, server := pgtest.DB(t), uuid.New(), uuid.New()
	events := eventstore.New(db)
	kept := func(at time.Time, classified string) fleet.AssessmentKept {
		e := fleet.AssessmentKept{InstanceID: server, AssessmentID: uuid.New(), At: at, FactsSHA256: "f", Reached: true, ClassifiedSHA256: classified}
		e.Mark = key.Mark(secrets.MarkAssessment, assessment.MarkedText(acme, e))
		return e
	}
	appended := func(streamType string, stream uuid.UUID, all ...fleet.AssessmentKept) {
		t.Helper()
		a := eventstore.Append{Organization: acme, StreamType: streamType, Stream: stream, Expected: eventstore.AnyVersion}
		for _, one := range all {
			e, err := usecase.Registry().Encode(one)
			if err != nil {
				t.Fatal(err)
			}
			a.Events = append(a.Events, e)
		}
		if _, err := events.Append(t.Context(), eventstore.Fleet, a); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC().Truncate(time.Second)
	before, last := kept(now.Add(-2*time.Hour), "old"), kept(now, "new")
	appended(fleet.KeptStream, fleet.KeptOf(server), kept(now.Add(-3*time.Hour), "old"), before, last)
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz`)
	reader := &logged.Reader{Facts: assessment.NewStore(db, key), Log: events, Decode: usecase.Registry().Decode}
	said := func(classified string) string {
		t.Helper()
		u := logged.Used{Stored: assessment.Stored{ID: last.AssessmentID, Instance: server, At: last.At, SHA256: "f"}, Reached: true, Classified: classified}
		bound, altered, err := reader.Bind(t.Context(), acme, []logged.Used{u}, now)
		return fmt.Sprint(len(bound), altered, err)
	}
	whole, changed := said("new"), said("old")
	if whole != "1 [] <nil>" || changed == whole {
		t.Fatalf("of what the log has it says %s, and of what it had before %s", whole, changed)
	}
	appended(fleet.AssessmentStream, fleet.AssessmentsOf(server), before)
	if got := said("old"); got != changed {
		t.Errorf("with a copy of the event of before it says %s, want %s", got, changed)
	}
	if got := said("new"); got != whole {
		t.Errorf("with a copy of the event of before it says %s of what is there, want %s", got, whole)
	}
}

// TestAnAssessmentWithoutItsEvent, which a program from before marks stored, is used if it
// shows no better state than the last one of its day in the log.
func TestAnAssessmentWithoutItsEvent(t *testing.T) {
	t.Parallel()
	b := beforeMarks(t)
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	found := func(status string) snapshot.Assessment {
		if status == snapshot.OutcomeUnreachable {
			return snapshot.Assessment{Outcome: status}
		}
		return snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Results: []snapshot.CheckResult{{CheckID: "PG-S17", Status: status}}}
	}
	for name, c := range map[string]struct {
		first, second string
		ago           time.Duration // of the first, which alone has an event
		altered       int
	}{
		"the same":                       {snapshot.StatusFail, snapshot.StatusFail, time.Minute, 0},
		"worse":                          {snapshot.StatusPass, snapshot.StatusFail, time.Minute, 0},
		"better":                         {snapshot.StatusFail, snapshot.StatusPass, time.Minute, 1},
		"not looked at":                  {snapshot.StatusFail, snapshot.StatusNotAssessed, time.Minute, 1},
		"the first of its day":           {snapshot.StatusFail, snapshot.StatusFail, 24 * time.Hour, 1},
		"an attempt":                     {snapshot.StatusFail, snapshot.OutcomeUnreachable, time.Minute, 0},
		"an attempt, the first that day": {snapshot.StatusFail, snapshot.OutcomeUnreachable, 24 * time.Hour, 0},
	} {
		server := uuid.New()
		sent := []assessment.Sent{{Instance: server, Engine: fleet.PostgreSQL, At: noon.Add(-c.ago), Assessment: found(c.first)}, {Instance: server, Engine: fleet.PostgreSQL, At: noon, Assessment: found(c.second)}}
		b.record(t, sent)
		var second uuid.UUID
		if err := b.db.Get(&second, `SELECT id FROM assessments WHERE instance_id = $1 AND recorded_at = $2`, server, noon); err != nil {
			t.Fatal(err)
		}
		kept, err := b.facts.Assessment(t.Context(), b.acme, second)
		if err != nil {
			t.Fatal(err)
		}
		u := logged.Used{Stored: kept.Stored, Reached: c.second != snapshot.OutcomeUnreachable}
		if _, altered, err := b.reader.Bind(t.Context(), b.acme, []logged.Used{u}, time.Now()); err != nil || len(altered) != c.altered {
			t.Errorf("%s: altered are %+v, %v", name, altered, err)
		}
	}
}
