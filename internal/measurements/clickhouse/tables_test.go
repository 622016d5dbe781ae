package clickhouse_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func reopen(t testing.TB, url string, ledger *sqlx.DB, log io.Writer) (*clickhouse.Store, error) {
	t.Helper()
	address, err := clickhouse.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := clickhouse.Open(t.Context(), address, ledger, slog.New(slog.NewTextHandler(log, nil)), clickhouse.Limits{})
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func TestALateWriteChangesNothing(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	first, err := s.Begin(t.Context(), blocks.Minutes, []blocks.Block{{Series: host, Start: blockstest.Hour, Body: []byte("first")}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("second")})
	taken, err := s.Begin(t.Context(), blocks.Minutes, []blocks.Block{{Series: host, Start: blockstest.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("third")})
	for range 2 { // twice: it was delivered again
		if err := errors.Join(taken(), first()); err != nil {
			t.Fatal(err)
		}
		if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 third"}) {
			t.Fatalf("%v, %v", all, err)
		}
	}
}

func TestProcessesThatStartTogetherMakeTheTables(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	database, ledger := c.Database(t), pgtest.DB(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := reopen(t, c.URL(database), ledger, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, server := range c.Servers {
		if n := server.Number(t, "SELECT count() FROM "+database+".muster_migrations"); n != 2 {
			t.Errorf("the two migrations were applied %d times", n)
		}
	}
}

func TestAlteredTablesAreNamed(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	ledger := pgtest.DB(t)
	const like = " ENGINE = MergeTree PARTITION BY toMonday(start) ORDER BY (organization, kind, subject, start)"
	for change, reason := range map[string]string{
		"DROP TABLE %s.minutes_local":                                                                  "is not there",
		"ALTER TABLE %s.statement_hours_local DROP COLUMN most":                                        "has no column most",
		"ALTER TABLE %s.raw_local MODIFY COLUMN engine FixedString(16)":                                "engine that is FixedString(16), not String",
		"DROP TABLE %[1]s.minutes_local; CREATE TABLE %[1]s.minutes_local AS %[1]s.hours_local" + like: "is a MergeTree, not a ReplacingMergeTree",
		"INSERT INTO %s.muster_migrations SELECT 9, placed, now() FROM %[1]s.muster_migrations":        "this Muster knows 2",
		"INSERT INTO %s.muster_migrations SELECT 1, 'shard 2 of weights 1,1,1', now()":                 "was shard 2 of weights 1,1,1 and is shard 1 of weights 1,1",
	} {
		database := c.Database(t)
		open(t, c.URL(database), ledger, clickhouse.Limits{}).Close()
		for one := range strings.SplitSeq(fmt.Sprintf(change, database), "; ") {
			c.Servers[0].Exec(t, one)
		}
		_, err := reopen(t, c.URL(database), ledger, io.Discard)
		var table *clickhouse.TableError
		var cluster *clickhouse.ClusterError
		if !errors.As(err, &table) && !errors.As(err, &cluster) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), c.Servers[0].Addr()) {
			t.Errorf("after %q: %v", change, err)
		}
		if table != nil && !strings.Contains(table.Table, database+".") {
			t.Errorf("the table is called %s", table.Table)
		}
	}
	_, err := reopen(t, strings.Replace(c.URL("muster"), "cluster=muster", "cluster=another", 1), ledger, io.Discard)
	var cluster *clickhouse.ClusterError
	if !errors.As(err, &cluster) || cluster.Cluster != "another" {
		t.Errorf("of a cluster that is not there: %v", err)
	}
}

// TestActivityMovesToTablesOfItsOwn where it was put before there were any.
func TestActivityMovesToTablesOfItsOwn(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	database, ledger := c.Database(t), pgtest.DB(t)
	s := open(t, c.URL(database), ledger, clickhouse.Limits{})
	organization := uuid.New()
	sessions := func(kind string) blocks.Series {
		return blocks.Series{Organization: organization, Kind: kind, Subject: uuid.UUID{5}.String(), Engine: fleet.PostgreSQL}
	}
	for _, kind := range []string{codec.Activity, codec.Sessions} {
		put(t, s, blocks.Minutes, blocks.Block{Series: sessions(kind), Start: blockstest.Hour, Body: []byte(kind)})
	}
	s.Close()
	for _, server := range c.Servers {
		server.Exec(t, fmt.Sprintf("INSERT INTO %[1]s.minutes_local SELECT * FROM %[1]s.activity_minutes_local", database))
		for _, name := range []string{"activity_minutes", "activity_hours", "activity_days"} {
			server.Exec(t, fmt.Sprintf("DROP TABLE %s.%s_local", database, name))
			server.Exec(t, fmt.Sprintf("DROP TABLE %s.%s", database, name))
		}
		server.Exec(t, fmt.Sprintf("CREATE TABLE %[1]s.before AS %[1]s.muster_migrations ENGINE = Memory", database))
		server.Exec(t, fmt.Sprintf("INSERT INTO %[1]s.before SELECT * FROM %[1]s.muster_migrations WHERE number = 1", database))
		server.Exec(t, fmt.Sprintf("TRUNCATE TABLE %s.muster_migrations", database))
		server.Exec(t, fmt.Sprintf("INSERT INTO %[1]s.muster_migrations SELECT * FROM %[1]s.before", database))
	}
	again := open(t, c.URL(database), ledger, clickhouse.Limits{})
	for _, kind := range []string{codec.Activity, codec.Sessions} {
		if all, err := bodiesOf(t.Context(), again, sessions(kind)); err != nil || !slices.Equal(all, []string{"0 " + kind}) {
			t.Errorf("%s: %v, %v", kind, all, err)
		}
	}
	if err := again.Forget(t.Context(), blocks.Minutes, codec.Activity, blockstest.Hour.AddDate(0, 0, 2)); err != nil {
		t.Fatal(err)
	}
	if all, err := bodiesOf(t.Context(), again, sessions(codec.Activity), sessions(codec.Sessions)); err != nil || !slices.Equal(all, []string{"1 " + codec.Sessions}) {
		t.Errorf("%v, %v", all, err)
	}
	for _, server := range c.Servers {
		for range 200 { // ClickHouse deletes behind
			if server.Number(t, fmt.Sprintf("SELECT count() FROM %s.minutes_local WHERE kind = 'activity'", database)) == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n := server.Number(t, fmt.Sprintf("SELECT count() FROM %s.minutes_local WHERE kind = 'activity'", database)); n != 0 {
			t.Errorf("%d rows are left where they were on %s", n, server.Addr())
		}
	}
}

func TestARestoredLedgerContinuesAboveItsBlocks(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	database, ledger := c.Database(t), pgtest.DB(t)
	s := open(t, c.URL(database), ledger, clickhouse.Limits{})
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "it's a host"}
	statements := instance(host.Organization, 1, fleet.SQLServer)
	// The clock that gave out revisions was an hour ahead.
	if _, err := ledger.Exec("UPDATE block_revisions SET last = (extract(epoch FROM now()) + 3600) * 1000000"); err != nil {
		t.Fatal(err)
	}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("before")})
	put(t, s, blocks.HourDetails, blocks.Block{Series: statements, Start: blockstest.Hour, Body: blockstest.Detail(t, 1, fleet.SQLServer, 1)})
	put(t, s, blocks.Days, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("before")})
	if _, err := ledger.Exec("UPDATE block_revisions SET last = 0"); err != nil { // as in a backup
		t.Fatal(err)
	}
	var log strings.Builder
	again, err := reopen(t, c.URL(database), ledger, &log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "restored from a backup") {
		t.Errorf("the log says %q", log.String())
	}
	put(t, again, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("after")})
	if all, err := bodiesOf(t.Context(), again, host); err != nil || !slices.Equal(all, []string{"0 after"}) {
		t.Fatalf("%v, %v", all, err)
	}
	var series []blocks.Series
	if err := again.Series(t.Context(), func(one blocks.Series) error {
		series = append(series, one)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(series) != 2 || !slices.Contains(series, host) || !slices.Contains(series, statements) {
		t.Fatalf("the series in ClickHouse are %v", series)
	}
}

func TestForgettingDropsPartitionsOfEveryShard(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	database := c.Database(t)
	s := open(t, c.URL(database), pgtest.DB(t), clickhouse.Limits{})
	var list []blocks.Block
	for n := range 8 {
		for day := range 20 {
			start := blockstest.Hour.AddDate(0, 0, day)
			list = append(list, blocks.Block{Series: instance(uuid.UUID{1}, n, fleet.PostgreSQL), Start: start, Body: blockstest.Samples(t, start, 1, 1, fleet.PostgreSQL, 1)})
		}
	}
	put(t, s, blocks.Raw, list...)
	if err := s.Forget(t.Context(), blocks.Raw, blocks.AnyKind, blockstest.Hour.AddDate(0, 0, 12).Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	rows := uint64(0)
	for _, server := range c.Servers {
		if n := server.Number(t, "SELECT uniqExact(partition) FROM system.parts WHERE active AND database = '"+database+"' AND table = 'statement_samples_local'"); n != 8 {
			t.Errorf("%d days are left on %s", n, server.Addr())
		}
		rows += server.Number(t, "SELECT count() FROM "+database+".statement_samples_local")
	}
	if rows != 8*8 {
		t.Errorf("%d blocks are left", rows)
	}
}

func TestLongAMillionStatementsInAnHour(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	is := instance(uuid.New(), 1, fleet.PostgreSQL)
	const statements = 1_000_000
	put(t, s, blocks.HourDetails, blocks.Block{Series: is, Start: blockstest.Hour, Body: blockstest.Detail(t, statements, fleet.PostgreSQL, 1)})
	put(t, s, blocks.Raw, blocks.Block{Series: is, Start: blockstest.Hour, Body: blockstest.Samples(t, blockstest.Hour, 1, statements, fleet.PostgreSQL, 1)})
	span := blocks.Range{Series: is, From: blockstest.Hour, To: blockstest.Hour.Add(time.Hour)}
	sameSums(t, s, []blocks.StatementRange{{Table: blocks.Raw, Range: span}, {Table: blocks.HourDetails, Range: span}})
}
