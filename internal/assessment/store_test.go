package assessment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/lease"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

const dsn = "postgres://watcher:planted-password@db01/app"

func storeOf(t *testing.T) (*assessment.Store, *sqlx.DB) {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	return assessment.NewStore(db, key), db
}

func register(t *testing.T, store *assessment.Store, db *sqlx.DB) (organization, instance uuid.UUID) {
	t.Helper()
	organization, instance = uuid.New(), uuid.New()
	err := store.SaveCredentials(context.Background(), db, assessment.Credentials{
		Organization: organization, Instance: instance, Engine: fleet.PostgreSQL, DSN: dsn,
	})
	if err != nil {
		t.Fatal(err)
	}
	return organization, instance
}

// claimOne claims an instance after whatever attempts there were.
func claimOne(ctx context.Context, store *assessment.Store, organization, instance uuid.UUID) (assessment.Claim, bool, error) {
	since, err := store.Attempt(ctx, organization, instance)
	if err != nil {
		return assessment.Claim{}, false, err
	}
	return store.ClaimSince(ctx, organization, instance, since, time.Minute)
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestCredentialsAreSealedAndBoundToTheirRow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	got, ok, err := store.Credentials(ctx, organization, instance)
	want := assessment.Credentials{Organization: organization, Instance: instance, Engine: fleet.PostgreSQL, DSN: dsn, Classify: assessment.ClassifyNames}
	if err != nil || !ok || got != want {
		t.Fatalf("%+v, %t, %v", got, ok, err)
	}
	var sealed []byte
	if err := db.Get(&sealed, `SELECT sealed_dsn FROM assessment_targets`); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("planted")) || bytes.Contains(sealed, []byte("db01")) {
		t.Error("the connection lies in the database in the clear")
	}
	if _, ok, err := store.Credentials(ctx, uuid.New(), instance); ok || err != nil {
		t.Errorf("another organization reads it: %t, %v", ok, err)
	}
	if other, states := uuid.New(), must[map[uuid.UUID]assessment.TargetState](t); len(states(store.States(ctx, other, []uuid.UUID{instance}))) > 0 {
		t.Error("another organization sees its state")
	}
	// Locked, they stay as they were read; another organization locks nothing.
	locking := db.MustBegin()
	defer func() { _ = locking.Rollback() }()
	if _, ok, err := store.LockCredentials(ctx, locking, uuid.New(), instance); ok || err != nil {
		t.Errorf("another organization locks it: %t, %v", ok, err)
	}
	if got, ok, err := store.LockCredentials(ctx, locking, organization, instance); err != nil || !ok || got != want {
		t.Errorf("%+v, %t, %v", got, ok, err)
	}
	waiting := db.MustBegin()
	waiting.MustExec(`SET LOCAL lock_timeout = '20ms'`)
	if err := store.SaveCredentials(ctx, waiting, want); err == nil {
		t.Error("they are replaced while they are locked")
	}
	_, _ = waiting.Rollback(), locking.Rollback()
	// A row moved to another instance does not open there.
	db.MustExec(`UPDATE assessment_targets SET instance_id = $1`, uuid.New())
	var moved uuid.UUID
	if err := db.Get(&moved, `SELECT instance_id FROM assessment_targets`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Credentials(ctx, organization, moved); err == nil {
		t.Error("a moved row opens")
	}
}

func reachedAt(version int) snapshot.Assessment {
	return snapshot.Assessment{
		Outcome: snapshot.OutcomePartial, VersionNum: version, StartedAt: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		Databases:     []snapshot.DatabaseFact{{Name: "app"}},
		MissingGrants: []snapshot.MissingGrant{{Object: "o", Statement: "GRANT", Checks: []string{"PG-S01"}}},
	}
}

func unreachable() snapshot.Assessment {
	return snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable, ErrorClass: "refused", Error: "Nothing there."}
}

func classified(name, status string) assessment.DatabaseClassification {
	return assessment.DatabaseClassification{Database: name, Classification: snapshot.Classification{Status: status}}
}

func TestALostServerKeepsItsLastGoodFacts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	state := func() assessment.TargetState {
		return must[map[uuid.UUID]assessment.TargetState](t)(store.States(ctx, organization, []uuid.UUID{instance, uuid.New()}))[instance]
	}
	record := func(a snapshot.Assessment, c ...assessment.DatabaseClassification) {
		t.Helper()
		claim, ok, err := claimOne(ctx, store, organization, instance)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := store.Record(ctx, claim, a, c, time.Hour); err != nil {
			t.Fatal(err)
		}
	}

	if a, c, err := store.Latest(ctx, organization, instance); a != nil || len(c) > 0 || err != nil {
		t.Fatalf("before anything was tried: %v, %v, %v", a, c, err)
	}
	record(unreachable())
	if s := state(); s.LastSeenAt != nil || s.LastError == nil || s.LastError.Class != "refused" || !s.Collected {
		t.Errorf("never reached: %+v", s)
	}
	if a, _, _ := store.Latest(ctx, organization, instance); a == nil || a.Outcome != snapshot.OutcomeUnreachable {
		t.Errorf("never reached: %+v", a)
	}
	record(reachedAt(150018), classified("app", snapshot.ClassificationCompleted), classified("gone", snapshot.ClassificationFailed))
	if s := state(); s.LastSeenAt == nil || s.LastAssessedAt == nil || s.LastClassifiedAt == nil || s.LastError != nil || len(s.MissingGrants) != 1 {
		t.Errorf("reached: %+v", s)
	}
	record(unreachable())
	a, c, err := store.Latest(ctx, organization, instance)
	if err != nil || a.VersionNum != 150018 || len(c) != 1 || c[0].Database != "app" {
		t.Errorf("%+v, %+v, %v", a, c, err)
	}
	if s := state(); s.LastError == nil || len(s.MissingGrants) != 1 {
		t.Errorf("lost: %+v", s)
	}
	newest := must[*assessment.Kept](t)(store.Newest(ctx, organization, instance))
	if newest.Outcome != snapshot.OutcomeUnreachable {
		t.Errorf("%+v", newest)
	}
	if fresh := must[*assessment.Kept](t)(store.Reached(ctx, organization, instance, time.Hour)); fresh == nil {
		t.Error("facts of a moment ago are not fresh")
	}
	db.MustExec(`UPDATE assessments SET recorded_at = recorded_at - interval '2 hours'`)
	if stale := must[*assessment.Kept](t)(store.Reached(ctx, organization, instance, time.Hour)); stale != nil {
		t.Error("facts of two hours ago are fresh")
	}
	if foreign, _, _ := store.Latest(ctx, uuid.New(), instance); foreign != nil {
		t.Error("another organization reads them")
	}
}

func TestFactsAreReadAsTheyWereStored(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	claim, _, err := claimOne(ctx, store, organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	n, size := 3, int64(42)
	want := reachedAt(150018)
	want.ClientSessions, want.Databases[0].SizeBytes = &n, &size
	want.Results = []snapshot.CheckResult{{
		CheckID: "PG-S01", Status: snapshot.StatusFail, FailFraction: 1.0 / 3.0,
		Violations: []snapshot.Violation{{Object: "line 1 \u0000 <&>", Evidence: "ü\u2028"}},
	}}
	if err := store.Record(ctx, claim, want, nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	got, _, err := store.Latest(ctx, organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)

	first, ok, err := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order())
	if err != nil || !ok || first.Instance != instance {
		t.Fatalf("a new connection is not due: %v %v", ok, err)
	}
	if _, ok, _ := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order()); ok {
		t.Fatal("claimed twice")
	}
	if _, ok, _ := claimOne(ctx, store, organization, instance); ok {
		t.Fatal("claimed while held")
	}
	// Its holder dies: the lease runs out.
	db.MustExec(`UPDATE assessment_targets SET leased_until = now() - interval '1 second'`)
	second, ok, err := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order())
	if err != nil || !ok {
		t.Fatal("a dead holder's server is not due")
	}
	// Its holder was only slow.
	var lost *lease.LostError
	if err := store.Record(ctx, first, reachedAt(1), nil, time.Hour); !errors.As(err, &lost) {
		t.Errorf("a late holder records: %v", err)
	}
	if err := store.Extend(ctx, first, time.Minute); !errors.As(err, &lost) {
		t.Errorf("a late holder extends: %v", err)
	}
	if err := store.Extend(ctx, second, time.Minute); err != nil {
		t.Error(err)
	}
	if err := store.Record(ctx, second, reachedAt(2), nil, time.Hour); err != nil {
		t.Error(err)
	}
	if err := store.Record(ctx, second, reachedAt(3), nil, time.Hour); !errors.As(err, &lost) {
		t.Errorf("recorded twice: %v", err)
	}
	if _, ok, _ := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order()); ok {
		t.Error("due again at once")
	}
	if known, err := store.Due(ctx, organization, instance); err != nil || !known {
		t.Error(known, err)
	}
	if known, _ := store.Due(ctx, uuid.New(), instance); known {
		t.Error("another organization makes it due")
	}
	third, ok, _ := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order())
	if !ok {
		t.Fatal("on demand it is not due")
	}
	// Asked for again while it is looked at.
	if _, err := store.Due(ctx, organization, instance); err != nil {
		t.Fatal(err)
	}
	if err := store.Record(ctx, third, reachedAt(2), nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	fourth, ok, _ := store.ClaimDue(ctx, time.Minute, fairslots.NewSlots(1).Order())
	if !ok {
		t.Fatal("a request during a look is lost")
	}
	before := assessment.Attempt{Known: true, Finished: 1}
	db.MustExec(`UPDATE assessment_targets SET leased_until = now() - interval '1 second'`)
	if _, ok, _ := store.ClaimSince(ctx, organization, instance, before, time.Minute); ok {
		t.Error("claimed though an attempt has finished since")
	}
	// The connection is replaced while the old one is being looked at.
	err = store.SaveCredentials(ctx, db, assessment.Credentials{Organization: organization, Instance: instance, Engine: fleet.PostgreSQL, DSN: dsn + "2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Record(ctx, fourth, reachedAt(4), nil, time.Hour); !errors.As(err, &lost) {
		t.Errorf("what the old connection found is recorded: %v", err)
	}
	if got, _, _ := store.Latest(ctx, organization, instance); got.VersionNum != 2 {
		t.Errorf("%d was recorded", got.VersionNum)
	}
}

func TestForgetAndPrune(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	for _, age := range []string{"399 days", "401 days"} {
		claim, _, err := claimOne(ctx, store, organization, instance)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Record(ctx, claim, reachedAt(1), nil, time.Hour); err != nil {
			t.Fatal(err)
		}
		db.MustExec(`UPDATE assessments SET recorded_at = now() - $2::interval WHERE id = $1`, claim.Token, age)
	}
	if n := must[int64](t)(store.Prune(ctx)); n != 1 {
		t.Errorf("pruned %d", n)
	}
	if err := store.Forget(ctx, db, organization, instance); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := store.Credentials(ctx, organization, instance); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}

// TestMissingStatisticsAreShown, too: the monitor keeps them beside its lease.
func TestMissingStatisticsAreShown(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	claim, ok, err := claimOne(ctx, store, organization, instance)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := store.Record(ctx, claim, reachedAt(150018), nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	db.MustExec(`INSERT INTO monitor_leases (instance_id, organization_id, missing_grants) VALUES
		($1, $2, '[{"object": "o", "statement": "GRANT"}, {"object": "s", "statement": "GRANT pg_read_all_stats"}]')`, instance, organization)
	state := must[map[uuid.UUID]assessment.TargetState](t)(store.States(ctx, organization, []uuid.UUID{instance}))[instance]
	if got := state.MissingGrants; len(got) != 2 || len(got[0].Checks) != 1 || got[1].Statement != "GRANT pg_read_all_stats" {
		t.Errorf("%+v", got)
	}
	registered, err := store.Registered(ctx)
	if err != nil || len(registered) != 1 || registered[0].Instance != instance || registered[0].Organization != organization || registered[0].Revision == "" {
		t.Errorf("%+v, %v", registered, err)
	}
	if err := store.SaveCredentials(ctx, db, assessment.Credentials{Organization: organization, Instance: instance, Engine: fleet.PostgreSQL, DSN: "postgres://u@other/postgres"}); err != nil {
		t.Fatal(err)
	}
	if again, err := store.Registered(ctx); err != nil || again[0].Revision == registered[0].Revision {
		t.Errorf("another connection, the same revision: %v", err)
	}
}

// TestFindingsAreKeptWithTheAssessment, or not at all; those from before findings are computed
// from stored assessments.
func TestFindingsAreKeptWithTheAssessment(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	failing := func(objects ...string) snapshot.Assessment {
		a := reachedAt(150018)
		r := snapshot.CheckResult{CheckID: "PG-S17", Database: "app", Status: snapshot.StatusFail, Total: len(objects)}
		for _, object := range objects {
			r.Violations = append(r.Violations, snapshot.Violation{Object: object})
		}
		a.Results = []snapshot.CheckResult{r}
		return a
	}
	record := func(a snapshot.Assessment) error {
		t.Helper()
		claim, ok, err := claimOne(ctx, store, organization, instance)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return store.Record(ctx, claim, a, nil, time.Hour)
	}
	type row struct {
		Object string `db:"object"`
		Since  int    `db:"since"` // the how manyth assessment found it first
		Gone   bool   `db:"gone"`
	}
	found := func() (rows []row) {
		t.Helper()
		err := db.Select(&rows, `SELECT object, gone_at IS NOT NULL AS gone,
			(SELECT count(*) FROM assessments a WHERE a.outcome <> 'unreachable' AND a.recorded_at <= first_seen_at) AS since FROM findings ORDER BY object`)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for _, a := range []snapshot.Assessment{failing("a", "b"), unreachable(), failing("b", "c"), unreachable()} {
		if err := record(a); err != nil {
			t.Fatal(err)
		}
	}
	want := []row{{"a", 1, true}, {"b", 1, false}, {"c", 2, false}}
	if diff := cmp.Diff(want, found()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	claim, _, err := claimOne(ctx, store, organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	db.MustExec(`UPDATE assessment_targets SET lease_token = NULL, leased_until = NULL`)
	var lost *lease.LostError
	if err := store.Record(ctx, claim, failing("z"), nil, time.Hour); !errors.As(err, &lost) || !cmp.Equal(want, found()) {
		t.Errorf("a lost claim: %v, %v", err, found())
	}

	before := func() { // as a version leaves it that keeps no findings
		db.MustExec(`DELETE FROM findings`)
		db.MustExec(`UPDATE assessment_targets SET findings_kept = false`)
	}
	before()
	if err := store.MakeFindings(ctx); err != nil || !cmp.Equal(want, found()) {
		t.Errorf("made anew: %v, %v", err, found())
	}
	before()
	if err := record(failing("c")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]row{{"a", 1, true}, {"b", 1, true}, {"c", 2, false}}, found()); diff != "" {
		t.Errorf("with the next assessment (-want +got):\n%s", diff)
	}

	db.MustExec(`UPDATE findings SET gone_at = gone_at - interval '401 days' WHERE object = 'a'`)
	if _, err := store.Prune(ctx); err != nil || len(found()) != 2 {
		t.Errorf("pruned: %v, %v", err, found())
	}
	if err := store.Forget(ctx, db, organization, instance); err != nil || len(found()) != 0 {
		t.Errorf("forgotten: %v, %v", err, found())
	}
}

// TestDatabaseSizes: those of the last assessment, and of the oldest one from which the growth
// is counted.
func TestDatabaseSizes(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	ctx := context.Background()
	store, db := storeOf(t)
	organization := uuid.New()
	type found struct {
		ago     time.Duration
		app     int64 // -1: not measured
		outcome string
	}
	for name, test := range map[string]struct {
		assessed    []found
		now, before string
	}{
		"never":                         {nil, "", ""},
		"once":                          {[]found{{time.Hour, 7, "complete"}}, "1h0m0s 7", ""},
		"for less than a day":           {[]found{{23 * time.Hour, 5, "complete"}, {time.Minute, 7, "complete"}}, "1m0s 7", ""},
		"for a day":                     {[]found{{25 * time.Hour, 5, "partial"}, {12 * time.Hour, 6, "complete"}, {time.Minute, 7, "partial"}}, "1m0s 7", "25h0m0s 5"},
		"for months":                    {[]found{{90 * day, 1, "complete"}, {31 * day, 2, "complete"}, {29 * day, 3, "complete"}, {28 * day, 4, "complete"}, {0, 7, "complete"}}, "0s 7", "696h0m0s 3"},
		"never within the last 30 days": {[]found{{90 * day, 1, "complete"}, {31 * day, 2, "complete"}}, "744h0m0s 2", ""},
		"not reached of late":           {[]found{{4 * day, 3, "complete"}, {2 * day, 5, "complete"}, {day, -1, "unreachable"}}, "48h0m0s 5", "96h0m0s 3"},
		"not reached at first":          {[]found{{4 * day, -1, "unreachable"}, {3 * day, 3, "complete"}, {0, 5, "complete"}}, "0s 5", "72h0m0s 3"},
		"not measured at first":         {[]found{{4 * day, -1, "partial"}, {3 * day, 3, "complete"}, {0, 5, "complete"}}, "0s 5", "96h0m0s -"},
	} {
		instance := uuid.New()
		plant := func(organization uuid.UUID, f found) {
			facts := snapshot.Assessment{Outcome: f.outcome, Databases: []snapshot.DatabaseFact{{Name: "odd \u0000"}, {Name: "app", SizeBytes: &f.app}}}
			if f.app < 0 {
				facts.Databases[1].SizeBytes = nil
			}
			db.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, recorded_at, outcome, facts)
				VALUES ($1, $2, $3, now() - make_interval(secs => $4), $5, $6)`,
				uuid.New(), organization, instance, f.ago.Seconds(), f.outcome, string(must[[]byte](t)(json.Marshal(facts))))
		}
		for _, f := range test.assessed {
			plant(organization, f)
		}
		plant(uuid.New(), found{25 * day, 999, "complete"})
		now, before, err := store.DatabaseSizes(ctx, organization, instance)
		if err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string]struct {
			got  assessment.Sizes
			want string
		}{"now": {now, test.now}, "before": {before, test.before}} {
			text := ""
			if !pair.got.At.IsZero() {
				text = time.Since(pair.got.At).Truncate(time.Minute).String() + " -"
				if size, known := pair.got.Bytes["app"]; known {
					text = fmt.Sprintf("%v %d", time.Since(pair.got.At).Truncate(time.Minute), size)
				}
			}
			if text != pair.want {
				t.Errorf("assessed %s, %s: %q, want %q", name, what, text, pair.want)
			}
		}
	}
}

// TestAFailedLookKeepsEarlierFactsOfADatabase: C35.
func TestAFailedLookKeepsEarlierFactsOfADatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	look := func(run snapshot.Classification) snapshot.Classification {
		t.Helper()
		claim, ok, err := claimOne(ctx, store, organization, instance)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := store.Record(ctx, claim, reachedAt(150018), []assessment.DatabaseClassification{{Database: "app", Classification: run}}, time.Hour); err != nil {
			t.Fatal(err)
		}
		_, c, err := store.Latest(ctx, organization, instance)
		if err != nil || len(c) != 1 {
			t.Fatal(c, err)
		}
		return c[0].Classification
	}
	failed := func(reason string) snapshot.Classification {
		at = at.Add(6 * time.Hour)
		return snapshot.Classification{Status: snapshot.ClassificationFailed, Reason: reason, FinishedAt: at}
	}
	if got := look(failed("first")); got.Status != snapshot.ClassificationFailed || got.Failure != nil {
		t.Errorf("of which nothing was known: %+v", got)
	}
	known := snapshot.Classification{
		Status: snapshot.ClassificationCompleted, FinishedAt: at, TablesSeen: 3,
		Tables: []snapshot.ClassifiedTable{{Schema: "public", Name: "nul\u0000", Columns: []snapshot.ClassifiedColumn{}}}, FailedTables: []snapshot.FailedTable{},
	}
	look(known)
	for _, reason := range []string{"a table is locked", "and again"} {
		got, want := look(failed(reason)), known
		want.Failure = &snapshot.ClassificationFailure{At: at, Reason: reason}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if got := look(known); got.Failure != nil {
		t.Errorf("after one that did not fail: %+v", got.Failure)
	}
	var altered []string
	store.Altered = func(sentence string) { altered = append(altered, sentence) }
	db.MustExec(`UPDATE assessment_classifications SET facts = '[]'`)
	if got := look(failed("of one that was damaged")); got.Status != snapshot.ClassificationFailed || got.Failure != nil || len(altered) != 1 {
		t.Errorf("what was known was damaged: %+v, told of it %q", got, altered)
	}
	if got := look(snapshot.Classification{Status: snapshot.ClassificationOff}); got.Status != snapshot.ClassificationOff || len(got.Tables) > 0 {
		t.Errorf("switched off: %+v", got)
	}
}
