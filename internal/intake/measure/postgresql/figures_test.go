package postgresql

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// teller is a server that is asked what it tells about itself, once in each of its minutes.
type teller struct {
	*crowd
	home  *measuretest.Home
	clock *clocktest.Clock
	one   *measure.Server
}

func (c *crowd) tells(t *testing.T) *teller {
	f := &teller{crowd: c, home: &measuretest.Home{To: c.target()}, clock: clocktest.At(time.Now().Truncate(time.Minute))}
	f.one = measure.New(measure.Config{
		Engine: Engine(f.clock.Now), Instance: uuid.New(), Home: f.home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: f.clock.Now,
	})
	t.Cleanup(func() { f.one.Close(context.Background()) })
	return f
}

// figures are those of a minute, by their names and, of a database, that.
func (f *teller) figures() map[string]measurements.ServerFigure {
	f.t.Helper()
	f.home.Batches = nil
	_ = f.one.Round(f.t.Context()) // the extension is not there
	f.clock.Advance(time.Minute)
	found := map[string]measurements.ServerFigure{}
	for _, b := range f.home.Batches {
		for _, s := range b.Servers {
			for _, one := range s.Figures {
				key := string(one.Figure)
				for name, id := range f.home.Known {
					if id == one.Database && one.Database != uuid.Nil {
						key += " " + name
					}
				}
				if _, again := found[key]; again {
					f.t.Errorf("%s twice", key)
				}
				found[key] = one
			}
		}
	}
	return found
}

// counts are what the server's own views have counted, as an administrator reads them.
type counts struct {
	Bytes, Files, Sessions, Timed, Requested, Buffers int64
}

func (f *teller) counts(major int) (c counts) {
	f.t.Helper()
	sessions, checkpoints := "0", "checkpoints_timed AS timed, checkpoints_req AS requested, buffers_checkpoint AS buffers FROM pg_stat_bgwriter"
	if major >= 14 {
		sessions = "sessions"
	}
	if major >= 17 {
		checkpoints = "num_timed + restartpoints_timed AS timed, num_requested + restartpoints_req AS requested, buffers_written AS buffers FROM pg_stat_checkpointer"
	}
	err := f.admin.Get(&c, `SELECT d.*, c.* FROM (SELECT sum(temp_bytes)::bigint AS bytes, sum(temp_files)::bigint AS files, sum(`+sessions+`)::bigint AS sessions
		FROM pg_stat_database WHERE datname IS NOT NULL) d, (SELECT `+checkpoints+`) c`)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// sorts writes a temporary file, in a session of its own, which tells what it did when it ends.
func (f *teller) sorts() {
	f.t.Helper()
	f.visits(`SET work_mem = '64kB'`, `SELECT count(*) FROM (SELECT n FROM generate_series(1, 50000) n ORDER BY n DESC OFFSET 1) s`)
}

func (f *teller) visits(statements ...string) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.URL("bill", "postgres"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := conn.Exec(f.t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			f.t.Fatal(err)
		}
	}
	_ = conn.Close(f.t.Context())
}

// settles waits until the server has counted what sessions did that are over.
func (f *teller) settles(major int, condition func(counts) bool) (c counts) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if c = f.counts(major); condition(c) {
			return c
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("never: %+v", c)
		}
		f.admin.MustExec(`SELECT pg_sleep(0.05)`)
	}
}

// TestFiguresOfServers: what servers of each version tell about themselves is what their own views say,
// read by somebody else.
func TestFiguresOfServers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, major)
			f := c.tells(t)
			f.nothingIsOpen(major)
			f.whatIsOpen(major)
			f.whatIsCounted(major)
			f.countsThatAreReset(major)
			f.whatMayNotBeSeen()
		})
	}
}

func (f *teller) nothingIsOpen(major int) {
	f.t.Helper()
	got := f.figures()
	for _, of := range []measurements.Figure{measurements.OldestTransaction, measurements.OldestIdle} {
		if one := got[string(of)]; one.Telling != measurements.Told || one.Value != 0 || one.Holder != nil {
			f.t.Errorf("nothing is open, and %s is %+v", of, one)
		}
	}
	if _, counted := got["temporaryBytes"]; counted || got["temporaryUsed"].Telling != measurements.NotTold || (got["newConnections"].Telling == measurements.NotTold) != (major < 14) {
		f.t.Errorf("at first: %+v", got)
	}
}

// whatIsOpen is judged by the start of each transaction as its own session tells it.
func (f *teller) whatIsOpen(major int) {
	f.t.Helper()
	defer f.over()
	f.does("first", false, `BEGIN`, `SELECT pg_sleep(0.2)`, `SELECT 1 AS one`)
	f.does("second", false, `BEGIN`, `UPDATE orders SET status = 'paid' WHERE id = 1`)
	f.does("waits", true, `UPDATE orders SET status = 'sent' WHERE id = 1`)
	f.does("idles", false, `SELECT 1`)
	var judge []struct {
		Application, Pid string
		Open, Idle       float64 // ms
		Statement        string
	}
	queryID := `''`
	if major >= 14 {
		queryID = `query_id || '/' || usesysid`
	}
	read := func() {
		err := f.admin.Select(&judge, `SELECT application_name AS application, pid::text, extract(epoch FROM now() - xact_start) * 1000 AS open,
			extract(epoch FROM now() - state_change) * 1000 AS idle, `+queryID+` AS statement FROM pg_stat_activity WHERE application_name IN ('first', 'second') ORDER BY 1`)
		if err != nil || len(judge) != 2 {
			f.t.Fatal(judge, err)
		}
	}
	read()
	before := judge
	judge = nil
	got := f.figures()
	read()
	for of, at := range map[measurements.Figure]int{measurements.OldestTransaction: 0, measurements.OldestIdle: 0} {
		low, high := before[at].Open, judge[at].Open
		if of == measurements.OldestIdle {
			low, high = before[at].Idle, judge[at].Idle
		}
		one := got[string(of)]
		want := measurements.Holder{Session: judge[at].Pid, Database: f.home.Known["postgres"], Doing: measurements.Doing{
			State: measurements.IdleInTransaction, User: "bill", Application: "first", Client: "local", Statement: judge[at].Statement,
		}}
		if one.Holder == nil || *one.Holder != want || float64(one.Value) < low-1 || float64(one.Value) > high+1 {
			f.t.Errorf("%s is %+v of %+v, want %g to %g of %+v", of, one, one.Holder, low, high, want)
		}
	}
	f.over()
	f.visits(`BEGIN`, `UPDATE orders SET note = 'x' WHERE id = 2`, `PREPARE TRANSACTION 'forgotten'`)
	f.does("young", false, `BEGIN`, `SELECT 1`)
	got = f.figures()
	if one := got["oldestTransaction"]; one.Holder == nil || one.Holder.Session != "prepared forgotten" || one.Holder.User != "bill" || one.Holder.Database != f.home.Known["postgres"] {
		f.t.Errorf("a prepared transaction is the oldest: %+v of %+v", one, one.Holder)
	}
	if one := got["oldestIdleInTransaction"]; one.Holder == nil || one.Holder.Application != "young" {
		f.t.Errorf("a prepared transaction is no session that is idle: %+v of %+v", one, one.Holder)
	}
	f.admin.MustExec(`ROLLBACK PREPARED 'forgotten'`)
}

// whatIsCounted in a minute is the difference of what the server's views say before and after it.
func (f *teller) whatIsCounted(major int) {
	f.t.Helper()
	f.figures()
	before := f.counts(major)
	for range 200 {
		f.visits()
	}
	f.sorts()
	f.admin.MustExec(`UPDATE orders SET note = 'y'`)
	f.admin.MustExec(`CHECKPOINT`)
	after := f.settles(major, func(c counts) bool {
		return c.Bytes > before.Bytes && c.Requested > before.Requested && (major < 14 || c.Sessions >= before.Sessions+201)
	})
	got := f.figures()
	want := map[string]int64{
		"temporaryBytes": after.Bytes - before.Bytes, "temporaryBytes postgres": after.Bytes - before.Bytes, "temporaryFiles": after.Files - before.Files,
		"newConnections": after.Sessions - before.Sessions, "checkpointsTimed": after.Timed - before.Timed,
		"checkpointsRequested": after.Requested - before.Requested, "checkpointBuffers": after.Buffers - before.Buffers,
	}
	if major < 14 {
		delete(want, "newConnections")
	} else if want["newConnections"] < 201 {
		f.t.Errorf("%d connections were begun", want["newConnections"])
	}
	for of, n := range want {
		if one := got[of]; one.Telling != measurements.Told || one.Value != n || one.Interval != time.Minute {
			f.t.Errorf("%s is %+v, the server's views say %d", of, one, n)
		}
	}
	got = f.figures()
	for _, of := range []string{"temporaryBytes", "temporaryFiles", "checkpointsTimed", "checkpointsRequested"} {
		if one := got[of]; one.Telling != measurements.Told || one.Value != 0 {
			f.t.Errorf("nothing happened, and %s is %+v", of, one)
		}
	}
	if one, there := got["temporaryBytes postgres"]; there {
		f.t.Errorf("a database that wrote nothing has %+v", one)
	}
}

// countsThatAreReset, by somebody or by a start of the server, are not known for that minute.
func (f *teller) countsThatAreReset(major int) {
	f.t.Helper()
	writer := "bgwriter"
	if major >= 17 {
		writer = "checkpointer"
	}
	missing := func(after string, want bool, figures ...string) {
		f.t.Helper()
		got := f.figures()
		for _, of := range figures {
			if one, there := got[of]; there == want {
				f.t.Errorf("after %s, %s is %+v", after, of, one)
			}
		}
	}
	f.admin.MustExec(`SELECT pg_stat_reset()`)
	f.until(`SELECT coalesce(temp_bytes, 0) = 0 FROM pg_stat_database WHERE datname = 'postgres'`)
	f.sorts()
	f.settles(major, func(c counts) bool { return c.Bytes > 0 })
	missing("a reset of a database", true, "temporaryBytes", "temporaryBytes postgres", "temporaryFiles")
	missing("that", false, "temporaryBytes", "checkpointsTimed")
	f.admin.MustExec(`SELECT pg_stat_reset_shared('` + writer + `')`)
	f.settles(major, func(c counts) bool { return c.Requested == 0 })
	missing("a reset of checkpoints", true, "checkpointsTimed", "checkpointWriteMs")
	missing("that", false, "checkpointsTimed", "temporaryBytes")
	f.over()
	f.Restart(f.t)
	_ = f.admin.PingContext(f.t.Context()) // on the connection that is gone
	f.figures()                            // likewise
	missing("a start of the server", true, "temporaryBytes", "checkpointsTimed")
	missing("that", false, "temporaryBytes", "checkpointsTimed")
}

// whatMayNotBeSeen is denied, and not zero. Counters are everybody's.
func (f *teller) whatMayNotBeSeen() {
	f.t.Helper()
	defer f.over()
	f.does("hidden", false, `BEGIN`, `SELECT 1`)
	f.admin.MustExec(`REVOKE pg_monitor FROM watcher`)
	got := f.figures()
	for _, of := range []string{"oldestTransaction", "oldestIdleInTransaction"} {
		if one := got[of]; one.Telling != measurements.Denied || one.Holder != nil || one.Value != 0 {
			f.t.Errorf("without rights %s is %+v", of, one)
		}
	}
	if one := got["temporaryBytes"]; one.Telling != measurements.Told {
		f.t.Errorf("without rights temporary files are %+v", one)
	}
	f.admin.MustExec(`GRANT pg_monitor TO watcher`)
	if one := f.figures()["oldestTransaction"]; one.Telling != measurements.Told || one.Holder == nil {
		f.t.Errorf("with rights again: %+v", one)
	}
	f.admin.MustExec(`ALTER ROLE bill SET track_activities = off`)
	conn, err := pgx.Connect(f.t.Context(), f.URL("bill", "postgres"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	f.until(`SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'disabled'`)
	got = f.figures()
	if one, there := got["oldestTransaction"]; there {
		f.t.Errorf("a session that does not say what it does may have the oldest transaction: %+v", one)
	}
	f.admin.MustExec(`ALTER ROLE bill RESET track_activities`)
	_ = conn.Close(f.t.Context())
}

// TestFiguresOfAStandby are its own: its transactions, and its restart points.
func TestFiguresOfAStandby(t *testing.T) {
	t.Parallel()
	first := newCrowd(t, 0)
	c := &crowd{t: t, Server: pgtest.Standby(t, first.Server, pgtest.Options{Settings: map[string]string{"max_prepared_transactions": "5"}})}
	c.admin = pgtest.Connect(t, c.Superuser())
	c.until(`SELECT to_regclass('orders') IS NOT NULL`)
	f := c.tells(t)
	c.does("report", false, `BEGIN`, `SELECT count(*) FROM orders`)
	f.figures()
	var version string
	if err := c.admin.Get(&version, `SHOW server_version_num`); err != nil {
		t.Fatal(err)
	}
	major := 16
	if strings.Compare(version, "170000") >= 0 {
		major = 17
	}
	before := f.counts(major)
	c.admin.MustExec(`CHECKPOINT`)
	after := f.settles(major, func(c counts) bool { return c.Requested > before.Requested })
	got := f.figures()
	if one := got["oldestTransaction"]; one.Holder == nil || one.Holder.Application != "report" || one.Value <= 0 {
		t.Errorf("%+v of %+v", one, one.Holder)
	}
	if one := got["checkpointsRequested"]; one.Telling != measurements.Told || one.Value != after.Requested-before.Requested {
		t.Errorf("%+v, the server's views say %+v and then %+v", one, before, after)
	}
	c.over()
}
