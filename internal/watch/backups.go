package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/measurements/backups"
	"muster/internal/postgres/statement"
	"muster/projections/fleet"
)

const (
	// BackupsEvery is how often the ages of backups are judged. They grow although nobody measures: that no
	// backup comes any more is what the rule is about.
	BackupsEvery = time.Minute
	// mostDatabases is of how many databases of a server, those with the oldest backups, there are figures.
	mostDatabases = 50
)

// backupRule is the rule about the age of backups. Its threshold is the recovery point objective of the servers,
// also while it is off (RPO).
func backupRule() Definition {
	return Definition{
		WatchRule: organization.WatchRule{ID: string(BackupRPO), Default: off(24*60, 0, alert.Critical), Min: 1, Max: 400 * 24 * 60},
		Group:     "Safety", Name: "Backup older than the RPO", Watches: "Age of the newest backup of a database", Unit: "minutes",
		Sources: "SQL Server's msdb, Oracle's RMAN, agents that read pgBackRest, barman or WAL-G, POST /ingest/v1/backups",
		Meaning: "The newest backup of a database is older than its recovery point objective (RPO). A restore would lose more data than allowed. " +
			"The threshold is the RPO that the servers' pages show, even if the rule is off. A database about whose backups no source tells raises no alert.",
		Advice: "Make a backup now. Then check the backup job and its log. In PostgreSQL, see whether WAL is archived (pg_stat_archiver); in SQL Server, " +
			"whether the database is in the full recovery model, without which there are no log backups; in Oracle, what failed (V$RMAN_STATUS).",
		title: func(s Sign) string {
			of := "its newest backup"
			if s.Details.Database != "" {
				of = "the newest backup of database " + s.Details.Database
			}
			if s.Details.None {
				if of = "it has"; s.Details.Database != "" {
					of = "database " + s.Details.Database + " has"
				}
				return of + " had no backup for " + lasting(s.Value)
			}
			return of + " is " + lasting(s.Value) + " old"
		},
	}
}

// Databases answers which databases servers have; *fleet.Reader does.
type Databases interface {
	DatabasesOf(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID][]fleet.Database, error)
}

// AgeBackups records how old the newest backups are now, of every organization. One that fails does not
// hold up the others.
func (w *Watch) AgeBackups(ctx context.Context, databases Databases) error {
	organizations, err := w.Organizations.Organizations(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range organizations {
		if err := w.ageBackups(ctx, o.ID, databases); err != nil {
			errs = append(errs, fmt.Errorf("judge the age of backups of organization %s: %w", o.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (w *Watch) ageBackups(ctx context.Context, org uuid.UUID, databases Databases) error {
	newest, err := backups.NewestOf(ctx, w.DB, org, domain.Scope{})
	if err != nil {
		return err
	}
	looks, err := backups.Looks(ctx, w.DB, org, domain.Scope{})
	if err != nil {
		return err
	}
	servers := map[uuid.UUID]*told{}
	at := func(id uuid.UUID) *told {
		if servers[id] == nil {
			servers[id] = &told{}
		}
		return servers[id]
	}
	for _, n := range newest {
		at(n.Instance).newest = append(at(n.Instance).newest, n)
	}
	for _, l := range looks {
		at(l.Instance).looks = append(at(l.Instance).looks, l)
	}
	if len(servers) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, 0, len(servers))
	for id := range servers {
		ids = append(ids, id)
	}
	there, err := databases.DatabasesOf(ctx, org, ids)
	if err != nil {
		return err
	}
	before, err := statement.All[aged](ctx, w.DB, "read how old backups were", `SELECT instance_id, mount, since IS NOT NULL AS late FROM signs
		WHERE organization_id = $1 AND rule = $2 AND value > 0`, org, string(BackupRPO))
	if err != nil {
		return err
	}
	for _, s := range before {
		at(s.Instance).before = append(at(s.Instance).before, s)
	}
	now := w.clock()
	var signs []Sign
	for _, id := range ids {
		for _, s := range servers[id].signs(there[id], now) {
			s.OrganizationID, s.Rule, s.InstanceID, s.At = org, BackupRPO, id, now
			signs = append(signs, s)
		}
	}
	_, err = Record(ctx, w.DB, now, signs)
	return err
}

// told is what sources tell of the backups of a server.
type told struct {
	newest []backups.Newest
	looks  []backups.Look
	before []aged
}

// aged is a figure of a database that was recorded before.
type aged struct {
	Instance uuid.UUID `db:"instance_id"`
	Mount    string
	Late     bool // an alert says so
}

// signs are the ages of the oldest backups, and of those that were late. What was told of a database that is gone is over.
func (t *told) signs(there []fleet.Database, now time.Time) (signs []Sign) {
	names := make(map[uuid.UUID]string, len(there))
	for _, d := range there {
		names[d.ID] = d.Name
	}
	late, unknown := map[string]bool{}, 0
	for _, b := range t.before {
		late[b.Mount] = b.Late
	}
	// Which RPO is compared says the setting: here only the ages count, and those grow from the worst to the best.
	for _, st := range backups.StandingsOf(t.newest, t.looks, 0, now) {
		mount, name, known := "", "", true
		if st.Database != uuid.Nil {
			mount = st.Database.String()
			name, known = names[st.Database]
		}
		if known && !st.Known() {
			unknown++
		}
		if !known || !st.Known() || len(signs) >= mostDatabases && !late[mount] {
			continue
		}
		signs = append(signs, Sign{Mount: mount, Value: st.Age.Minutes(), Details: Details{Database: name, None: st.State == backups.None}})
	}
	for i := range signs {
		signs[i].Details.Unknown = unknown
	}
	for _, b := range t.before {
		id, err := uuid.Parse(b.Mount)
		if _, exists := names[id]; err == nil && !exists {
			signs = append(signs, Sign{Mount: b.Mount})
		}
	}
	return signs
}
