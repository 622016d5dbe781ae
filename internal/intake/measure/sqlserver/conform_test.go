package sqlserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// TestConform holds the reader to what is promised of all, over the stub with the real
// driver: where the plan cache counts, and where a query store does in each database.
func TestConform(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]bool{"plan cache": false, "query stores": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measuretest.Conform(t, func(t *testing.T) measuretest.Server {
				s := &simulated{Simulated: measuretest.NewSimulated(t, "master"), fake: newFake(t), store: store}
				s.clock = s.Time
				return s
			})
		})
	}
}

// simulated is a SQL Server 2019.
type simulated struct {
	*measuretest.Simulated
	*fake
	store bool
}

var (
	state   = measuretest.Part{Name: "VIEW SERVER STATE", Sessions: true, Statements: true, Grant: "GRANT VIEW SERVER STATE TO [watcher];"}
	denying = measuretest.Part{Name: "VIEW DATABASE STATE", Grant: "REVOKE that there."}
)

func (s *simulated) Engine() measure.Engine { return Engine() }

func (s *simulated) Target() servers.Target {
	target, err := new(servers.Reach).Target(fleet.SQLServer, s.DSN("encrypt=disable"))
	if err != nil {
		s.TB.Fatal(err)
	}
	return target
}

func (s *simulated) Open(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
	return to.Open(ctx, database, time.Minute)
}

func (s *simulated) Has() measuretest.Features {
	sees, parts := state, []measuretest.Part{}
	if s.store { // which tells without it
		sees.Statements, parts = false, append(parts, denying)
	}
	return measuretest.Features{
		Longest: s.store, Born: true, Cleared: true, Exact: true, Lock: "LCK_M_X", Parts: append(parts, sees),
		States: []measuretest.State{measuretest.ReadOnly, measuretest.Recovering, measuretest.Offline},
	}
}

// Restart leaves nothing in the plan cache; query stores are on disk.
func (s *simulated) Restart() {
	s.Begin()
	if !s.store {
		s.Reset()
	}
	s.CutAll()
}

func (s *simulated) Ready() {
	f := s.fake
	f.skew, f.started, f.sees = s.Ahead, int64(s.Starts), !s.Taken[state.Name]
	f.databases, f.sessions, f.plans, f.texts, f.cached = nil, nil, nil, nil, nil
	f.counters, f.fails, f.stores = map[string][]row{}, map[string]any{}, map[string]row{}
	after := func(at time.Time) float64 { return at.Sub(began).Seconds() }
	for _, d := range s.Databases {
		number := map[measuretest.State]int{measuretest.Recovering: 2, measuretest.Offline: 6}[d.State]
		accessible := 1
		if number != 0 {
			accessible = 0
		}
		store := s.store && d.Name != "master"
		f.databases = append(f.databases, row{d.ID, d.Name, number, accessible, store})
		if store {
			f.stores[d.Name] = row{2, 1}
			if d.State == measuretest.ReadOnly {
				f.stores[d.Name] = row{1, 1}
			}
			if s.Taken[denying.Name] {
				f.fails["query_store_state "+d.Name] = &tdstest.NoDatabaseState
			}
		}
		for _, on := range []struct {
			split, wait string
			sessions    int64
		}{
			{"active", "", d.Sessions.Active},
			{"idle", "", d.Sessions.Idle},
			{"in transaction", "", d.Sessions.InTransaction},
			{"waiting", "LCK_M_X", d.Sessions.Waiting},
			{"other", "", d.Sessions.Other},
		} {
			if on.sessions > 0 {
				f.sessions = append(f.sessions, row{d.ID, on.split, on.wait, int(on.sessions)})
			}
		}
		for _, one := range d.Statements {
			hash, born := fmt.Sprintf("%016x", one.Of), after(one.Born)
			if !s.Taken[denying.Name] {
				f.counters[d.Name] = append(f.counters[d.Name], inStore(one.ID, 9, hash, one.Calls, one.Ms, one.MaxMs, -1800, born))
			}
			f.plans = append(f.plans, f.inCache(d.ID, fmt.Sprintf("%x", one.ID), hash, one.Calls, one.Ms, born))
			f.texts = append(f.texts, row{hash, one.Text})
			f.cached = append(f.cached, row{d.ID, hash, one.Text})
		}
	}
}
