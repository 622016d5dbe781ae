package replication_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/replication"
	"muster/internal/testing/pgtest"
)

// standing is how the replication of states stands, a server a line.
func standing(t *testing.T, db *sqlx.DB, states ...replication.State) string {
	t.Helper()
	kept, err := replication.Record(t.Context(), db, organization, noon.Add(48*time.Hour), states)
	if err != nil {
		t.Fatal(err)
	}
	all, err := replication.Stand(t.Context(), db, organization, kept)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range all {
		line := fmt.Sprintf("%d: lag -", s.Instance[15])
		if s.Lag != nil {
			line = fmt.Sprintf("%d: lag %g", s.Instance[15], *s.Lag)
		}
		if s.Laggard != "" {
			line += " " + s.Laggard
		}
		if s.Broken > 0 {
			line += fmt.Sprintf("; %d broken: %s, %s", s.Broken, s.First, s.Why)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, " | ")
}

// TestConditionsOfReplication: a problem is reported once, for the watched server that does not follow, or for
// the primary of a server that is not watched.
func TestConditionsOfReplication(t *testing.T) {
	t.Parallel()
	paused := standby(2, 1, "two", 5432)
	paused.Condition, paused.Why = replication.Paused, "replay is paused"
	broken := standby(2, 1, "two", 5432)
	broken.Condition, broken.Why, broken.LagSeconds = replication.Broken, "it receives nothing", nil
	promoted := primary(2, 2)
	promoted.Timeline = 2
	subscriber := primary(3, 1)
	subscriber.Subscriptions = []replication.Subscription{
		{Name: "off", Trouble: replication.Trouble{Condition: replication.Inactive, Why: "it is disabled"}},
		{Name: "copy", Trouble: replication.Trouble{Condition: replication.Broken, Why: "no worker of it runs"}},
	}
	logical := primary(1, 1)
	logical.Peers = []replication.Peer{{Kind: replication.Logical, Name: "copy", Member: "logical copy copy", Trouble: replication.Trouble{Condition: replication.Gone}}}
	denied := replication.State{Instance: server(1), At: minutes(1), Role: replication.Alone, Denied: "GRANT", Trouble: works()}
	pair := []replication.State{primary(1, 0, "two"), standby(2, 0, "two", 5432)}
	for name, c := range map[string]struct {
		before, states []replication.State
		want           string
	}{
		"nobody watches the standby":                         {nil, []replication.State{primary(1, 0, "two", "three")}, "1: lag 5 three"},
		"both are watched":                                   {pair, []replication.State{primary(1, 1, "two"), standby(2, 1, "two", 5432)}, "1: lag 0 | 2: lag 3.5"},
		"the standby is paused":                              {pair, []replication.State{primary(1, 1, "two"), paused}, "1: lag 0 | 2: lag 3.5; 1 broken: , replay is paused"},
		"the standby is broken, and its primary misses it":   {pair, []replication.State{primary(1, 1), broken}, "1: lag 0 | 2: lag -; 1 broken: , it receives nothing"},
		"nobody watches those that are missed":               {[]replication.State{primary(1, 0, "two", "three")}, []replication.State{primary(1, 1, "three")}, "1: lag 5 three; 1 broken: standby two, no longer connected"},
		"it was watched until two days ago":                  {pair, []replication.State{primary(1, 2*24*60-1)}, "1: lag 0; 1 broken: standby two, no longer connected"},
		"a standby that is promoted does not lag any more":   {pair, []replication.State{promoted}, "2: lag 0"},
		"it has nobody any more, which ends what there was":  {[]replication.State{primary(1, 0, "pg_basebackup")}, []replication.State{primary(1, 1)}, "1: lag 0"},
		"a server that does not replicate":                   {nil, []replication.State{primary(1, 0)}, ""},
		"a subscription without a worker":                    {nil, []replication.State{subscriber}, "3: lag 0; 1 broken: subscription copy, no worker of it runs"},
		"a logical consumer that is gone is its slot's":      {nil, []replication.State{logical}, "1: lag 0"},
		"a server that does not tell its role":               {nil, []replication.State{denied}, ""},
		"a standby whose lag is not known has none":          {nil, []replication.State{func() replication.State { s := standby(2, 0, "two", 5432); s.LagSeconds = nil; return s }()}, "2: lag -"},
		"a cascading standby misses one that nobody watches": {[]replication.State{withPeer(standby(2, 0, "two", 5432), "three")}, []replication.State{standby(2, 1, "two", 5432)}, "2: lag 3.5; 1 broken: standby three, no longer connected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.DB(t)
			record(t, db, c.before...)
			if got := standing(t, db, c.states...); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestARoleThatWasNeverReported is unknown, and nothing changes when it is reported at last.
func TestARoleThatWasNeverReported(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	record(t, db, replication.State{Instance: server(1), At: minutes(0), Denied: "GRANT", Trouble: works()})
	if k := related(t, db, server(1), fleet.Scope{})[1]; k.Role != "" || k.Denied != "GRANT" || k.Replicates() == false {
		t.Errorf("%+v", k)
	}
	// As a program from before has kept it.
	db.MustExec(`UPDATE replication_states SET role = 'alone', state = state || '{"role": "alone"}'`)
	record(t, db, standby(1, 1, "one", 5432))
	if got := changes(t, db); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
	if k := related(t, db, server(1), fleet.Scope{})[1]; k.Role != replication.Standby || k.RoleSince != nil {
		t.Errorf("%s since %v", k.Role, k.RoleSince)
	}
}
