package oracle

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestRoomOfADatabase holds the reader to rows of the documented views: tablespaces, databases, the recovery area, disk groups
// with their mirrors, sequences, identity columns and tables.
func TestRoomOfADatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	null := serverstest.Null
	s.on(roomTablespacesQuery, []string{"3", "USERS", "900000", "1000000"}, []string{"1", "SYSTEM", "5", "10"}, []string{"9", "LATER", "5", "10"})
	s.on(roomDatabasesQuery, []string{"1", "100"}, []string{"2", "1"}, []string{"3", "2000000"})
	s.on(roomRecoveryQuery, []string{"+FRA", "60", "100"})
	s.on(roomDiskGroupsQuery, []string{"DATA", "NORMAL", "3000", "1200", "1000", "100"}, []string{"FRA", "EXTERN", "500", "200", "0", "200"},
		[]string{"REDO", "HIGH", "3000", "100", "1000", "-300"}, []string{"FLEX", "FLEX", "500", "200", "0", "0"})
	s.on(roomSequencesQuery, []string{"3", "ERP", "ISEQ$$_1", "ORDERS", "ID", "5", "90000", "99999"}, []string{"3", "ERP", "TICKETS", null, null, null, "5", "1.0E+027"})
	s.on(roomTablesQuery, []string{"3", "ERP", "ORDERS", "1000", "5000", "86400", "700"}, []string{"3", "ERP", "NEW", "10", null, null, null})
	b := s.pass(0)
	if len(b.Room) != 1 {
		t.Fatalf("%+v", b.Room)
	}
	got := b.Room[0]
	const mb = 1 << 20
	want := []room.Size{
		{Kind: room.Tablespace, Name: "ERP.USERS", Used: 900000, Limit: 1000000}, {Kind: room.Tablespace, Name: "CDB$ROOT.SYSTEM", Used: 5, Limit: 10},
		{Kind: room.Database, Name: "CDB$ROOT", Used: 100}, {Kind: room.Database, Name: "ERP", Used: 2000000},
		{Kind: room.Volume, Name: "recovery area +FRA", Used: 60, Limit: 100},
		{Kind: room.Volume, Name: "disk group DATA", Used: 900 * mb, Limit: 1000 * mb}, {Kind: room.Volume, Name: "disk group FRA", Used: 300 * mb, Limit: 500 * mb},
		{Kind: room.Volume, Name: "disk group REDO", Used: 2000.0 / 3 * mb, Limit: 2000.0 / 3 * mb}, {Kind: room.Volume, Name: "disk group FLEX", Used: 300 * mb, Limit: 500 * mb},
	}
	if !slices.Equal(got.Sizes, want) {
		t.Errorf("%+v, not %+v", got.Sizes, want)
	}
	if q := got.Sequences; len(q) != 2 || q[0] != (room.Sequence{Database: "ERP", Name: "ERP.ISEQ$$_1", Column: "ERP.ORDERS.ID", Type: "NUMBER(5)", Last: 90000, Max: 99999, Used: 100 * 90000.0 / 99999}) ||
		q[1].Type != "sequence" || q[1].Column != "" || q[1].Max != 1e27 {
		t.Errorf("%+v", q)
	}
	if x := got.Tables; len(x) != 2 || x[0].Name != "ERP.ORDERS" || x[0].Bytes != 8192*1000 || *x[0].Live != 5000 || *x[0].Changed != 700 || !x[0].Analyzed.Equal(got.At.Add(-24*time.Hour)) ||
		x[1].Live != nil || x[1].Changed != nil || x[1].Analyzed != nil {
		t.Errorf("%+v", x)
	}
	if got.Databases != 3 || got.Looked != 3 || got.Denied != nil || got.Left != nil || got.Failed == nil {
		t.Errorf("%+v", got)
	}
}

// TestRoomOfADatabaseIsPartlyKnown: what is not granted is named with its grants and is no missing grant of the measurement,
// what fails is said, and a pluggable database is asked for neither the recovery area nor disk groups.
func TestRoomOfADatabaseIsPartlyKnown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.self("3", "ERP", "ORCL", "MUSTER")
	s.on(containersQuery, []string{"3", "ERP", "READ WRITE"})
	s.session.Fail(roomRecoveryQuery, errors.New("nobody asks"))
	s.session.Fail(roomDiskGroupsQuery, errors.New("nobody asks"))
	s.deny(roomTablesQuery)
	s.fail(roomTablespacesQuery, 1013, servers.TimedOut)
	s.on(roomDatabasesQuery, []string{"3", "7"})
	s.clock.Advance(20 * time.Second)
	s.now()
	err := s.server.Round(t.Context())
	if len(s.home.Batches) == 0 || err == nil {
		t.Fatalf("%+v, %v", s.home.Batches, err)
	}
	got := s.home.Batches[0].Room[0]
	if want := `GRANT SELECT ON SYS.CDB_TABLES TO "MUSTER"; GRANT SELECT ON SYS.CDB_TAB_MODIFICATIONS TO "MUSTER";`; len(got.Denied) != 1 || got.Denied[0] != want || s.lacking() != "" {
		t.Errorf("%q, lacks %q", got.Denied, s.lacking())
	}
	if len(got.Left) != 1 || got.Left[0] != "Tablespaces could not be read at this look." || len(got.Sizes) != 1 || got.Sizes[0].Name != "ERP" || got.Failed == nil {
		t.Errorf("%+v", got)
	}
}

// TestASlowPartOfRoomTakesNothingWithIt: an interrupted statement costs the connection. What was read before it stays, and at
// the next look the others have their turn before it.
func TestASlowPartOfRoomTakesNothingWithIt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(roomTablespacesQuery, []string{"3", "USERS", "9", "10"})
	s.on(roomTablesQuery, []string{"3", "ERP", "ORDERS", "1000", "5000", "86400", "700"})
	late := &servers.Refusal{Engine: fleet.Oracle, Code: "ORA-01013", Reason: servers.TimedOut}
	s.session.Answers[serverstest.FirstLine(roomDatabasesQuery)] = serverstest.Answer{Err: late, Cuts: true}
	look := func() room.State {
		t.Helper()
		s.now()
		before := len(s.home.Batches)
		if err := s.server.Round(t.Context()); err == nil {
			t.Error("nothing was late")
		}
		for _, b := range s.home.Batches[before:] {
			if len(b.Room) == 1 {
				return b.Room[0]
			}
		}
		t.Fatal("no room is known")
		return room.State{}
	}
	s.clock.Advance(20 * time.Second)
	first := look()
	if len(first.Sizes) != 1 || len(first.Tables) != 0 || first.Failed == nil || len(first.Left) != 5 || first.Left[0] != "Sizes of databases could not be read at this look." {
		t.Errorf("%+v", first)
	}
	s.clock.Advance(room.Every)
	if next := look(); len(next.Sizes) != 1 || len(next.Tables) != 1 || len(next.Left) != 1 {
		t.Errorf("%+v", next)
	}
}

// TestRoomOfADatabaseWithoutContainers: rows have the number 0.
func TestRoomOfADatabaseWithoutContainers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.self("0", "ORCL", "", "MUSTER")
	s.on(containersQuery, []string{"0", "ORCL", "READ WRITE"})
	s.on(roomTablespacesQuery, []string{"0", "USERS", "9", "10"})
	if got := s.pass(0).Room[0]; len(got.Sizes) != 1 || got.Sizes[0].Name != "ORCL.USERS" {
		t.Errorf("%+v", got)
	}
}

// TestInvalidFiguresOfRoomAreNotKept, and take nothing else with it.
func TestInvalidFiguresOfRoomAreNotKept(t *testing.T) {
	t.Parallel()
	for query, row := range map[string][]string{
		roomTablespacesQuery: {"3", "USERS", "-1", "10"}, roomDatabasesQuery: {"3", "NaN"}, roomRecoveryQuery: {"+FRA", "x", "1"},
		roomDiskGroupsQuery: {"DATA", "HIGH", "1", "1", "1", "x"}, roomSequencesQuery: {"3", "ERP", "S", "", "", "", "1", "0"}, roomTablesQuery: {"3", "ERP", "T", "1", "x", "1", "1"},
	} {
		s := newScene(t)
		s.on(query, row)
		s.clock.Advance(20 * time.Second)
		s.now()
		err := s.server.Round(t.Context())
		if got := s.home.Batches[0].Room; !errors.Is(err, measure.ErrNonsense) || len(got) != 1 || len(got[0].Left) != 1 || got[0].Failed == nil {
			t.Errorf("%q: %+v, %v", row, got, err)
		}
	}
}

// TestAThousandTablespaces: a look says that there are more than it reads, and keeps those.
func TestAThousandTablespaces(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var rows [][]string
	for n := range mostTablespaces {
		rows = append(rows, []string{"3", fmt.Sprintf("T%d", n), fmt.Sprint(2000 - n), "3000"})
	}
	s.on(roomTablespacesQuery, rows...)
	got := s.pass(0).Room[0]
	if fit := got.Fit(); len(fit.Sizes) != mostTablespaces || len(fit.Left) != 1 || fit.Left[0] != "The server may have more than 1000 tablespaces: the greatest are listed." {
		t.Errorf("%d sizes, %q", len(fit.Sizes), fit.Left)
	}
}
