package postgresql

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

var (
	//go:embed sql/room.sql
	roomQuery string
	//go:embed sql/room_database.sql
	roomDatabaseQuery string
)

// looksAtOnce is into how many databases a look goes. Those of a server with more follow in the next
// looks.
const looksAtOnce = 20

// looked is what was found in a database.
type looked struct {
	hidden    int
	tables    []room.Table
	sequences []room.Sequence
}

// roomOf is what a server tells, and roomIn what a database of it does.
type roomOf struct {
	FreezeAt  int64
	Databases int
	All       []struct {
		Name                     string
		Open                     bool
		Transactions, Multixacts int64
		Bytes                    *float64
	}
}

type roomIn struct {
	Hidden int
	Tables []struct {
		Name                                           string
		Bytes, Main, Live, Dead, Changed               int64
		Vacuumed, Autovacuumed, Analyzed, Autoanalyzed *float64
		Off, Due                                       bool
	}
	Sequences []struct {
		Name, Column, Type string
		Last, Max, Used    float64
	}
}

// Room reads how much room the server has, and how its tables are looked after.
func (r *reader) Room(ctx context.Context, l *measure.Line, at time.Time) (*room.State, error) {
	row, err := servers.Row(ctx, l, 1, roomOfServer())
	if err != nil {
		return nil, err
	}
	var told roomOf
	if err := json.Unmarshal([]byte(row[0]), &told); err != nil {
		return nil, measure.ErrNonsense
	}
	s := &room.State{At: at, Databases: told.Databases}
	var names []string
	for _, d := range told.All {
		if d.Bytes != nil {
			s.Sizes = append(s.Sizes, room.Size{Kind: room.Database, Name: d.Name, Used: *d.Bytes})
		}
		s.Ages = append(s.Ages, room.Age{Database: d.Name, Transactions: d.Transactions, Multixacts: d.Multixacts, FreezeAt: told.FreezeAt})
		if d.Open {
			names = append(names, d.Name)
		}
	}
	r.visit(ctx, l, names)
	for _, name := range names {
		if found, ok := r.rooms[name]; ok {
			s.Looked++
			s.Hidden += found.hidden
			s.Tables, s.Sequences = append(s.Tables, found.tables...), append(s.Sequences, found.sequences...)
		}
	}
	s.Tables = room.Worst(s.Tables)
	if s.Hidden > 0 {
		s.Denied = append(s.Denied, "GRANT SELECT ON ALL SEQUENCES IN SCHEMA … TO "+r.role+";")
	}
	return s, nil
}

// roomOfServer is the query of the whole server.
func roomOfServer() string {
	return strings.ReplaceAll(roomQuery, "@most@", strconv.Itoa(room.MaxDatabases))
}

// visit looks into some of the databases, those first that were looked into longest ago. One that does
// not let us in is passed over: what is known of it stays.
func (r *reader) visit(ctx context.Context, l *measure.Line, names []string) {
	known := make(map[string]*looked, len(names))
	for _, name := range names {
		if found, ok := r.rooms[name]; ok {
			known[name] = found
		}
	}
	r.rooms = known
	for _, name := range r.roomTurns.Next(names, looksAtOnce) {
		if ctx.Err() != nil {
			return
		}
		session := l.Session
		if name != l.Database() {
			var err error
			if session, err = l.Open(ctx, name); err != nil {
				continue
			}
		}
		found, err := lookIn(ctx, session, name)
		if name != l.Database() {
			session.Close(ctx)
		}
		if err == nil {
			r.rooms[name] = found
		}
	}
}

// lookIn reads the tables and sequences of a database.
func lookIn(ctx context.Context, s servers.Session, name string) (*looked, error) {
	query := strings.NewReplacer("@objects@", strconv.Itoa(room.MaxObjects), "@tables@", strconv.Itoa(room.MaxNamed),
		"@dead@", strconv.Itoa(room.MaxTables-room.MaxNamed), "@sequences@", strconv.Itoa(room.MaxNamed)).Replace(roomDatabaseQuery)
	row, err := servers.Row(ctx, s, 1, query)
	if err != nil {
		return nil, err
	}
	var told roomIn
	if err := json.Unmarshal([]byte(row[0]), &told); err != nil {
		return nil, measure.ErrNonsense
	}
	found := &looked{hidden: told.Hidden}
	for i := range told.Tables {
		t := &told.Tables[i]
		live, dead, changed := max(t.Live, 0), max(t.Dead, 0), max(t.Changed, 0)
		table := room.Table{
			Database: name, Name: t.Name, Bytes: t.Bytes, Live: &live, Dead: &dead, Changed: &changed, Vacuumed: when(t.Vacuumed),
			Autovacuum: when(t.Autovacuumed), Analyzed: when(t.Analyzed), Autoanalyze: when(t.Autoanalyzed), Due: t.Due, Off: t.Off,
		}
		if live+dead > 0 {
			bloat := int64(float64(t.Main) * float64(dead) / float64(live+dead))
			table.Bloat, table.Method = &bloat, room.DeadRowShare
		}
		found.tables = append(found.tables, table)
	}
	for _, q := range told.Sequences {
		found.sequences = append(found.sequences, room.Sequence{Database: name, Name: q.Name, Column: q.Column, Type: q.Type, Last: q.Last, Max: q.Max, Used: q.Used})
	}
	return found, nil
}

// when is a time of the server's clock.
func when(seconds *float64) *time.Time {
	if seconds == nil {
		return nil
	}
	whole, part := math.Modf(*seconds)
	at := time.Unix(int64(whole), int64(part*1e9)).UTC()
	return &at
}
