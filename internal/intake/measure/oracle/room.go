package oracle

import (
	"cmp"
	"context"
	_ "embed" // the queries
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

var (
	//go:embed sql/room_tablespaces.sql
	roomTablespacesQuery string
	//go:embed sql/room_databases.sql
	roomDatabasesQuery string
	//go:embed sql/room_recovery.sql
	roomRecoveryQuery string
	//go:embed sql/room_disk_groups.sql
	roomDiskGroupsQuery string
	//go:embed sql/room_sequences.sql
	roomSequencesQuery string
	//go:embed sql/room_tables.sql
	roomTablesQuery string
)

const (
	// mostTablespaces is how many tablespaces a look reads, as its query says.
	mostTablespaces = 1000
	megabyte        = 1 << 20
)

// Room reads how full the server is, how its tables are looked after, and which jobs of the scheduler failed.
func (r *reader) Room(ctx context.Context, l *measure.Line, at time.Time) (*room.State, error) {
	if err := r.meet(ctx, l.Session); err != nil {
		return nil, err
	}
	s := &room.State{At: at}
	part := func(name string, views []string, columns int, query string, take func(row []string) error) measure.RoomPart {
		var grants []string
		for _, view := range views {
			grants = append(grants, grantOn(view, r.self.account).Statement)
		}
		return measure.RoomPart{Name: name, Denied: strings.Join(grants, " "), Read: func() error {
			rows, err := servers.Query(ctx, l, columns, query)
			for _, row := range rows {
				if err := take(row); err != nil {
					return err
				}
			}
			return err
		}}
	}
	inContainer := func(take func(database string, row []string) error) func(row []string) error {
		return func(row []string) error {
			if name := r.container(row[0]); name != "" {
				return take(name, row[1:])
			}
			return nil
		}
	}
	parts := []measure.RoomPart{
		{Name: "Jobs", Read: func() error { return r.readJobs(ctx, l, s) }},
		part("Tablespaces", []string{"CDB_TABLESPACE_USAGE_METRICS", "CDB_TABLESPACES"}, 4, roomTablespacesQuery, inContainer(with(s, addTablespace))),
		part("Sizes of databases", []string{"V$DATAFILE"}, 2, roomDatabasesQuery, inContainer(with(s, addDatabase))),
	}
	if !r.self.multi || r.self.container == root {
		parts = append(parts,
			part("The recovery area", []string{"V$RECOVERY_FILE_DEST"}, 3, roomRecoveryQuery, func(row []string) error { return addRecoveryArea(s, row) }),
			part("Disk groups", []string{"V$ASM_DISKGROUP_STAT"}, 6, roomDiskGroupsQuery, func(row []string) error { return addDiskGroup(s, row) }))
	}
	block, err := r.blockSize(ctx, l)
	if err != nil {
		return nil, err
	}
	parts = append(parts,
		part("Sequences", []string{"CDB_SEQUENCES", "CDB_TAB_IDENTITY_COLS", "CDB_TAB_COLUMNS"}, 8, roomSequencesQuery, inContainer(with(s, addSequence))))
	if block > 0 {
		add := func(database string, row []string) error { return addTable(s, database, row, block) }
		parts = append(parts, part("Tables", []string{"CDB_TABLES", "CDB_TAB_MODIFICATIONS"}, 7, roomTablesQuery, inContainer(add)))
	}
	s.Databases, s.Looked = len(r.databases), len(r.databases)
	return measure.ReadRoom(s, l, r.lateOnesLast(parts)...)
}

// lateOnesLast has parts read last that took too long before: an interrupted statement costs the connection, and the
// parts behind it their turn.
func (r *reader) lateOnesLast(parts []measure.RoomPart) []measure.RoomPart {
	for i, part := range parts {
		parts[i].Read = func() error {
			err := part.Read()
			r.late = slices.DeleteFunc(r.late, func(name string) bool { return name == part.Name })
			if servers.ReasonOf(err) == servers.TimedOut {
				r.late = append(r.late, part.Name)
			}
			return err
		}
	}
	slices.SortStableFunc(parts, func(a, b measure.RoomPart) int {
		return cmp.Compare(slices.Index(r.late, a.Name), slices.Index(r.late, b.Name))
	})
	return parts
}

// with is add with its State.
func with(s *room.State, add func(s *room.State, database string, row []string) error) func(database string, row []string) error {
	return func(database string, row []string) error { return add(s, database, row) }
}

// container is the name of a container that is known; without containers, the database has the number 0.
func (r *reader) container(number string) string {
	for _, d := range r.databases {
		if strconv.FormatUint(uint64(d.ID), 10) == number {
			return d.Name
		}
	}
	return ""
}

func addTablespace(s *room.State, database string, row []string) error {
	n, err := measure.Numbers(row[1], row[2])
	if err != nil || row[0] == "" {
		return measure.ErrNonsense
	}
	s.Sizes = append(s.Sizes, room.Size{Kind: room.Tablespace, Name: database + "." + row[0], Used: n[0], Limit: n[1]})
	if before := slices.IndexFunc(s.Sizes, isTablespace); len(s.Sizes)-before == mostTablespaces {
		s.Left = append(s.Left, fmt.Sprintf("The server may have more than %d tablespaces: the greatest are listed.", mostTablespaces))
	}
	return nil
}

func isTablespace(s room.Size) bool { return s.Kind == room.Tablespace }

func addDatabase(s *room.State, database string, row []string) error {
	n, err := measure.Numbers(row[0])
	if err != nil {
		return err
	}
	s.Sizes = append(s.Sizes, room.Size{Kind: room.Database, Name: database, Used: n[0]})
	return nil
}

func addRecoveryArea(s *room.State, row []string) error {
	n, err := measure.Numbers(row[1], row[2])
	if err != nil {
		return err
	}
	s.Sizes = append(s.Sizes, room.Size{Kind: room.Volume, Name: "recovery area " + row[0], Used: n[0], Limit: n[1]})
	return nil
}

// addDiskGroup adds a disk group: what its mirrors and the room for a lost disk leave of it. How a flexible group mirrors is
// each file's own, so all of its room counts.
func addDiskGroup(s *room.State, row []string) error {
	n, err := measure.Numbers(row[2], row[3], row[4])
	if err != nil || row[0] == "" {
		return measure.ErrNonsense
	}
	total, free, reserved := n[0], n[1], n[2]
	if copies := map[string]float64{"NORMAL": 2, "HIGH": 3}[row[1]]; copies > 0 {
		usable, err := strconv.ParseFloat(row[5], 64) // below zero if a lost disk cannot be mirrored again
		if err != nil || math.IsNaN(usable) {
			return measure.ErrNonsense
		}
		total, free = max(total-reserved, 0)/copies, max(usable, 0)
	}
	s.Sizes = append(s.Sizes, room.Size{Kind: room.Volume, Name: "disk group " + row[0], Used: max(total-free, 0) * megabyte, Limit: total * megabyte})
	return nil
}

func addSequence(s *room.State, database string, row []string) error {
	n, err := measure.Numbers(row[5], row[6])
	if err != nil || n[1] <= 0 || row[1] == "" {
		return measure.ErrNonsense
	}
	q := room.Sequence{Database: database, Name: row[0] + "." + row[1], Type: "sequence", Last: n[0], Max: n[1], Used: 100 * n[0] / n[1]}
	if row[3] != "" {
		q.Column = row[0] + "." + row[2] + "." + row[3]
		if row[4] != "" {
			q.Type = "NUMBER(" + row[4] + ")"
		}
	}
	s.Sequences = append(s.Sequences, q)
	return nil
}

func addTable(s *room.State, database string, row []string, block int64) error {
	n, err := measure.Numbers(row[2])
	if err != nil || row[1] == "" {
		return measure.ErrNonsense
	}
	t := room.Table{Database: database, Name: row[0] + "." + row[1], Bytes: int64(n[0]) * block}
	for i, into := range map[int]**int64{3: &t.Live, 5: &t.Changed} {
		if row[i] != "" {
			rows, err := strconv.ParseInt(row[i], 10, 64)
			if err != nil {
				return measure.ErrNonsense
			}
			*into = &rows
		}
	}
	if row[4] != "" {
		ago, err := strconv.ParseInt(row[4], 10, 64)
		if err != nil {
			return measure.ErrNonsense
		}
		analyzed := s.At.Add(-time.Duration(ago) * time.Second)
		t.Analyzed = &analyzed
	}
	s.Tables = append(s.Tables, t)
	return nil
}
