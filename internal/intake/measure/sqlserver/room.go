package sqlserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

const (
	// databasesAtOnce is into how many databases a look goes, and visitBudget how long that may take of the server's
	// time and ours, as sessions wait meanwhile. Databases that are left follow in the next looks: of 1,000, each has
	// its turn within a day, which is what a forecast needs.
	databasesAtOnce = 50
	visitBudget     = 5 * time.Second
	// filesAtOnce is of how many files a look asks the operating system for their volume, as its query says.
	filesAtOnce = 1000
	pageBytes   = 8192
)

// typeNames are the types of identity columns and sequences (system_type_id). Others are decimals.
var typeNames = map[string]string{"48": "tinyint", "52": "smallint", "56": "int", "127": "bigint"}

// rooms is what is known of the room of a server.
type rooms struct {
	turns  measure.Rotation
	looked map[string]inDatabase // by database
	logs   map[string]float64    // bytes of logs that are used, by database
}

// inDatabase is what was found in a database.
type inDatabase struct {
	hidden    bool // our login does not see what is defined there
	tables    []room.Table
	sequences []room.Sequence
}

// Room reads how full the server is, how its tables are looked after, and which jobs of the Agent failed.
func (r *reader) Room(ctx context.Context, l *measure.Line, at time.Time) (*room.State, error) {
	s := &room.State{At: at, Databases: len(r.databases)}
	var parts []measure.RoomPart
	if !r.server.azure() {
		login := r.server.login
		parts = append(parts, measure.RoomPart{Name: "Jobs", Read: func() error { return r.readJobs(ctx, l, s) }, Denied: "USE msdb; CREATE USER " + login +
			" FOR LOGIN " + login + "; GRANT SELECT ON dbo.sysjobs TO " + login + "; GRANT SELECT ON dbo.sysjobhistory TO " + login + ";"})
	}
	if r.server.sees && !r.server.azure() {
		parts = append(parts, measure.RoomPart{Name: "Volumes", Read: func() error { return readVolumes(ctx, l, s) }},
			measure.RoomPart{Name: "Sizes of databases", Read: func() error { return r.readSizes(ctx, l, s) }})
	}
	if r.server.sees {
		parts = append(parts, measure.RoomPart{Name: "Some databases", Read: func() error { return r.visitDatabases(ctx, l, s) }})
	}
	return measure.ReadRoom(s, l, parts...)
}

// readVolumes reads the volumes that files of databases are on.
func readVolumes(ctx context.Context, l *measure.Line, s *room.State) error {
	rows, err := servers.Query(ctx, l, 5, query("room_volumes"))
	files := 0
	for _, row := range rows {
		n, err := measure.Numbers(row[2], row[3], row[4])
		if err != nil {
			return err
		}
		name := row[0]
		if name == "" {
			name = "of database " + row[1]
		}
		files += int(n[2])
		s.Sizes = append(s.Sizes, room.Size{Kind: room.Volume, Name: name, Used: max(n[0]-n[1], 0), Limit: n[0]})
	}
	if files >= filesAtOnce {
		s.Left = append(s.Left, fmt.Sprintf("The server has more than %d files: a volume that has none of the first %d is missing.", filesAtOnce, filesAtOnce))
	}
	return err
}

// readSizes reads how large databases are, and remembers how much of their logs is used.
func (r *reader) readSizes(ctx context.Context, l *measure.Line, s *room.State) error {
	rows, err := servers.Query(ctx, l, 3, query("room_databases"))
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(r.databases))
	for _, d := range r.databases {
		known[d.name] = true
	}
	r.rooms.logs = make(map[string]float64, len(rows))
	for _, row := range rows {
		n, err := measure.Numbers(cmp.Or(row[1], "0"), cmp.Or(row[2], "0"))
		if err != nil {
			return err
		}
		if !known[row[0]] {
			continue
		}
		s.Sizes = append(s.Sizes, room.Size{Kind: room.Database, Name: row[0], Used: n[0] * 1024})
		r.rooms.logs[row[0]] = n[1] * 1024
	}
	return nil
}

// visitDatabases looks into some of the databases. What was found in the others before stays, but for sizes, which
// are of now.
func (r *reader) visitDatabases(ctx context.Context, l *measure.Line, s *room.State) error {
	var names []string
	for _, d := range r.databases {
		if d.online && d.accessible && !d.secondary {
			names = append(names, d.name)
		}
	}
	known := make(map[string]inDatabase, len(names))
	for _, name := range names {
		if found, ok := r.rooms.looked[name]; ok {
			known[name] = found
		}
	}
	r.rooms.looked = known
	var failed error
	line, budget := r.within(l, visitBudget)
	for range min(databasesAtOnce, len(names)) {
		before := budget.left
		if before <= 0 {
			break
		}
		name := r.rooms.turns.Next(names, 1)[0]
		found, sizes, err := r.lookIn(ctx, line, name, s.At)
		switch {
		case l.Closed() || ctx.Err() != nil:
			return err
		case isLate(err) && before < visitBudget: // there was little time left
			r.rooms.turns.Again(name)
		case err != nil: // what was known of it stays
			failed = errors.Join(failed, &measure.DatabaseError{Database: name, Err: err})
		default:
			r.rooms.looked[name] = found
			s.Sizes = append(s.Sizes, sizes...)
		}
	}
	hidden := false
	for _, name := range names {
		if found, ok := r.rooms.looked[name]; ok {
			s.Looked++
			s.Tables, s.Sequences = append(s.Tables, found.tables...), append(s.Sequences, found.sequences...)
			hidden = hidden || found.hidden
		}
	}
	s.Tables = room.Worst(s.Tables)
	switch {
	case hidden && r.server.azure():
		s.Denied = append(s.Denied, "GRANT VIEW DEFINITION TO "+r.server.user+";")
	case hidden:
		s.Denied = append(s.Denied, "GRANT VIEW ANY DEFINITION TO "+r.server.login+";")
	}
	if out := len(r.databases) - len(names); out > 0 {
		s.Left = append(s.Left, fmt.Sprintf("Muster does not look into %d databases: they are offline, closed, on a secondary replica, or its login may not.", out))
	}
	return failed
}

// lookIn reads the files, tables and sequences of a database.
func (r *reader) lookIn(ctx context.Context, l *measure.Line, name string, at time.Time) (found inDatabase, sizes []room.Size, err error) {
	ask := func(columns int, file string) ([][]string, error) {
		quoted := in(name, "{database}") // both in one pass: a name may look like a place
		named := "N'" + strings.ReplaceAll(quoted, "'", "''") + "'"
		return servers.Query(ctx, l, columns, strings.NewReplacer("{database}", quoted, "@named", named).Replace(query(file)))
	}
	files, err := ask(5, "room_files")
	if err != nil {
		return found, nil, err
	}
	for _, row := range files {
		n, err := measure.Numbers(row[1:4]...)
		if err != nil {
			return found, nil, err
		}
		found.hidden = row[4] == "0"
		size := room.Size{Kind: room.Tablespace, Name: "filegroup " + name + "." + row[0], Used: n[0] * pageBytes, Limit: n[1] * pageBytes}
		if row[0] == "" {
			size.Name, size.Used = "log of "+name, min(r.rooms.logs[name], size.Limit)
		}
		if n[2] == 0 { // else its volume is its limit
			sizes = append(sizes, size)
		}
	}
	if found.hidden {
		return found, sizes, nil
	}
	if found.sequences, err = sequencesOf(name, ask); err != nil {
		return found, nil, err
	}
	found.tables, err = tablesOf(name, at, ask)
	return found, sizes, err
}

// sequencesOf are the identity columns and sequences of a database.
func sequencesOf(database string, ask func(int, string) ([][]string, error)) (all []room.Sequence, err error) {
	rows, err := ask(7, "room_sequences")
	for _, row := range rows {
		n, err := measure.Numbers(row[4], row[5], row[6])
		if err != nil || n[2] <= 0 {
			return nil, measure.ErrNonsense
		}
		kind, known := typeNames[row[3]]
		if !known {
			kind = fmt.Sprintf("decimal(%d)", int(n[0]))
		}
		q := room.Sequence{Database: database, Name: row[0] + "." + row[1], Column: row[2], Type: kind, Last: n[1], Max: n[2], Used: 100 * n[1] / n[2]}
		if row[2] != "" {
			q.Column = q.Name + "." + row[2]
		}
		all = append(all, q)
	}
	return all, err
}

// tablesOf are the greatest tables of a database.
func tablesOf(database string, at time.Time, ask func(int, string) ([][]string, error)) (all []room.Table, err error) {
	rows, err := ask(6, "room_tables")
	for _, row := range rows {
		n, err := measure.Numbers(row[2], row[3])
		if err != nil {
			return nil, err
		}
		live := int64(n[1])
		t := room.Table{Database: database, Name: row[0] + "." + row[1], Bytes: int64(n[0]) * pageBytes, Live: &live}
		if row[4] != "" {
			ago, err := strconv.ParseInt(row[4], 10, 64)
			if err != nil {
				return nil, measure.ErrNonsense
			}
			updated := at.Add(-time.Duration(ago) * time.Second)
			t.Analyzed = &updated
		}
		if row[5] != "" {
			changed, err := strconv.ParseInt(row[5], 10, 64)
			if err != nil {
				return nil, measure.ErrNonsense
			}
			t.Changed = &changed
		}
		all = append(all, t)
	}
	return all, err
}
