package postgresql

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// full is a server whose room is looked at, by a role with pg_monitor only.
type full struct {
	t *testing.T
	*pgtest.Server
	admin *sqlx.DB
	read  *reader
	line  *measure.Line
}

func newFull(t *testing.T, major int) *full {
	t.Helper()
	f := &full{t: t, Server: pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"autovacuum": "off", "max_prepared_transactions": "2"}})}
	f.admin = pgtest.Connect(t, f.Superuser())
	f.admin.MustExec(`CREATE ROLE watcher LOGIN IN ROLE pg_monitor`)
	f.admin.MustExec(`CREATE DATABASE "Łódź ""2"""`)
	f.connect()
	return f
}

// connect opens the line anew.
func (f *full) connect() {
	f.t.Helper()
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, f.TCPURL("watcher", "postgres"))
	if err != nil {
		f.t.Fatal(err)
	}
	open := func(ctx context.Context, database string) (servers.Session, error) {
		return target.Open(ctx, database, 5*time.Second)
	}
	session, err := open(f.t.Context(), "postgres")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { session.Close(f.t.Context()) })
	f.read = &reader{now: time.Now}
	f.line = measure.NewLine(session, open)
}

func (f *full) look() room.State {
	f.t.Helper()
	if _, err := f.read.Activity(f.t.Context(), f.line); err != nil {
		f.t.Fatal(err)
	}
	s, err := f.read.Room(f.t.Context(), f.line, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	return s.Fit()
}

func (f *full) get(into any, query string, args ...any) {
	f.t.Helper()
	if err := f.admin.Get(into, query, args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *full) table(s room.State, name string) room.Table {
	f.t.Helper()
	i := slices.IndexFunc(s.Tables, func(t room.Table) bool { return t.Name == name })
	if i < 0 {
		f.t.Fatalf("no table %s in %+v", name, s.Tables)
	}
	return s.Tables[i]
}

func sequence(t *testing.T, s room.State, name string) room.Sequence {
	t.Helper()
	i := slices.IndexFunc(s.Sequences, func(q room.Sequence) bool { return q.Name == name })
	if i < 0 {
		t.Fatalf("no sequence %s in %+v", name, s.Sequences)
	}
	return s.Sequences[i]
}

// TestRoomOfRealServers holds each figure to the server's own views, read by another role over another
// connection: vacuum stopped, ids moved to 60 % of the distance to wraparound, sequences near their end.
func TestRoomOfRealServers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f := newFull(t, major)
			f.admin.MustExec(`CREATE TABLE orders (id serial PRIMARY KEY, small smallserial, note text) WITH (autovacuum_enabled = off);
				INSERT INTO orders (id, note) SELECT n, repeat('x', 200) FROM generate_series(1, 20000) n;
				SELECT setval('orders_id_seq', 1932735283), setval('orders_small_seq', 20000);
				CREATE SEQUENCE round CYCLE MAXVALUE 10; SELECT setval('round', 9);
				CREATE SEQUENCE secret MAXVALUE 1000; SELECT setval('secret', 990);
				CREATE TABLE small (n int); INSERT INTO small SELECT generate_series(1, 2000)`)
			f.admin.MustExec(`VACUUM small`)
			f.admin.MustExec(`GRANT SELECT ON orders_id_seq, orders_small_seq TO watcher`)
			f.admin.MustExec(`ANALYZE orders`)
			f.admin.MustExec(`UPDATE orders SET note = note || 'y' WHERE id <= 15000`)
			f.admin.MustExec(`DELETE FROM small`)
			f.admin.MustExec(`SELECT pg_stat_clear_snapshot()`)
			var dead int64
			for deadline := time.Now().Add(30 * time.Second); dead < 15000 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				f.get(&dead, `SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'orders'`)
			}
			s := f.look()
			f.compareTables(s, dead)
			f.compareSequences(s)
			f.compareSizes(s)
			f.Stop(t)
			moved := f.Age(t, 1<<31*6/10)
			f.Restart(t)
			if !moved { // the same, by what the ids are compared with
				pgtest.Connect(t, f.Superuser()).MustExec(`UPDATE pg_database SET datfrozenxid = ((4294967296 + datfrozenxid::text::bigint - 1288490188) % 4294967296)::text::xid WHERE datname = 'postgres'`)
			}
			f.connect()
			f.compareAges(f.look())
		})
	}
}

func (f *full) compareTables(s room.State, dead int64) {
	f.t.Helper()
	var want struct {
		Bytes, Main, Live, Mod int64
		Analyzed               time.Time
		Vacuums                int64
	}
	f.get(&want, `SELECT pg_total_relation_size(relid) AS bytes, pg_relation_size(relid) AS main, n_live_tup AS live, n_mod_since_analyze AS mod, last_analyze AS analyzed, vacuum_count + autovacuum_count AS vacuums
		FROM pg_stat_user_tables WHERE relname = 'orders'`)
	got := f.table(s, "public.orders")
	if got.Database != "postgres" || got.Bytes != want.Bytes || *got.Live != want.Live || *got.Dead != dead || *got.Changed != want.Mod || !got.Due || !got.Off ||
		got.Vacuumed != nil || got.Autovacuum != nil || want.Vacuums != 0 || got.Analyzed == nil || got.Analyzed.Sub(want.Analyzed).Abs() > time.Millisecond {
		f.t.Errorf("%+v, not %+v with %d dead rows", got, want, dead)
	}
	if got.Method != room.DeadRowShare || *got.Bloat != want.Main*dead/(want.Live+dead) {
		f.t.Errorf("bloat %d of %d by %s", *got.Bloat, got.Bytes, got.Method)
	}
	if small := f.table(s, "public.small"); small.Vacuumed == nil || small.Autovacuum != nil {
		f.t.Errorf("%+v", small)
	}
}

func (f *full) compareSequences(s room.State) {
	f.t.Helper()
	id, small := sequence(f.t, s, "public.orders_id_seq"), sequence(f.t, s, "public.orders_small_seq")
	var last int64
	f.get(&last, `SELECT last_value FROM pg_sequences WHERE sequencename = 'orders_id_seq'`)
	if id.Last != float64(last) || id.Type != "integer" || id.Column != "public.orders.id" || math.Abs(id.Used-90) > 0.01 || small.Type != "smallint" || math.Abs(small.Used-61.04) > 0.01 {
		f.t.Errorf("%+v, %+v", id, small)
	}
	if len(s.Sequences) != 2 || s.Hidden != 1 || len(s.Denied) != 1 {
		f.t.Errorf("one begins anew and one may not be read: %+v, %d hidden, %q", s.Sequences, s.Hidden, s.Denied)
	}
	f.admin.MustExec(`GRANT SELECT ON SEQUENCE secret TO watcher; ALTER SEQUENCE orders_id_seq AS bigint`)
	s = f.look()
	if q := sequence(f.t, s, "public.secret"); q.Used != 99 || s.Hidden != 0 || s.Denied != nil || s.Sequences[0].Name != "public.secret" {
		f.t.Errorf("%+v, %d hidden", q, s.Hidden)
	}
	if q := sequence(f.t, s, "public.orders_id_seq"); q.Type != "integer" || math.Abs(q.Used-90) > 0.01 {
		f.t.Errorf("the column ends it, not its own type: %+v", q)
	}
}

func (f *full) compareSizes(s room.State) {
	f.t.Helper()
	if s.Databases != 2 || s.Looked != 2 {
		f.t.Errorf("looked into %d of %d", s.Looked, s.Databases)
	}
	var names []string
	if err := f.admin.Select(&names, `SELECT datname FROM pg_database`); err != nil {
		f.t.Fatal(err)
	}
	for _, name := range names {
		var want float64
		f.get(&want, `SELECT pg_database_size($1)`, name)
		i := slices.IndexFunc(s.Sizes, func(x room.Size) bool { return x.Kind == room.Database && x.Name == name })
		if i < 0 || math.Abs(s.Sizes[i].Used-want) > 4<<20 {
			f.t.Errorf("%q: %v in %+v", name, want, s.Sizes)
		}
	}
}

func (f *full) compareAges(s room.State) {
	f.t.Helper()
	admin := pgtest.Connect(f.t, f.Superuser())
	for _, a := range s.Ages {
		var want struct{ X, M, Freeze int64 }
		if err := admin.Get(&want, `SELECT age(datfrozenxid) AS x, mxid_age(datminmxid) AS m, current_setting('autovacuum_freeze_max_age')::bigint AS freeze FROM pg_database WHERE datname = $1`, a.Database); err != nil {
			f.t.Fatal(err)
		}
		if a.Multixacts != want.M || a.FreezeAt != want.Freeze || want.X-a.Transactions > 100 || a.Transactions > want.X {
			f.t.Errorf("%+v, not %+v", a, want)
		}
	}
	if worst := s.Ages[0]; math.Abs(100*worst.Share()-60) > 0.1 {
		f.t.Errorf("%.2f %%", 100*worst.Share())
	}
}

// TestATableThatIsLockedIsLeftOut: it keeps no look waiting, and nobody else either.
func TestATableThatIsLockedIsLeftOut(t *testing.T) {
	t.Parallel()
	f := newFull(t, 0)
	f.admin.MustExec(`CREATE TABLE a (n int); CREATE TABLE b (n int PRIMARY KEY); INSERT INTO b VALUES (1)`)
	tx := f.admin.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`LOCK TABLE a`)
	began := time.Now()
	s := f.look()
	if len(s.Left) != 1 || s.Left[0] != "Tables that were locked against reading at the last look into their database are left out: 1." {
		t.Errorf("%q", s.Left)
	}
	if len(s.Tables) != 1 || s.Tables[0].Name != "public.b" || time.Since(began) > 2*time.Second {
		t.Errorf("%+v after %s", s.Tables, time.Since(began))
	}
}

// TestRoomOfManyDatabasesIsReadInTurn: a look goes into 20 of them, and says of how many tables are known and
// which did not let it in.
func TestRoomOfManyDatabasesIsReadInTurn(t *testing.T) {
	t.Parallel()
	f := newFull(t, 0)
	for n := range 21 {
		f.admin.MustExec(fmt.Sprintf("CREATE DATABASE d%02d", n))
	}
	f.admin.MustExec(`REVOKE CONNECT ON DATABASE d00 FROM PUBLIC`)
	began := time.Now()
	f.read.now = func() time.Time { return began } // so that only the number of databases ends the look
	if s := f.look(); s.Databases != 23 || s.Looked < looksAtOnce-1 || s.Looked > looksAtOnce {
		t.Errorf("looked into %d of %d", s.Looked, s.Databases)
	}
	s := f.look()
	if s.Looked != 22 || len(s.Left) > 1 {
		t.Errorf("looked into %d of %d, left out %q", s.Looked, s.Databases, s.Left)
	}
	said := slices.Concat(s.Left, f.look().Left, f.look().Left) // whenever its turn was
	if !slices.Contains(said, "Muster could not look into database d00 at this look.") {
		t.Errorf("%q", said)
	}
}

// TestALookIntoSlowDatabasesEndsAfterFiveSeconds: sessions wait for it. The other databases follow in the next
// looks.
func TestALookIntoSlowDatabasesEndsAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	f := newFull(t, 0)
	f.admin.MustExec("CREATE DATABASE slow")
	f.admin.MustExec("CREATE DATABASE slower")
	at := time.Now()
	f.read.now = func() time.Time { // each database takes that long
		at = at.Add(visitTime)
		return at
	}
	for looked := 1; looked <= 3; looked++ {
		if s := f.look(); s.Looked != looked {
			t.Fatalf("looked into %d of %d, want %d", s.Looked, s.Databases, looked)
		}
	}
}

// manyTables makes tables in a few statements; a transaction holds a lock of each.
func (f *full) manyTables(n int) {
	f.t.Helper()
	for from := 0; from < n; from += 1000 {
		f.admin.MustExec(`DO $$ BEGIN FOR i IN ` + strconv.Itoa(from) + `..` + strconv.Itoa(min(from+1000, n)-1) + ` LOOP
			EXECUTE format('CREATE TABLE t%s (n int)', i); END LOOP; END $$`)
	}
}

// TestTablesBeyondTheBoundAreReported: a look with more tables than it considers says so, and reads no more.
func TestTablesBeyondTheBoundAreReported(t *testing.T) {
	t.Parallel()
	f := newFull(t, 0)
	f.manyTables(100)
	for most, more := range map[int]bool{10_000: false, 50: true} {
		found, err := lookIn(t.Context(), f.line.Session, "postgres", most)
		if err != nil || found.more != more || len(found.tables) == 0 || len(found.tables) > min(most, room.MaxTables) {
			t.Errorf("of %d: %d tables, more %t, %v", most, len(found.tables), found.more, err)
		}
	}
	want := []string{
		"The server has 1200 databases: the 1000 oldest are considered.", "Muster could not look into database a at this look.",
		"Of the tables of database b and 1 more, 100000 are considered.", "Tables that were locked against reading at the last look into their database are left out: 2.",
	}
	if said := leftOut(1200, []string{"a"}, []string{"b", "c"}, 2); !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	if said := leftOut(1000, nil, nil, 0); said != nil {
		t.Errorf("%q", said)
	}
}

// TestLongAHundredThousandTables: a look names the greatest, and says that there are more than it considers. The log has how
// long it takes.
func TestLongAHundredThousandTables(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFull(t, 0)
	f.manyTables(room.MaxObjects)
	f.admin.MustExec(`INSERT INTO t7 SELECT generate_series(1, 10000)`)
	f.line.SetTimeout(time.Minute) // whatever else the machine does
	began := time.Now()
	s := f.look()
	took := time.Since(began)
	t.Logf("a look at %d tables takes %s", room.MaxObjects, took)
	if len(s.Tables) < room.MaxNamed || s.Tables[0].Name != "public.t7" || !slices.Contains(s.Left, "Of the tables of database postgres, 100000 are considered.") {
		t.Errorf("%d tables after %s, left out %q", len(s.Tables), took, s.Left)
	}
}

// TestFailedJobsOfPgCron are counted where the role may read all of them; else that is said, and no zero is. The extension's
// tables are made by hand, in the form of its documentation: the extension itself is not at hand.
func TestFailedJobsOfPgCron(t *testing.T) {
	t.Parallel()
	f := newFull(t, 0)
	f.admin.MustExec(`CREATE SCHEMA cron;
		CREATE TABLE cron.job (jobid bigint PRIMARY KEY, jobname text, command text, username text DEFAULT current_user);
		CREATE TABLE cron.job_run_details (jobid bigint, runid bigint PRIMARY KEY, job_pid int, database text, username text DEFAULT current_user, command text, status text,
			return_message text, start_time timestamptz, end_time timestamptz);
		ALTER TABLE cron.job ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON cron.job USING (username = current_user);
		ALTER TABLE cron.job_run_details ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON cron.job_run_details USING (username = current_user);
		INSERT INTO cron.job VALUES (1, 'nightly', 'secret'), (2, NULL, 'secret');
		INSERT INTO cron.job_run_details (jobid, runid, status, command, return_message, start_time)
		VALUES (1, 1, 'failed', 'secret', 'secret', now() - interval '25 hours'), (1, 2, 'failed', 'secret', 'secret', now() - interval '2 hours'),
			(2, 3, 'failed', 'secret', 'secret', now() - interval '1 hour'), (1, 4, 'succeeded', '', '', now()), (1, 5, 'running', '', '', NULL);
		GRANT USAGE ON SCHEMA cron TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA cron TO PUBLIC`)
	if s := f.look(); s.Failed != nil || s.Left != nil {
		t.Errorf("tables of somebody's are read as those of the extension: %+v", s)
	}
	f.admin.MustExec(`SET allow_system_table_mods = on;
		INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) VALUES (99999, 'pg_cron', 10, 'cron'::regnamespace, false, '1.6');
		INSERT INTO pg_depend SELECT 'pg_class'::regclass, oid, 0, 'pg_extension'::regclass, 99999, 0, 'e' FROM pg_class WHERE relnamespace = 'cron'::regnamespace AND relkind = 'r'`)
	if s := f.look(); s.Failed != nil || len(s.Left) != 1 || !strings.HasPrefix(s.Left[0], "Runs of jobs of pg_cron could not be read") {
		t.Errorf("the role sees its own jobs alone: %+v", s)
	}
	f.admin.MustExec(`ALTER ROLE watcher BYPASSRLS`)
	f.connect()
	s := f.look()
	if s.Left != nil || s.Failed == nil || *s.Failed != 2 || len(s.Jobs) != 2 || s.Jobs[0].Name != "job 2" || s.Jobs[1].Name != "nightly" ||
		time.Since(s.Jobs[1].At)-2*time.Hour > time.Minute || s.Jobs[0].Why != "" {
		t.Errorf("%+v", s)
	}
	f.admin.MustExec(`ALTER TABLE cron.job RENAME jobname TO title`)
	if s := f.look(); s.Failed != nil || len(s.Left) != 1 || s.Looked != 2 {
		t.Errorf("tables of another form take the database with them: %+v", s)
	}
}
