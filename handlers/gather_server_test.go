package handlers_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
	"muster/internal/watch"
)

// TestAScorecardHasTheStandingOfItsServer: what does not follow, backups against the objective of its tags, and what is full
// first; nothing of another server, and of a look at replication that is old only the role.
func TestAScorecardHasTheStandingOfItsServer(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	orders, other := e.register("orders", true), e.register("other", true)
	databases := e.databases(orders, "app", "erp", "new")
	now := e.clock.Now().UTC()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lag := 400.0
	_, err := replication.Record(t.Context(), e.db, e.organization, now, []replication.State{
		{Instance: orders, Engine: "postgresql", At: now, Role: replication.Primary, Systems: []string{"1"}, Trouble: replication.Trouble{Condition: replication.Works}, Peers: []replication.Peer{
			{Kind: replication.Physical, Name: "pg-02", LagSeconds: &lag, Trouble: replication.Trouble{Condition: replication.Works}},
			{Kind: replication.Physical, Name: "pg-03", Trouble: replication.Trouble{Condition: replication.Broken, Why: "it is not connected"}},
		}},
		{Instance: other, Engine: "postgresql", At: now.Add(-replication.Fresh - time.Minute), Role: replication.Standby, Trouble: replication.Trouble{Condition: replication.Broken}},
	})
	must(err)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	must(backups.Record(t.Context(), e.db, e.organization, now, []backups.Look{{
		Instance: orders, At: now, Source: backups.Feed, Condition: backups.Works, Backups: []backups.Backup{
			{Database: databases["app"], Kind: backups.Full, FinishedAt: ago(20 * time.Hour)}, {Database: databases["erp"], Kind: backups.Full, FinishedAt: ago(72 * time.Hour)},
			{Database: databases["new"], Kind: backups.Log, FinishedAt: ago(time.Minute)},
		},
	}}))
	sizes := func(subject string, size func(day float64) room.Size) {
		for hours := 20 * 24; hours >= 0; hours -= 6 {
			must(room.RecordSizes(t.Context(), e.db, e.organization, subject, ago(time.Duration(hours)*time.Hour), []room.Size{size(20 - float64(hours)/24)}))
		}
	}
	sizes(room.HostSubject("db01"), func(day float64) room.Size {
		return room.Size{Kind: room.Volume, Name: "/data", Used: 60 + day, Limit: 100}
	})
	sizes(room.HostSubject("db02"), func(day float64) room.Size {
		return room.Size{Kind: room.Volume, Name: "/", Used: 90 + day/10*4.9, Limit: 100}
	})
	_, err = watch.Record(t.Context(), e.db, now, []watch.Sign{watch.VolumesTold(e.organization, "db01", []uuid.UUID{orders}, now)})
	must(err)

	doc, err := e.inputs().Gather(t.Context(), e.scorecard(orders, nil, time.Hour))
	must(err)
	if r := doc.Server.Replication; r == nil || r.Broken != 1 || r.First != "standby pg-03" || r.Why != "it is not connected" || r.LagSeconds == nil || *r.LagSeconds != 400 || r.Laggard != "pg-02" {
		t.Errorf("%+v", r)
	}
	b := doc.Server.Backups
	if b == nil || b.RPOSeconds != 86400 || b.Late != 1 || b.InTime != 1 || b.Unknown != 1 || b.Worst == nil || b.Worst.Database != "erp" || b.Worst.Seconds/3600 != 72 {
		t.Errorf("%+v", b)
	}
	if f := doc.Server.Room; f == nil || f.Name != "/data" || f.Days == nil || *f.Days < 19 || *f.Days > 21 || f.Percent != 80 {
		t.Errorf("%+v", f)
	}
	doc, err = e.inputs().Gather(t.Context(), e.scorecard(other, nil, time.Hour))
	must(err)
	if s := doc.Server; s.Role != "standby" || s.Replication != nil || s.Backups != nil || s.Room != nil {
		t.Errorf("%+v", s)
	}
}
