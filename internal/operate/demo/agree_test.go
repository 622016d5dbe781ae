package demo

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/replication"
	"muster/internal/operate/demo/inspected"
)

// paperIDs are the servers as they are once they are registered.
func paperIDs() (ids []inventory.IDs) {
	for _, s := range servers() {
		one := inventory.IDs{ExternalID: s.Name, ID: uuid.New()}
		for _, name := range s.Databases {
			one.Databases = append(one.Databases, inventory.IDs{ExternalID: name, ID: uuid.New()})
		}
		ids = append(ids, one)
	}
	return ids
}

// newestOf is the end of the newest backup of a kind of a database, or of the whole server.
func newestOf(look backups.Look, database string, whole bool) (newest time.Time) {
	for _, b := range look.Backups {
		if (b.Name == "" || database == "" || b.Name == database) && b.Kind.Whole() == whole && b.FinishedAt.After(newest) {
			newest = b.FinishedAt
		}
	}
	return newest
}

// TestBackupsAreWhatAlertsSay: while an alert says that there is no backup, none has ended since the time that it names.
func TestBackupsAreWhatAlertsSay(t *testing.T) {
	t.Parallel()
	there, seen := paperIDs(), map[string]int{}
	for made := time.Date(2026, 11, 23, 1, 7, 0, 0, time.UTC); made.Day() != 24; made = made.Add(17 * time.Hour) {
		var ats []time.Time
		for _, e := range episodes(made, made) {
			_, logs := unlogged[e.rule]
			_, whole := unsaved[e.rule]
			if seen[e.rule]++; (logs || whole) && seen[e.rule] < 3 {
				ats = append(ats, e.starts.Add(-2*time.Hour), e.starts.Add(time.Minute))
			}
		}
		slices.SortFunc(ats, time.Time.Compare)
		told := map[uuid.UUID][]backups.Backup{}
		for _, at := range ats {
			looks := backedUp(made, there, at)
			for i := range looks { // what was told stays told
				told[looks[i].Instance] = append(told[looks[i].Instance], looks[i].Backups...)
				looks[i].Backups = told[looks[i].Instance]
			}
			for _, e := range episodes(made, at) {
				_, logs := unlogged[e.rule]
				before, whole := unsaved[e.rule]
				of := slices.IndexFunc(looks, func(l backups.Look) bool { return l.Instance == idOf(there, e.server) })
				if !e.has(at) || of < 0 || !logs && !whole {
					continue
				}
				latest := e.starts.Add(-max(before, unlogged[e.rule]))
				if whole && before == 0 {
					latest = e.starts.Truncate(day)
				}
				if newest := newestOf(looks[of], e.database, whole); newest.After(latest) {
					t.Errorf("made %s: at %s %q of %s since %s, and a backup ended at %s", made, at, e.title, e.server, e.starts, newest)
				}
			}
		}
	}
	for rule := range unsaved {
		if seen[rule] == 0 {
			t.Errorf("no alert of %s: the test shows nothing", rule)
		}
	}
}

// TestAServerThatIsDownIsDownEverywhere: in its uptime, in what is measured, and in the roles of the pair.
func TestAServerThatIsDownIsDownEverywhere(t *testing.T) {
	t.Parallel()
	there := paperIDs()
	for made := time.Date(2026, 11, 23, 1, 7, 0, 0, time.UTC); made.Day() != 25; made = made.Add(31 * time.Hour) {
		story := 0
		for _, s := range servers() {
			down := downs(made, s.Name)
			var told []between
			for _, span := range pastOf(s, made) {
				if !span.Up {
					told = append(told, between{span.Since, span.Until})
				}
			}
			if !slices.Equal(down, told) {
				t.Errorf("%s was down in %v, its uptime has %v", s.Name, down, told)
			}
			for _, b := range down {
				for _, sample := range newAgents(made, there).samples(b.starts, b.ends, time.Minute).Sessions {
					if sample.Instance == idOf(there, s.Name) {
						t.Fatalf("made %s: %s is down from %s, and has sessions at %s", made, s.Name, b.starts, sample.At)
					}
				}
			}
			for _, e := range scripted(made) {
				if e.server == s.Name && e.strain.Gone {
					story++
					if !slices.Contains(down, e.between) {
						t.Errorf("%q of %s is not in %v", e.title, s.Name, down)
					}
					lags, states := replicate(made, there, e.starts, e.ends, time.Minute)
					if len(lags)+len(states) > 0 {
						t.Errorf("the standby follows a server that is down: %d samples", len(lags))
					}
				}
			}
		}
		if story != 1 {
			t.Errorf("made %s: %d servers are down by the alerts", made, story)
		}
	}
}

// TestTheStandbyIsPrimaryWhileTheOtherIsDown and only then.
func TestTheStandbyIsPrimaryWhileTheOtherIsDown(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 23, 9, 7, 0, 0, time.UTC)
	there := paperIDs()
	lead, follow := idOf(there, leadServer), idOf(there, followServer)
	down := downs(made, leadServer)[1]
	roles := map[uuid.UUID][]replication.Role{}
	for _, s := range failedOver(made, lead, follow) {
		if s.Instance == lead && down.has(s.At) {
			t.Errorf("the first server answers at %s", s.At)
		}
		roles[s.Instance] = append(roles[s.Instance], s.Role)
	}
	const primary, standby = replication.Primary, replication.Standby
	if !slices.Equal(roles[lead], []replication.Role{primary, standby, primary}) || !slices.Equal(roles[follow], []replication.Role{standby, primary, primary, standby}) {
		t.Errorf("%v", roles)
	}
}

// TestConnectionsAreWhatAlertsSay: as many sessions as the alert says, of those that the settings admit.
func TestConnectionsAreWhatAlertsSay(t *testing.T) {
	t.Parallel()
	there, seen := paperIDs(), 0
	made := time.Date(2026, 11, 23, 9, 7, 0, 0, time.UTC)
	for _, e := range episodes(made, made) {
		least := map[string]int{"connections": 85, "lock-storm-connections": 95}[e.rule]
		if engineOf(e.server) != fleet.PostgreSQL || least == 0 {
			continue
		}
		at := e.starts.Truncate(time.Minute).Add(2 * time.Minute)
		batch := newAgents(made, there).samples(at, at.Add(time.Minute), time.Minute)
		used, limit := allSessions(&batch, idOf(there, e.server), at), inspected.Of(e.server).MaxConnections()
		if used == 0 { // nobody looked
			continue
		}
		if seen++; 100*used <= least*limit || used > limit {
			t.Errorf("%q of %s: %d of %d sessions at %s", e.title, e.server, used, limit, at)
		}
	}
	if seen < 5 {
		t.Errorf("%d alerts: the test shows nothing", seen)
	}
}
