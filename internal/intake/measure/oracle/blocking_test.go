package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

// blocked are the rows of the query of who waits for whom.
func (s *scene) blocked(rows ...[]string) { s.blockedOf(len(rows), rows...) }

// blockedOf are the first of so many.
func (s *scene) blockedOf(all int, rows ...[]string) {
	query := s.in(blockingQuery, clusterBlockingQuery)
	for i := range rows {
		rows[i] = append(slices.Clip(rows[i]), fmt.Sprint(all))
	}
	s.on(strings.ReplaceAll(query, "@most@", "1000"), rows...)
}

// session is a row of a session: it waits for another one's number and instance for so many
// seconds, unless that is empty.
func session(sid, serial, instance, blocker, of, final, ofFinal, seconds string) []string {
	row := []string{sid, serial, instance, "2026-11-01 08:00:00", "BILL", "billing", "web01", "3", "USER", "INACTIVE", "1", "240", "0w2qpuc6u2zsp",
		null, null, null, null, "0", "SQL*Net message from client", "0", "-1"}
	if blocker == "" {
		return row
	}
	copy(row[9:], []string{"ACTIVE", "1", "9", "0w2qpuc6u2zsp", blocker, of, final, ofFinal, seconds + "000000", "enq: TX - row lock contention", "1415053318", "73421"})
	return row
}

// distributed makes a session that of a database link, which another database has opened.
func distributed(row []string) []string {
	row[5], row[6] = "oracle@db02 (TNS V1-V3)", "db02"
	return row
}

// TestBlockedSessionsAndTheirBlockers are read from rows of V$SESSION, asked only while a session waits for
// what another one may hold.
func TestBlockedSessionsAndTheirBlockers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.blocked(session("7", "70", "1", "", "", "", "", ""), session("8", "80", "1", "7", "1", "7", "1", "9"))
	if b := s.pass(0); measuretest.Edges(b.Blocking) != "" || len(b.Blocking) != 2 {
		t.Errorf("nobody waits: %+v", b.Blocking)
	}
	s.on(sessionsQuery, []string{"3", "waiting", "Application", "1"})
	s.home.Texts = true
	s.on(textsQuery, []string{"0w2qpuc6u2zsp", "UPDATE orders SET status = 'secret' WHERE id = 1"})
	b := s.pass(20 * time.Second)
	if got := measuretest.Edges(b.Blocking); got != "7,70,1 8,80,1<-7,70,1" {
		t.Fatalf("%q", got)
	}
	root, one := b.Blocking[0].Nodes[0], b.Blocking[0].Nodes[1]
	if !root.Idle || root.Kind != blocking.Client || root.User != "BILL" || root.Application != "billing" || root.Client != "web01" || root.Database != "ERP" ||
		b.Blocking[0].At.Sub(*root.Changed) != 4*time.Minute {
		t.Errorf("the root: %+v", root)
	}
	if one.Mode != "exclusive" || one.Object != "object 73421" || b.Blocking[0].At.Sub(*one.Waits) != 9*time.Second ||
		one.Statement != "UPDATE orders SET status = ? WHERE id = ?" || one.StatementID != "0w2qpuc6u2zsp" {
		t.Errorf("who waits: %+v", one)
	}
	s.home.Texts = false
	for _, test := range []struct {
		name string
		rows [][]string
		want string
	}{
		{"a chain", [][]string{session("7", "70", "1", "", "", "", "", ""), session("8", "80", "1", "7", "1", "7", "1", "9"), session("9", "90", "1", "8", "1", "7", "1", "5")}, "7,70,1 8,80,1<-7,70,1 9,90,1<-8,80,1"},
		{"the one in between is not seen", [][]string{session("7", "70", "1", "", "", "", "", ""), session("9", "90", "1", "8", "1", "7", "1", "5")}, "7,70,1 9,90,1<-7,70,1"},
		{"a circle", [][]string{session("8", "80", "1", "9", "1", null, null, "4"), session("9", "90", "1", "8", "1", null, null, "5")}, "9,90,1<-8,80,1 8,80,1<-9,90,1 deadlock 8,80,1<-9,90,1 deadlock 9,90,1<-8,80,1"},
		{"too short", [][]string{session("7", "70", "1", "", "", "", "", ""), session("8", "80", "1", "7", "1", "7", "1", "1")}, ""},
	} {
		s.blocked(test.rows...)
		if got := measuretest.Edges(s.pass(20 * time.Second).Blocking); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	lock := session("8", "80", "1", "7", "1", "7", "1", "9")
	lock[18] = "enq: UL - contention"
	s.blocked(session("7", "70", "1", "", "", "", "", ""), lock)
	if got := measuretest.Edges(s.pass(20 * time.Second).Blocking); got != "advisory 7,70,1 advisory 8,80,1<-7,70,1" {
		t.Errorf("DBMS_LOCK: %q", got)
	}
	s.on(sessionsQuery)
	if b := s.pass(20 * time.Second); measuretest.Edges(b.Blocking) != "" || len(b.Blocking) != 1 {
		t.Errorf("nobody waits any more: %+v", b.Blocking)
	}
	s.on(sessionsQuery, []string{"3", "waiting", "Application", "1"})
	nonsense := session("8", "80", "1", "7", "1", "7", "1", "9")
	nonsense[17] = "long"
	s.blocked(nonsense)
	s.clock.Advance(20 * time.Second)
	s.now()
	if err := s.server.Round(t.Context()); !errors.Is(err, measure.ErrNonsense) {
		t.Errorf("nonsense: %v", err)
	}
}

// TestDistributedTransactions: what a transaction in doubt holds, no session does (BLOCKING_SESSION_STATUS is UNKNOWN), so nobody is
// named. The session of a coordinator in another database is one as any other.
func TestDistributedTransactions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(sessionsQuery, []string{"3", "waiting", "Application", "1"})
	for _, test := range []struct {
		name string
		rows [][]string
		want string
	}{
		{"a transaction in doubt", [][]string{session("8", "80", "1", null, null, null, null, "9")}, ""},
		{"one in doubt beside a chain", [][]string{session("7", "70", "1", "", "", "", "", ""), session("8", "80", "1", "7", "1", "7", "1", "9"), session("9", "90", "1", null, null, null, null, "9")}, "7,70,1 8,80,1<-7,70,1"},
		{"behind one in doubt", [][]string{session("8", "80", "1", null, null, null, null, "9"), session("9", "90", "1", "8", "1", null, null, "5")}, "8,80,1 9,90,1<-8,80,1"},
		{"a branch of another database", [][]string{distributed(session("7", "70", "1", "", "", "", "", "")), session("8", "80", "1", "7", "1", "7", "1", "9")}, "7,70,1 8,80,1<-7,70,1"},
	} {
		s.blocked(test.rows...)
		if got := measuretest.Edges(s.pass(20 * time.Second).Blocking); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSessionsOfAClusterHaveTheirInstance: two of them may have one number.
func TestSessionsOfAClusterHaveTheirInstance(t *testing.T) {
	t.Parallel()
	one, err := (&reader{databases: []measure.Database{{ID: 3, Name: "ERP"}}}).blockingNode(session("7", "80", "2", "7", "1", "7", "1", "9"), began, map[place]string{{"7", "1"}: "7,70,1", {"7", "2"}: "7,80,2"})
	if err != nil || one.Session != "7,80,2" || one.For[0] != "7,70,1" {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestABlockerOnAnotherNodeOfACluster is named with its instance, also where a session of ours has its number, and so is the one
// at the end of a chain over two nodes.
func TestABlockerOnAnotherNodeOfACluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.inCluster()
	s.on(clusterSessionsQuery, []string{"3", "waiting", "Application", "2"})
	s.blocked(session("7", "70", "2", "", "", "", "", ""), session("7", "80", "1", "7", "2", "7", "2", "9"), session("9", "90", "2", "7", "1", "7", "2", "5"))
	if got := measuretest.Edges(s.pass(20 * time.Second).Blocking); got != "7,70,2 7,80,1<-7,70,2 9,90,2<-7,80,1" {
		t.Errorf("%q", got)
	}
}

// TestTenThousandSessionsWait for one: it is named, those that have waited longest are kept, and the others are counted.
func TestTenThousandSessionsWait(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(sessionsQuery, []string{"3", "waiting", "Application", "9999"})
	rows := [][]string{session("7", "70", "1", "", "", "", "", "")}
	for n := range 999 {
		rows = append(rows, session(fmt.Sprint(100+n), "1", "1", "7", "1", "7", "1", fmt.Sprint(2000-n)))
	}
	s.blockedOf(10_000, rows...)
	locks := s.pass(20 * time.Second).Blocking[0]
	if held := blocking.Holding(locks.Nodes); held.Root.Session != "7,70,1" || len(locks.Nodes) != blocking.MaxNodes || blocking.Waiting(locks.Nodes)+locks.Omitted != 9999 {
		t.Errorf("%s holds up %d, of %d nodes, and %d are omitted", held.Root.Session, held.Behind, len(locks.Nodes), locks.Omitted)
	}
}

func TestWithoutTheGrantBlockingIsUnknown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.deny(strings.ReplaceAll(sessionsQuery, "@application@", servers.ApplicationName))
	if b := s.pass(0); b.Blocking != nil {
		t.Errorf("%+v", b.Blocking)
	}
}

// TestTheEndOfABlockingRoot is in the sample that says that no session waits any more. The transaction of a
// session is not known.
func TestTheEndOfABlockingRoot(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for name, test := range map[string]struct {
		rows [][]string
		want blocking.End
	}{
		"it is in no transaction": {[][]string{{"0"}}, blocking.TransactionEnded}, "it is in one": {[][]string{{"1"}}, ""}, "it is gone": {nil, blocking.SessionEnded},
	} {
		s.on(sessionsQuery, []string{"3", "waiting", "Application", "1"})
		s.blocked(session("7", "70", "1", "", "", "", "", ""), session("8", "80", "1", "7", "1", "7", "1", "9"))
		s.pass(20 * time.Second)
		s.on(sessionsQuery)
		s.on(strings.NewReplacer("@sid@", "7", "@serial@", "70").Replace(freedQuery), test.rows...)
		if got := s.pass(20 * time.Second).Blocking; len(got) != 1 || got[0].End != test.want {
			t.Errorf("%s: %+v, want %q", name, got, test.want)
		}
	}
	if got := strings.NewReplacer("@instance@", "2").Replace((&reader{cluster: true}).in(freedQuery, clusterFreedQuery)); !strings.Contains(got, "gv$session") || !strings.Contains(got, "inst_id = 2") {
		t.Errorf("in a cluster: %s", got)
	}
}
