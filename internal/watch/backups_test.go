package watch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/measurements/backups"
	"muster/internal/watch"
	"muster/projections/fleet"
)

// backedUp is a SQL Server "crm" with databases sales and parts.
type backedUp struct {
	*scene
	server, sales, parts uuid.UUID
}

func newBackedUp(t *testing.T) *backedUp {
	t.Helper()
	b := &backedUp{scene: newScene(t)}
	b.feed(false)
	b.names[b.server] = "crm"
	return b
}

// feed tells of the server and its databases; without parts, if they are dropped.
func (b *backedUp) feed(dropped bool) {
	b.Helper()
	ids, mark, err := b.commands.RecordFleet(b.Context(), b.admin(), []inventory.Item{{
		ExternalID: "crm", Name: "crm", Engine: domain.SQLServer, CreatedAt: noon.Add(-time.Hour), Databases: []inventory.Database{
			{ExternalID: "sales", Name: "sales", CreatedAt: noon.Add(-time.Hour)}, {ExternalID: "parts", Name: "parts", CreatedAt: noon.Add(-time.Hour), Removed: dropped},
		},
	}})
	b.settle(mark, err)
	b.server, b.sales, b.parts = ids[0].ID, ids[0].Databases[0].ID, ids[0].Databases[1].ID
}

func (b *backedUp) backup(kind backups.Kind, database uuid.UUID, finished time.Time) {
	b.Helper()
	look := backups.Look{Instance: b.server, At: b.clock.Now(), Source: backups.Feed, Condition: backups.Works, Backups: []backups.Backup{{Database: database, Kind: kind, FinishedAt: finished}}}
	if err := backups.Record(b.Context(), b.db, b.org, b.clock.Now(), []backups.Look{look}); err != nil {
		b.Fatal(err)
	}
}

// pass lets time go by, minute by minute.
func (b *backedUp) pass(minutes int) {
	b.Helper()
	for range minutes {
		b.clock.Advance(watch.BackupsEvery)
		if err := b.watch.AgeBackups(b.Context(), fleet.NewReader(b.db)); err != nil {
			b.Fatal(err)
		}
		b.judge()
	}
}

// life is an hour and a half of backups: of sales every 20 minutes but for one, of parts once, until it is dropped.
func (b *backedUp) life() {
	b.Helper()
	b.backup(backups.Full, b.sales, noon.Add(-5*time.Minute))
	b.backup(backups.Full, b.parts, noon)
	b.pass(15)
	b.backup(backups.Log, b.sales, noon.Add(15*time.Minute))
	b.pass(50) // to 13:05: one of sales is missing, and parts has none any more
	b.backup(backups.Log, b.sales, noon.Add(65*time.Minute))
	b.pass(10)
	b.feed(true)
	b.pass(10)
}

func rpo(minutes int) organization.WatchSetting {
	return organization.WatchSetting{Enabled: true, Threshold: minutes, Severity: alert.Critical}
}

// TestALateBackupIsRaisedSentAndResolvedOnce for each database, also when the database is dropped; and the
// preview says so before.
func TestALateBackupIsRaisedSentAndResolvedOnce(t *testing.T) {
	t.Parallel()
	before := newBackedUp(t)
	before.life()
	before.wantStory() // it is off
	foretold := before.foretold(before.preview(watch.BackupRPO, rpo(30)))

	b := newBackedUp(t)
	b.set(watch.BackupRPO, rpo(30))
	b.life()
	sales, parts := "backup_rpo/crm"+b.sales.String(), "backup_rpo/crm"+b.parts.String()
	b.wantStory("raised "+parts+" critical 31m0s", "raised "+sales+" critical 46m0s", "auto_resolved "+sales+" 1h6m0s", "auto_resolved "+parts+" 1h16m0s")
	if title := b.events()[0].Title; title != "crm: the newest backup of database parts is 31 min old" {
		t.Errorf("title %q", title)
	}
	if diff := cmp.Diff(b.happened(), foretold); diff != "" {
		t.Errorf("what happened and what the preview said (-want +got):\n%s", diff)
	}
	// A threshold of an hour: only parts gets there.
	if p := before.preview(watch.BackupRPO, rpo(60)); p.Alerts != 2 && p.Alerts != 1 || p.Servers != 1 || p.Items[0].Name != "crm" {
		t.Errorf("%+v", p)
	}
}

// TestNoBackupAtAllIsLate, if the source would know; and what no source tells raises nothing.
func TestNoBackupAtAllIsLate(t *testing.T) {
	t.Parallel()
	b := newBackedUp(t)
	b.set(watch.BackupRPO, rpo(60))
	look := func(instance uuid.UUID, source backups.Source, of ...backups.Database) backups.Look {
		return backups.Look{Instance: instance, At: noon, Source: source, Condition: backups.Works, Complete: of}
	}
	wal := look(b.orders, backups.Archiver)
	wal.Backups = []backups.Backup{{Kind: backups.WAL, FinishedAt: noon.Add(-48 * time.Hour)}}
	all := []backups.Look{look(b.server, backups.MSDB, backups.Database{ID: b.sales, Since: noon.Add(-2 * time.Hour)}, backups.Database{ID: b.parts, Since: noon}), wal}
	if err := backups.Record(t.Context(), b.db, b.org, noon, all); err != nil {
		t.Fatal(err)
	}
	b.pass(3)
	b.wantStory("raised backup_rpo/crm" + b.sales.String() + " critical 1m0s")
	if title := b.events()[0].Title; title != "crm: database sales has had no backup for 2 h 1 min" {
		t.Errorf("title %q", title)
	}
}

// TestTheWorstAgeCountsDatabasesOfUnknownAge: a log alone is no backup, and a young one beside it says nothing of it.
func TestTheWorstAgeCountsDatabasesOfUnknownAge(t *testing.T) {
	t.Parallel()
	b := newBackedUp(t)
	b.backup(backups.Full, b.sales, noon.Add(-5*time.Minute))
	b.backup(backups.Log, b.parts, noon)
	for _, want := range []watch.Worst{{Value: 6, Unknown: 1}, {Value: 7}} {
		b.pass(1)
		worst, err := watch.WorstOf(t.Context(), b.db, b.org, []uuid.UUID{b.server}, watch.BackupRPO, noon)
		if err != nil || worst[b.server] != want {
			t.Errorf("%+v, %v, want %+v", worst, err, want)
		}
		b.backup(backups.Full, b.parts, noon)
	}
}
