package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers/tdstest"
)

// withRoom is a server whose database app has a capped filegroup, one without a limit, and a log of a fixed size.
func withRoom(t testing.TB) *fake {
	f := newFake(t)
	f.volumes = []row{{`C:\`, "master", int64(100e9), int64(40e9), 3}, {`D:\Data\`, "app", int64(1e12), int64(1e11), 4}, {"", "crm", int64(50e9), int64(60e9), 1}}
	f.sizes = []row{{"master", 4096, 100}, {"app", 8 << 20, 2 << 20}, {"crm", 1024, nil}, {"_Total", 1 << 30, 1}, {"mssqlsystemresource", 1, 1}}
	f.files = map[string][]row{
		"app":    {{"ARCHIVE", 900, 1000, 0, 1}, {"PRIMARY", 5000, 1 << 30, 1, 1}, {"", 400_000, 400_000, 0, 1}},
		"master": {{"PRIMARY", 500, 1000, 1, 1}}, "crm": {{"PRIMARY", 500, 1000, 1, 1}},
	}
	f.sequences = map[string][]row{"app": {
		{"dbo", "orders", "id", 56, 10, 1932735283.0, 2147483647.0}, {"dbo", "old", "no", 108, 5, 50000.0, 99999.0}, {"dbo", "tickets", "", 127, 19, 5.0, 100.0},
	}}
	f.tables = map[string][]row{"app": {{"dbo", "orders", 1 << 20, 5000, 86400, 700}, {"dbo", "denied", 10, 3, nil, nil}, {"dbo", "ahead", 5, 3, -60, 0}}}
	return f
}

func sizeOf(t *testing.T, s room.State, kind room.Kind, name string) room.Size {
	t.Helper()
	i := slices.IndexFunc(s.Sizes, func(x room.Size) bool { return x.Kind == kind && x.Name == name })
	if i < 0 {
		t.Fatalf("no %s %s in %+v", kind, name, s.Sizes)
	}
	return s.Sizes[i]
}

// TestRoomOfAServer holds the reader to rows of the documented views: volumes, filegroups and logs with a limit of their
// own, databases, identity columns, sequences and statistics.
func TestRoomOfAServer(t *testing.T) {
	t.Parallel()
	b := withRoom(t).measure(t).well()
	if len(b.Room) != 1 {
		t.Fatalf("%+v", b.Room)
	}
	s := b.Room[0]
	for _, want := range []room.Size{
		{Kind: room.Volume, Name: `C:\`, Used: 60e9, Limit: 100e9}, {Kind: room.Volume, Name: `D:\Data\`, Used: 9e11, Limit: 1e12},
		{Kind: room.Volume, Name: "of database crm", Used: 0, Limit: 50e9}, // its volume is larger than it says
		{Kind: room.Tablespace, Name: "filegroup app.ARCHIVE", Used: 900 * 8192, Limit: 1000 * 8192},
		{Kind: room.Tablespace, Name: "log of app", Used: 2 << 30, Limit: 400_000 * 8192},
		{Kind: room.Database, Name: "app", Used: 8 << 30}, {Kind: room.Database, Name: "crm", Used: 1 << 20},
	} {
		if got := sizeOf(t, s, want.Kind, want.Name); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
	if len(s.Sizes) != 8 || s.Databases != 3 || s.Looked != 3 || s.Denied != nil || s.Left != nil {
		t.Errorf("%+v", s)
	}
	if q := s.Sequences; len(q) != 3 || q[0] != (room.Sequence{Database: "app", Name: "dbo.orders", Column: "dbo.orders.id", Type: "int", Last: 1932735283, Max: 2147483647, Used: 100 * 1932735283.0 / 2147483647}) ||
		q[1].Type != "decimal(5)" || q[2].Column != "" || q[2].Used != 5 {
		t.Errorf("%+v", q)
	}
	if x := s.Tables; len(x) != 3 || x[0].Name != "dbo.orders" || x[0].Bytes != 8<<30 || *x[0].Live != 5000 || *x[0].Changed != 700 || !x[0].Analyzed.Equal(s.At.Add(-24*time.Hour)) ||
		x[1].Analyzed != nil || x[1].Changed != nil || !x[2].Analyzed.After(s.At) || x[0].Dead != nil {
		t.Errorf("%+v", x)
	}
}

// TestRoomIsPartlyKnown: a part that cannot be read takes no other with it, a login that sees no definitions is told which
// grant it lacks, and databases that are not looked into are counted.
func TestRoomIsPartlyKnown(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	f.fails["room_volumes"] = &tdstest.Error{Number: 5, Text: "something"}
	f.fails["jobs"] = &tdstest.Error{Number: 229, Text: "The SELECT permission was denied."}
	f.files["app"] = []row{{"ARCHIVE", 900, 1000, 0, 0}}
	f.databases = append(f.databases, row{7, "off", 6, 0, false})
	b, err := f.measure(t).round()
	if err == nil || len(b.Room) != 1 {
		t.Fatalf("%+v, %v", b.Room, err)
	}
	s := b.Room[0]
	want := []string{"Volumes could not be read at this look.", "Muster does not look into 1 databases: they are offline, closed, on a secondary replica, or its login may not."}
	if !slices.Equal(s.Left, want) || len(s.Denied) != 2 || s.Denied[1] != "GRANT VIEW ANY DEFINITION TO [watcher];" || s.Failed != nil || len(s.Tables) != 0 {
		t.Errorf("%+v", s)
	}
	sizeOf(t, s, room.Tablespace, "filegroup app.ARCHIVE")
	for _, text := range []string{"-1", "NaN", "many"} {
		f := withRoom(t)
		f.files["app"] = []row{{"ARCHIVE", 900, text, 0, 1}}
		if b, err := f.measure(t).round(); err == nil || b.Room[0].Looked != 2 || b.Room[0].Left[0] != "Some databases could not be read at this look." {
			t.Errorf("%s: %+v, %v", text, b.Room, err)
		}
	}
}

// TestRoomOfAzure has neither volumes nor jobs, and what the one database tells.
func TestRoomOfAzure(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	f.edition, f.seesHere = azureDatabase, true
	s := f.measure(t).well().Room[0]
	if len(s.Sizes) != 2 || s.Failed != nil || s.Databases != 1 || s.Looked != 1 || len(s.Tables) != 3 || s.Left != nil {
		t.Errorf("%+v", s)
	}
	f.files["app"][0][4], f.files["app"][1][4], f.files["app"][2][4] = 0, 0, 0
	f.clock.Advance(room.Every)
	if s := f.measure(t).well().Room[0]; len(s.Denied) != 1 || s.Denied[0] != "GRANT VIEW DEFINITION TO [dbo];" {
		t.Errorf("%+v", s)
	}
}

// TestRoomOfAThousandDatabasesIsReadInTurn: a look goes into 50 of them, so that each has its turn within a
// day, and says how many are known.
func TestRoomOfAThousandDatabasesIsReadInTurn(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	f.databases, f.sizes = nil, nil
	for n := range 1000 {
		name := fmt.Sprintf("db%04d", n)
		f.databases = append(f.databases, row{n + 5, name, 0, 1, false})
		f.sizes = append(f.sizes, row{name, 1024, 1})
		f.files[name] = []row{{"PRIMARY", 1, 2, 0, 1}}
		f.tables[name] = []row{{"dbo", "t", n, 1, 1, 1}}
		f.sequences[name] = []row{{"dbo", "t", "id", 56, 10, float64(n + 1), 2147483647.0}}
	}
	m := f.measure(t)
	for look := 1; look <= 3; look++ {
		f.looked = nil
		s := m.well().Room[0].Fit()
		if len(f.looked) != databasesAtOnce || s.Looked != look*databasesAtOnce || s.Databases != 1000 || len(s.Tables) > room.MaxTables || len(s.Sequences) > room.MaxNamed {
			t.Fatalf("look %d goes into %d, and knows %d of %d, with %d tables", look, len(f.looked), s.Looked, s.Databases, len(s.Tables))
		}
		if of := func(k room.Kind) int {
			return len(slices.DeleteFunc(slices.Clone(s.Sizes), func(x room.Size) bool { return x.Kind != k }))
		}; of(room.Tablespace) != databasesAtOnce || of(room.Database) != 1000 {
			t.Errorf("look %d has sizes of %d filegroups and %d databases", look, of(room.Tablespace), of(room.Database))
		}
		f.clock.Advance(room.Every - time.Minute)
	}
}

// TestALookIntoDatabasesIsBounded by the time that it takes: those that it does not reach are first at the next look, and are
// no error. A database that takes all of the time costs itself.
func TestALookIntoDatabasesIsBounded(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	f.databases = nil
	for n := range 40 {
		name := fmt.Sprintf("db%02d", n)
		f.databases = append(f.databases, row{n + 5, name, 0, 1, false})
		f.files[name] = []row{{"PRIMARY", 1, 2, 0, 1}}
	}
	session := &costly{Session: f.line(t).Session, fake: f, timeout: measure.StatementTimeout, asked: map[string]int{}, costs: map[string]time.Duration{
		"room_files": 200 * time.Millisecond, "room_sequences": 200 * time.Millisecond, "room_tables": 100 * time.Millisecond,
	}}
	line, r := measure.NewLine(session, nil), newReader(f.clock.Now)
	if _, err := r.Activity(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	look := func() *room.State {
		t.Helper()
		session.spent = 0
		s, err := r.Room(t.Context(), line, f.clock.Now())
		if bound := lookBudget + 10*time.Millisecond; err != nil || session.spent > bound {
			t.Errorf("a look takes %s, %v", session.spent, err)
		}
		return s
	}
	for n, want := range []int{10, 20, 30, 40, 40} {
		if s := look(); s.Looked != want || len(s.Left) != 0 {
			t.Errorf("look %d knows %d, not %d, and leaves out %q", n, s.Looked, want, s.Left)
		}
	}
	session.costs["room_files"] = time.Hour
	if s, err := r.Room(t.Context(), line, f.clock.Now()); err == nil || s.Looked != 40 || len(s.Left) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestNamesOfDatabasesAreQuoted in queries of them, whatever they look like.
func TestNamesOfDatabasesAreQuoted(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	name := "a] @named 'b' {database}"
	f.databases = []row{{5, name, 0, 1, false}}
	var asked []string
	f.AnswerBy(query("room_files"), func(q tdstest.Query) tdstest.Answer {
		asked = append(asked, q.Text)
		return tdstest.Answer{Rows: []row{{"PRIMARY", 1, 2, 0, 1}}}
	})
	f.measure(t).well()
	for _, want := range []string{"FROM [a]] @named 'b' {database}].sys.database_files AS f", "HAS_PERMS_BY_NAME(N'[a]] @named ''b'' {database}]', 'DATABASE'"} {
		if len(asked) != 1 || !strings.Contains(asked[0], want) {
			t.Errorf("%q has no %s", asked, want)
		}
	}
}

// TestManyFilesAreReported: the look says of how many files the volumes are known.
func TestManyFilesAreReported(t *testing.T) {
	t.Parallel()
	f := withRoom(t)
	f.volumes[0][4] = filesAtOnce
	if s := f.measure(t).well().Room[0]; len(s.Left) != 1 || !strings.Contains(s.Left[0], "more than 1000 files") {
		t.Errorf("%q", s.Left)
	}
}

var _ measure.RoomReader = (*reader)(nil)
