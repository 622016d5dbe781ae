package postgresql

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"fmt"
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
	//go:embed sql/room_cron.sql
	roomCronQuery string
)

const (
	// looksAtOnce is into how many databases a look goes. Those of a server with more follow in the next
	// looks.
	looksAtOnce = 20
	// visitTime is how long that may take, as sessions wait meanwhile: none is begun after it. So the last one may
	// take as long again, which is how long a statement may take.
	visitTime = 5 * time.Second
)

// looked is what was found in a database.
type looked struct {
	hidden    int
	locked    int  // tables that were left out
	more      bool // there are more tables than are considered
	cron      string
	failed    int // runs of jobs of pg_cron
	jobs      []room.Job
	tables    []room.Table
	sequences []room.Sequence
}

// roomOf is what a server tells, and roomIn what a database of it does.
type roomOf struct {
	FreezeAt  int64
	Total     int
	Databases int
	All       []struct {
		Name                     string
		Open                     bool
		Transactions, Multixacts int64
		Bytes                    *float64
	}
}

type roomIn struct {
	Hidden, Locked int
	More           bool
	Cron           string // whether the runs of jobs of pg_cron may be read: cronOpen, cronShut; empty: it is not installed
	Tables         []struct {
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
	shut := r.visit(ctx, l, names)
	var more []string
	locked := 0
	for _, name := range names {
		if found, ok := r.rooms[name]; ok {
			s.Looked++
			locked += found.locked
			found.addJobs(s)
			if found.more {
				more = append(more, name)
			}
			s.Hidden += found.hidden
			s.Tables, s.Sequences = append(s.Tables, found.tables...), append(s.Sequences, found.sequences...)
		}
	}
	s.Tables = room.Worst(s.Tables)
	if s.Hidden > 0 {
		s.Denied = append(s.Denied, "GRANT SELECT ON ALL SEQUENCES IN SCHEMA … TO "+r.role+";")
	}
	s.Left = append(s.Left, leftOut(told.Total, shut, more, locked)...)
	return s, nil
}

// leftOut says what a look has left out, and why: of so many databases in all, those that did not let us in, and those with
// more tables than are considered.
func leftOut(total int, shut, more []string, locked int) (said []string) {
	if total > room.MaxDatabases {
		said = append(said, fmt.Sprintf("The server has %d databases: the %d oldest are considered.", total, room.MaxDatabases))
	}
	if len(shut) > 0 {
		said = append(said, fmt.Sprintf("Muster could not look into %s at this look.", some(shut)))
	}
	if len(more) > 0 {
		said = append(said, fmt.Sprintf("Of the tables of %s, %d are considered.", some(more), room.MaxObjects))
	}
	if locked > 0 {
		said = append(said, fmt.Sprintf("Tables that were locked against reading at the last look into their database are left out: %d.", locked))
	}
	return said
}

// some names databases, the first of many.
func some(databases []string) string {
	if n := len(databases) - 1; n > 0 {
		return fmt.Sprintf("database %s and %d more", databases[0], n)
	}
	return "database " + databases[0]
}

// roomOfServer is the query of the whole server.
func roomOfServer() string {
	return strings.ReplaceAll(roomQuery, "@most@", strconv.Itoa(room.MaxDatabases))
}

// visit looks into some of the databases, at least one, those first that were looked into longest ago. One that does
// not let us in is passed over, and returned: what is known of it stays.
func (r *reader) visit(ctx context.Context, l *measure.Line, names []string) (shut []string) {
	known := make(map[string]*looked, len(names))
	for _, name := range names {
		if found, ok := r.rooms[name]; ok {
			known[name] = found
		}
	}
	r.rooms = known
	began := r.now()
	for visited := range min(looksAtOnce, len(names)) {
		if ctx.Err() != nil || visited > 0 && r.now().Sub(began) >= visitTime {
			return shut
		}
		name := r.roomTurns.Next(names, 1)[0]
		session := l.Session
		if name != l.Database() {
			var err error
			if session, err = l.Open(ctx, name); err != nil {
				shut = append(shut, name)
				continue
			}
		}
		found, err := lookIn(ctx, session, name, room.MaxObjects)
		if name != l.Database() {
			session.Close(ctx)
		}
		if err != nil {
			shut = append(shut, name)
			continue
		}
		r.rooms[name] = found
	}
	return shut
}

// lookIn reads the tables and sequences of a database, of so many that it considers.
func lookIn(ctx context.Context, s servers.Session, name string, objects int) (*looked, error) {
	query := strings.NewReplacer("@objects@", strconv.Itoa(objects), "@tables@", strconv.Itoa(room.MaxNamed),
		"@dead@", strconv.Itoa(room.MaxTables-room.MaxNamed), "@sequences@", strconv.Itoa(room.MaxNamed)).Replace(roomDatabaseQuery)
	row, err := servers.Row(ctx, s, 1, query)
	if err != nil {
		return nil, err
	}
	var told roomIn
	if err := json.Unmarshal([]byte(row[0]), &told); err != nil {
		return nil, measure.ErrNonsense
	}
	found := &looked{hidden: told.Hidden, locked: told.Locked, more: told.More, cron: told.Cron}
	if told.Cron == cronOpen {
		switch err := found.readJobs(ctx, s); {
		case err == nil:
		case servers.ReasonOf(err) != "" && !s.Closed(): // its tables have another form
			found.cron = cronShut
		default:
			return nil, err
		}
	}
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

// Whether the runs of jobs of pg_cron may be read.
const (
	cronOpen = "open"
	cronShut = "shut" // its tables have row security: each role sees its own jobs
)

// readJobs reads which jobs of pg_cron failed.
func (found *looked) readJobs(ctx context.Context, s servers.Session) error {
	row, err := servers.Row(ctx, s, 1, strings.ReplaceAll(roomCronQuery, "@jobs@", strconv.Itoa(room.MaxNamed)))
	if err != nil {
		return err
	}
	var told struct {
		Failed int
		Jobs   []struct {
			Name string
			At   *float64
		}
	}
	if err := json.Unmarshal([]byte(row[0]), &told); err != nil {
		return measure.ErrNonsense
	}
	found.failed = told.Failed
	for _, j := range told.Jobs {
		if at := when(j.At); at != nil {
			found.jobs = append(found.jobs, room.Job{Name: j.Name, At: *at})
		}
	}
	return nil
}

// addJobs adds the jobs of pg_cron that failed, if the extension is in the database and lets us read that.
func (found *looked) addJobs(s *room.State) {
	switch found.cron {
	case cronOpen:
		if s.Failed == nil {
			s.Failed = new(int)
		}
		*s.Failed += found.failed
		s.Jobs = append(s.Jobs, found.jobs...)
	case cronShut:
		s.Left = append(s.Left, "Runs of jobs of pg_cron could not be read: its tables show each role its own jobs, unless the role has BYPASSRLS and may read them.")
	}
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
