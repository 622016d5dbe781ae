package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestHangingCommits: a check fails in time and names what the commit waits for;
// however many checks there are, one session waits; a commit that returns too late is no
// success, and the first that returns in time is.
func TestHangingCommits(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second // as in serve: to ask what a commit waits for takes a busy machine a while
	server, url := pgtest.Stalling(t)
	db := pgtest.Connect(t, url)
	commits := postgres.CommitsWithin(patience, url, "host/1/a", db)
	t.Cleanup(commits.Close)
	eventually(t, func() bool { return commits.Check(t.Context()) == nil })
	resume := server.Stall(t)
	for range 2 {
		began := time.Now()
		var stuck *postgres.StuckError
		err := commits.Check(t.Context())
		if !errors.As(err, &stuck) || stuck.WaitsFor != "SyncRep" || !strings.Contains(err.Error(), "commits do not return") {
			t.Errorf("commits wait, and the check says %v", err)
		}
		if took := time.Since(began); took < patience/2 || took > 10*patience {
			t.Errorf("the check took %s", took)
		}
	}
	if !commits.Stuck() {
		t.Error("commits wait, and are not stuck")
	}
	var waiting int
	if err := db.Get(&waiting, `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'muster/commits%' AND wait_event = 'SyncRep'`); err != nil || waiting != 1 {
		t.Errorf("%d sessions wait, %v", waiting, err)
	}
	// A caller asks just before the commit returns.
	late, err := postgres.Late(commits)
	if err != nil {
		t.Fatal(err)
	}
	resume()
	var stuck *postgres.StuckError
	if err := late(); !errors.As(err, &stuck) || !stuck.Returned {
		t.Errorf("a commit that returned too late: %v", err)
	}
	eventually(t, func() bool { return commits.Check(t.Context()) == nil })
	if commits.Stuck() {
		t.Error("commits return, and are stuck")
	}
	var rows int
	if err := db.Get(&rows, `SELECT count(*) FROM commit_checks`); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// TestACommitThatWasGivenUp leaves a session that holds the row's lock: the next check
// fails there, and leaves no second one.
func TestACommitThatWasGivenUp(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	commits := postgres.CommitsWithin(200*time.Millisecond, url, "host/1/a", db)
	eventually(t, func() bool { return commits.Check(t.Context()) == nil })
	tx := db.MustBegin()
	tx.MustExec(`UPDATE commit_checks SET checked_at = now()`)
	eventually(t, func() bool {
		var stuck *postgres.StuckError
		return errors.As(commits.Check(t.Context()), &stuck) && stuck.WaitsFor == ""
	})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return commits.Check(t.Context()) == nil })
	commits.Close()
	if err := commits.Check(t.Context()); err == nil {
		t.Error("a check succeeds after Close")
	}
}

// TestRowsOfProcessesThatEnded are deleted after a day.
func TestRowsOfProcessesThatEnded(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	db.MustExec(`INSERT INTO commit_checks VALUES ('old', now() - interval '25 hours'), ('recent', now() - interval '23 hours'), ('host/1/a', now() - interval '2 days')`)
	commits := postgres.NewCommits(url, "host/1/a", db)
	t.Cleanup(commits.Close)
	if err := commits.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left string
	if err := db.Get(&left, `SELECT string_agg(process, ' ' ORDER BY process) FROM commit_checks`); err != nil || left != "host/1/a recent" {
		t.Errorf("%s is left, %v", left, err)
	}
}

func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("it never was")
		}
	}
}
