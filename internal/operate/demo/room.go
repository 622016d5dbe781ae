package demo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/room"
	"muster/internal/operate/demo/inspected"
	"muster/internal/watch"
)

const (
	// fillingMount is the volume that fills on a Tuesday.
	fillingMount = "/backup"
	// It is emptied every so many days, which is longer ago than there are sizes, and fills by so many points a day.
	fillingEvery, fillingBy = 63, 1.4
	// roomPast is of how many days there are sizes when somebody first looks.
	roomPast = 45
)

// tuesday is when the volume that fills is full: at least four days after the organization was made.
func tuesday(made time.Time) time.Time {
	at := made.UTC().Truncate(day).AddDate(0, 0, 4).Add(13 * time.Hour)
	for at.Weekday() != time.Tuesday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// filling is how full that volume is.
func filling(made, at time.Time) float64 {
	left := math.Mod(tuesday(made).Sub(at).Hours()/24, fillingEvery)
	if left < 0 {
		left += fillingEvery
	}
	return 100 - fillingBy*left
}

// pastSizes keeps how full volumes and databases were before anybody looked, a value a day.
func (m *measuring) pastSizes(ctx context.Context, there []inventory.IDs) error {
	made := m.organization.CreatedAt
	a := newAgents(made, there)
	for days := roomPast; days > 0; days-- {
		at := made.Add(-time.Duration(days) * day)
		for i := range a.servers {
			s := &a.servers[i]
			var volumes, databases []room.Size
			for _, v := range s.Volumes {
				if !watch.Ignores(v.Mount) {
					volumes = append(volumes, room.Size{Kind: room.Volume, Name: v.Mount, Used: percent(v.used(made, at)), Limit: 100})
				}
			}
			for _, name := range s.Databases {
				databases = append(databases, room.Size{Kind: room.Database, Name: name, Used: inspected.Of(s.Name).Bytes(name, made, at)})
			}
			if err := room.RecordSizes(ctx, m.DB, m.organization.ID, room.HostSubject(fleet.HostKey(s.Host)), at, volumes); err != nil {
				return fmt.Errorf("keep how full volumes were: %w", err)
			}
			if err := room.RecordSizes(ctx, m.DB, m.organization.ID, room.InstanceSubject(s.instance), at, databases); err != nil {
				return fmt.Errorf("keep how large databases were: %w", err)
			}
		}
	}
	return nil
}

// rooms are the looks at servers at a time.
func rooms(made time.Time, there []inventory.IDs, at time.Time) (states []room.State) {
	for _, s := range servers() {
		id := idOf(there, s.Name)
		if id == uuid.Nil || len(s.Volumes) == 0 {
			continue
		}
		state := room.State{Instance: id, Engine: s.Engine, At: at}
		for _, name := range s.Databases {
			state.Sizes = append(state.Sizes, room.Size{Kind: room.Database, Name: name, Used: inspected.Of(s.Name).Bytes(name, made, at)})
		}
		if s.Engine == fleet.PostgreSQL {
			lookedAfter(&state, s, at)
		}
		states = append(states, state)
	}
	return states
}

// lookedAfter has tables that autovacuum reaches, on one server one that it does not, and a sequence near its end.
func lookedAfter(state *room.State, s server, at time.Time) {
	state.Looked, state.Databases = len(s.Databases), len(s.Databases)
	ago := func(d time.Duration) *time.Time { t := at.Add(-d).UTC(); return &t }
	for _, name := range s.Databases {
		c := newChance(s.Name, name, "tables")
		state.Ages = append(state.Ages, room.Age{Database: name, Transactions: int64(60e6 + 120e6*c.draw(0)), Multixacts: int64(2e6 * c.draw(1)), FreezeAt: 200e6})
		for n, table := range []string{"public.lines", "public.customers", "public.audit"} {
			live := int64(4e6 * (0.2 + c.draw(int64(n)+2)))
			dead := live / int64(20+80*c.draw(int64(n)+5))
			t := room.Table{
				Database: name, Name: table, Bytes: live * 210, Live: &live, Dead: &dead, Vacuumed: ago(9 * day), Autovacuum: ago(time.Duration(2+n*7) * time.Hour),
				Analyzed: ago(9 * day), Autoanalyze: ago(time.Duration(1+n*5) * time.Hour), Method: room.DeadRowShare,
			}
			if s.Name == heldServer && name == heldDatabase && n == 2 { // nobody switched it on again after an import
				dead = live * 31 / 69
				t.Name, t.Autovacuum, t.Vacuumed, t.Off, t.Due = "public.cart", nil, ago(63*day), true, true
			}
			bloat := live * 210 * 3 / 4 * dead / (live + dead)
			t.Bloat = &bloat
			state.Tables = append(state.Tables, t)
		}
	}
	if s.Name == heldServer {
		used := 71 + 0.11*math.Mod(at.Sub(at.Truncate(365*day)).Hours()/24, 30)
		state.Sequences = []room.Sequence{{
			Database: heldDatabase, Name: "public.order_lines_id_seq", Column: "public.order_lines.id", Type: "integer",
			Last: math.Round(used / 100 * math.MaxInt32), Max: math.MaxInt32, Used: used,
		}}
	}
}

// roomSigns are the figures about connections and ids that the watch judges, of PostgreSQL servers in a batch.
func roomSigns(organization uuid.UUID, there []inventory.IDs, b *measurements.Batch) (signs []watch.Sign) {
	for _, s := range servers() {
		of := slices.IndexFunc(b.Room, func(r room.State) bool { return r.Instance == idOf(there, s.Name) && len(r.Ages) > 0 })
		if of < 0 {
			continue
		}
		sign := watch.Sign{OrganizationID: organization, InstanceID: b.Room[of].Instance, At: b.Room[of].At}
		worst := slices.MaxFunc(b.Room[of].Ages, func(a, b room.Age) int { return cmp.Compare(a.Share(), b.Share()) })
		wraparound, connections := sign, sign
		wraparound.Rule, wraparound.Value, wraparound.Details = watch.Wraparound, 100*worst.Share(), watch.Details{Database: worst.Database}
		signs = append(signs, wraparound)
		connections.Rule, connections.Details = watch.Connections, watch.Details{Sessions: allSessions(b, sign.InstanceID, sign.At), Limit: inspected.Of(s.Name).MaxConnections()}
		if connections.Value = 100 * float64(connections.Details.Sessions) / float64(connections.Details.Limit); connections.Value > 0 {
			signs = append(signs, connections)
		}
	}
	return signs
}

// allSessions is how many sessions a server had at a time; 0: nobody looked.
func allSessions(b *measurements.Batch, instance uuid.UUID, at time.Time) (n int) {
	for _, s := range b.Sessions {
		if s.Instance == instance && s.At.Equal(at) {
			n += int(s.Active + s.Waiting + s.IdleInTransaction + s.Idle + s.Other)
		}
	}
	return n
}

// isFilling says whether a volume is the one that fills on a Tuesday.
func (v volume) isFilling() bool { return v.Mount == fillingMount }
