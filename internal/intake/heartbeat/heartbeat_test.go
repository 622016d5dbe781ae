package heartbeat_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"muster/internal/intake/heartbeat"
	"muster/internal/testing/pgtest"
	"muster/migrations"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheLastReportCounts for an instance, whichever agent sends it, and for no other instance.
func TestTheLastReportCounts(t *testing.T) {
	t.Parallel()
	store := &heartbeat.Store{DB: pgtest.DB(t)}
	ours, theirs, shared, second := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	oldest := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	first := heartbeat.Report{
		Organization: ours, Sender: "a", Name: "one", Version: "1", Host: "db01",
		Buffer: heartbeat.Buffer{Bytes: 1, MaxBytes: 2, Records: 3, OldestAt: &oldest, Facts: 4, Refused: 5, Dropped: map[string]int64{"buffer_full": 6}},
		Loops:  []heartbeat.Loop{{Loop: "send", Falls: 2, LastAt: oldest, InTrouble: true}, {Loop: "measure db", Falls: 1, LastAt: oldest}},
		Instances: []heartbeat.Instance{
			{ID: shared, Error: &heartbeat.Failure{Class: "refused", Detail: "No.", At: oldest}},
			{ID: second, Missing: []string{"o"}},
		},
	}
	must(t, store.Keep(t.Context(), first))
	must(t, store.Keep(t.Context(), heartbeat.Report{Organization: theirs, Sender: "a", Name: "theirs", Instances: []heartbeat.Instance{{ID: shared}}}))
	began := time.Now()
	got, err := store.Of(t.Context(), ours, []uuid.UUID{shared, second, uuid.New()})
	must(t, err)
	want := map[uuid.UUID]heartbeat.State{}
	for _, i := range first.Instances {
		i.Missing = append([]string{}, i.Missing...)
		want[i.ID] = heartbeat.State{Name: "one", Version: "1", Host: "db01", Buffer: first.Buffer, Loops: first.Loops, Instance: i, SeenAt: got[i.ID].SeenAt}
	}
	if diff := cmp.Diff(want, got); diff != "" || began.Sub(got[shared].SeenAt).Abs() > time.Minute {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	must(t, store.Keep(t.Context(), heartbeat.Report{Organization: ours, Sender: "b", Name: "two", Instances: []heartbeat.Instance{{ID: shared}}}))
	got, err = store.Of(t.Context(), ours, []uuid.UUID{shared, second})
	must(t, err)
	if got[shared].Name != "two" || got[shared].Instance.Error != nil || got[second].Name != "one" {
		t.Errorf("they are measured by %+v", got)
	}
}

// TestReportsOfTheSameInstancesPassEachOther: agents that name them in another order do not
// wait for one another in a circle.
func TestReportsOfTheSameInstancesPassEachOther(t *testing.T) {
	t.Parallel()
	store := &heartbeat.Store{DB: pgtest.DB(t)}
	organization := uuid.New()
	var instances []heartbeat.Instance
	for range 200 {
		instances = append(instances, heartbeat.Instance{ID: uuid.New()})
	}
	var group errgroup.Group
	for n := range 4 {
		order := slices.Clone(instances)
		if n%2 == 1 {
			slices.Reverse(order)
		}
		group.Go(func() error {
			for range 20 {
				if err := store.Keep(t.Context(), heartbeat.Report{Organization: organization, Sender: fmt.Sprint(n), Instances: order}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
}

// TestAHostileReportDoesNotStopAnUpgrade: the release before bounded nothing of what an agent
// says that it dropped, and its names may have characters that no text of PostgreSQL can have.
func TestAHostileReportDoesNotStopAnUpgrade(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	migration, err := migrations.FS.ReadFile("00110_agents_by_token.sql")
	must(t, err)
	up, down, _ := strings.Cut(string(migration), "-- +goose Down")
	db.MustExec(down)
	organization, small, large := uuid.New(), uuid.New(), uuid.New()
	for id, dropped := range map[uuid.UUID]string{small: `"buffer_full": 6`, large: `"\u0000` + strings.Repeat("x", 4000) + `": 1`} {
		db.MustExec(`INSERT INTO agent_reports (organization_id, sender, name, version, host, buffer, received_at) VALUES ($1, $2, 'one', '1', 'db01', $3, now())`,
			organization, id.String(), `{"bytes": 7, "dropped": {`+dropped+`}}`)
		db.MustExec(`INSERT INTO agent_instances (organization_id, instance_id, sender, missing_grants, received_at) VALUES ($1, $2, $3, '[]', now())`,
			organization, id, id.String())
	}
	_, err = db.Exec("BEGIN;" + up + "COMMIT") // as goose does
	must(t, err)
	got, err := (&heartbeat.Store{DB: db}).Of(t.Context(), organization, []uuid.UUID{small, large})
	must(t, err)
	if got[small].Buffer.Dropped["buffer_full"] != 6 || got[small].Buffer.Bytes != 7 || got[large].Name != "one" || len(got[large].Buffer.Dropped) != 0 {
		t.Errorf("after the upgrade there are %+v", got)
	}
}
