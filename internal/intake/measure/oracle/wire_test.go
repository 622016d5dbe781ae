package oracle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/tnstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch"
)

// sent is a query as it reaches a server: without the comment it begins with.
func sent(query string) string {
	query = strings.ReplaceAll(query, "@application@", servers.ApplicationName)
	for strings.HasPrefix(query, "--") {
		_, query, _ = strings.Cut(query, "\n")
	}
	return query
}

// overTheDriver is the loop on a listener, with the driver that serve has.
func overTheDriver(t testing.TB, l *tnstest.Listener, timeout time.Duration) (*measure.Server, *measuretest.Home, *clocktest.Clock) {
	t.Helper()
	target, err := new(servers.Reach).Target(fleet.Oracle, l.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	clock, home := clocktest.At(began), &measuretest.Home{To: target}
	server := measure.New(measure.Config{
		Engine: Engine(), Organization: uuid.New(), Instance: uuid.New(), Home: home, Gate: measure.NewGate(1),
		Log: slog.New(slog.DiscardHandler), Now: clock.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			return to.Open(ctx, database, timeout)
		},
	})
	t.Cleanup(func() { server.Close(context.Background()) })
	return server, home, clock
}

// answered is a listener that answers like a pluggable database.
func answered(t *testing.T, at time.Time, calls int) *tnstest.Listener {
	t.Helper()
	l := tnstest.Start(t, tnstest.Options{})
	answer(l, at, calls)
	return l
}

func answer(l *tnstest.Listener, at time.Time, calls int) {
	on := func(query string, columns int, numbers []int, rows ...[]string) {
		l.Answer(sent(query), tnstest.Answer{Columns: columns, Numbers: numbers, Rows: rows})
	}
	on(selfQuery, 4, nil, []string{"3", "ERP \"2\" 😀", "ORCL", "MUSTER"})
	on(instanceQuery, 3, []int{0}, []string{"1", "2026-11-01 03:00:00", "NO"})
	on(containersQuery, 3, []int{0}, []string{"3", "ERP \"2\" 😀", "READ WRITE"})
	on(sessionsQuery, 9, []int{0, 3}, []string{"3", "waiting", "User I/O", "2", "db file sequential read", "ERP", "erp.exe", "app01", queryA}, []string{"3", "active", "", "1", "", "ERP", "erp.exe", "app01", queryA})
	on(lockWaitQuery, 3, []int{0, 1, 2}, []string{"0", "1", "60"})
	on(transactionsQuery, 11, []int{0, 1, 2, 3, 4, 5}, []string{"7", "11", "1", "3", "90", "60", "ERP", "erp.exe", "app01", queryA, "idleInTransaction"})
	on(blockSizeQuery, 1, nil, []string{"8192"})
	on(temporarySpaceQuery, 1, []int{0}, []string{"128"})
	on(countersQuery, 2, []int{1}, []string{"logons cumulative", fmt.Sprint(calls)})
	on(deadlocksQuery, 3, []int{0, 1, 2}, []string{"0", "3", "4"})
	on(replicationQuery, 6, []int{0}, alone)
	on(destinationsQuery, 7, nil)
	on(backupModeQuery, 2, []int{1}, []string{"ARCHIVELOG", "8640000"})
	on(backupJobsQuery, 5, []int{1, 2, 3, 4})
	on(backupElsewhereQuery, 1, nil)
	on(jobsQuery, 4, []int{1, 2, 3}, []string{"ERP.NIGHTLY", "1031", "60", "1"})
	on(roomTablespacesQuery, 4, []int{0, 2, 3}, []string{"3", "USERS", "900000", "1000000"})
	on(roomDatabasesQuery, 2, []int{0, 1}, []string{"3", "2000000"})
	on(roomSequencesQuery, 8, []int{0, 5, 6, 7}, []string{"3", "ERP", "S", "", "", "", "90", "100"})
	on(roomTablesQuery, 7, []int{0, 3, 4, 5, 6}, []string{"3", "ERP", "T", "1000", "5000", "86400", ""})
	on(dbTimeQuery, 2, []int{0, 1}, []string{"3", fmt.Sprint(1000 * calls)})
	on(clockQuery, 2, []int{0, 1}, []string{fmt.Sprint(at.UnixMicro()), "-330"})
	on(birthsQuery, 5, []int{0, 1, 3, 4})
	on(statementsQuery, 7, []int{0, 1, 3, 4, 5, 6}, []string{"0", "3", queryA, "18446744073709551615", "4294967295", fmt.Sprint(calls), fmt.Sprint(500 * calls)})
}

// TestRoundsOverTheDriver: the driver converts numbers, names and NULL as the reader expects.
func TestRoundsOverTheDriver(t *testing.T) {
	t.Parallel()
	l := answered(t, began, 10)
	server, home, clock := overTheDriver(t, l, time.Minute)
	for _, calls := range []int{10, 14} {
		answer(l, clock.Now(), calls)
		if err := server.Round(t.Context()); err != nil {
			t.Fatal(err, l.Asked())
		}
		clock.Advance(20 * time.Second)
	}
	if l.Came() != 2 || len(home.Batches) != 2 || len(home.Lacking) > 0 || len(home.Signs) == 0 || home.Signs[0].Value != 1 {
		t.Fatalf("%d connections, %d batches, lacking %v, signs %v", l.Came(), len(home.Batches), home.Lacking, home.Signs)
	}
	if b := home.Batches[0]; len(b.Room) != 1 || *b.Room[0].Failed != 1 || b.Room[0].Jobs[0].Why != "ORA-01031" {
		t.Errorf("jobs are %+v", b.Room)
	}
	b := home.Batches[1]
	one := b.Statements[0].Statements[0]
	if b.Sessions[0].Waiting != 2 || b.Sessions[0].Active != 1 || b.Sessions[0].Waits["User I/O"] != 2 ||
		one.Key != "18446744073709551615/4294967295" || one.Calls != 4 || one.TotalMs != 2 || *b.Statements[0].BusyMs != 4 {
		t.Errorf("kept %+v %+v", b.Sessions[0], b.Statements[0])
	}
	if r := home.Batches[0].Room; len(r) != 1 || len(r[0].Sizes) != 2 || r[0].Sizes[1].Used != 2e6 || len(r[0].Sequences) != 1 || r[0].Sequences[0].Used != 90 ||
		len(r[0].Tables) != 1 || *r[0].Tables[0].Live != 5000 || r[0].Tables[0].Changed != nil || r[0].Left != nil {
		t.Errorf("%+v", r)
	}
}

// TestF14TheListKnowsOurOwnStatements by how they begin when they reach the server: without the comments of their files.
func TestF14TheListKnowsOurOwnStatements(t *testing.T) {
	t.Parallel()
	l := answered(t, began, 10)
	server, _, _ := overTheDriver(t, l, time.Minute)
	if err := server.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{statementsQuery, clusterStatementsQuery} {
		_, begins, _ := strings.Cut(query, "NOT LIKE '")
		begins, _, ok := strings.Cut(begins, "%'")
		asked := 0
		for _, text := range l.Asked() {
			if strings.HasPrefix(text, "SELECT") {
				asked++
			}
		}
		if heard := strings.Count(string(l.Heard()), begins+" SELECT"); !ok || begins == "" || heard != asked {
			t.Errorf("of %d statements, %d begin with %q", asked, heard, begins)
		}
	}
}

// TestAServerThatBreaksOff in the middle of rows costs the round what was not read before,
// and the next one comes over another connection.
func TestAServerThatBreaksOff(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]tnstest.Fault{"stalls": tnstest.Stall, "is cut": tnstest.Cut, "makes no sense": tnstest.Nonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := answered(t, began, 10)
			server, home, clock := overTheDriver(t, l, 3*time.Second)
			if err := server.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.Answer(sent(statementsQuery), tnstest.Answer{Columns: 7, Rows: [][]string{{"0", "3", queryA, "1", "1", "99", "99"}}, Then: fault})
			clock.Advance(20 * time.Second)
			if err := server.Round(t.Context()); err == nil {
				t.Error("a list that broke off is taken for whole")
			}
			if last := home.Batches[len(home.Batches)-1]; len(last.Sessions) != 1 || last.Statements != nil {
				t.Errorf("kept %+v", last)
			}
			clock.Advance(20 * time.Second)
			answer(l, clock.Now(), 13)
			if err := server.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			last := home.Batches[len(home.Batches)-1].Statements[0]
			if l.Came() != 3 || last.Interval != 40*time.Second || len(last.Statements) != 1 || last.Statements[0].Calls != 3 {
				t.Errorf("%d connections; kept %+v", l.Came(), last)
			}
		})
	}
}

// TestARefusedLoginIsAnErrorOfOneClass, however often it is tried.
func TestARefusedLoginIsAnErrorOfOneClass(t *testing.T) {
	t.Parallel()
	for class, o := range map[string]tnstest.Options{
		servers.ClassAuthentication: {Login: 28001}, servers.ClassDatabase: {Refuse: 12514}, servers.ClassRefused: {Reset: true},
	} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			l := tnstest.Start(t, o)
			server, home, _ := overTheDriver(t, l, 100*time.Millisecond)
			for range 3 {
				var unreached *servers.ConnectionError
				if err := server.Round(t.Context()); !errors.As(err, &unreached) || unreached.Class != class {
					t.Errorf("got %v", err)
				}
			}
			if l.Came() != 3 || len(home.Batches) != 3 {
				t.Fatalf("%d connections, %d batches", l.Came(), len(home.Batches))
			}
			for _, b := range home.Batches { // each attempt is reported, and nothing else
				if b.Len() > 0 || len(b.Reached) != 1 || b.Reached[0].Up || b.Reached[0].Code == "" {
					t.Errorf("told is %+v", b)
				}
			}
		})
	}
}

// TestAHangingListDoesNotDelaySessions: they have a connection of their own. The list hangs until its time is
// over, which is after the sessions were read twenty times.
func TestAHangingListDoesNotDelaySessions(t *testing.T) {
	t.Parallel()
	l := answered(t, time.Now(), 10)
	l.Answer(sent(statementsQuery), tnstest.Answer{Columns: 7, Numbers: []int{0, 1, 3, 4, 5, 6}, Then: tnstest.Stall})
	target, err := new(servers.Reach).Target(fleet.Oracle, l.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	engine := Engine()
	engine.SessionsEvery, engine.StatementsEvery = 20*time.Millisecond, 20*time.Millisecond
	home := &counting{Home: &measuretest.Home{To: target}, enough: make(chan struct{}), wants: 20}
	home.begun = func() bool {
		return slices.ContainsFunc(l.Asked(), func(text string) bool { return strings.Contains(text, "FROM v$sqlstats_plan_hash") })
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var running sync.WaitGroup
	defer running.Wait()
	server := measure.New(measure.Config{
		Engine: engine, Organization: uuid.New(), Instance: uuid.New(), Home: home, Gate: measure.NewGate(2), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			return to.Open(ctx, database, time.Hour)
		},
	})
	running.Go(func() { server.Run(ctx) })
	defer end()
	select {
	case <-home.enough:
	case <-time.After(time.Minute):
		t.Fatal("the sessions wait for the list")
	}
}

// counting is a home that says when it has got enough samples of sessions since something began.
type counting struct {
	*measuretest.Home
	begun  func() bool
	enough chan struct{}
	wants  int
}

func (c *counting) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	if len(b.Sessions) > 0 && c.begun() {
		if c.wants--; c.wants == 0 {
			close(c.enough)
		}
	}
	return c.Home.Record(ctx, b, signs)
}
