package clickhouse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/postgres/transact"
	"muster/internal/testing/pgtest"
)

// TestMove: blocks of PostgreSQL are moved to two shards. A block that somebody changed there
// is named, and nothing is switched; the next copy repairs it.
func TestMove(t *testing.T) {
	t.Parallel()
	ledger := pgtest.DB(t)
	c := clickhousetest.Shared(t)
	database := c.Database(t)
	to := open(t, c.URL(database), ledger, clickhouse.Limits{})
	organization := uuid.New()
	here := pgstore.New(ledger, quiet()).Here().Store
	add := func(table blocks.Table, kind, subject string, engine fleet.Engine, start time.Time, body []byte) {
		t.Helper()
		if _, err := ledger.ExecContext(t.Context(), `INSERT INTO measured_series (organization_id, kind, subject, engine) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, organization, kind, subject, string(engine)); err != nil {
			t.Fatal(err)
		}
		of := blocks.Series{Organization: organization, Kind: kind, Subject: subject, Engine: engine}
		if err := ledger.GetContext(t.Context(), &of.ID, `SELECT id FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = $3`, organization, kind, subject); err != nil {
			t.Fatal(err)
		}
		err := transact.Once(t.Context(), ledger, nil, func(tx *sqlx.Tx) error {
			return here.Put(t.Context(), tx, table, []blocks.Block{{Series: of, Start: start, Body: body}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 12 {
		add(blocks.Minutes, codec.Hosts, fmt.Sprintf("host-%d", n), "", blockstest.Hour, fmt.Append(nil, "body ", n))
		instance := uuid.UUID{byte(n), 15: 1}.String()
		add(blocks.Raw, codec.Statements, instance, fleet.Oracle, blockstest.Hour, blockstest.Samples(t, blockstest.Hour, 3, 5, fleet.Oracle, 5))
		add(blocks.HourDetails, codec.Statements, instance, fleet.Oracle, blockstest.Hour, blockstest.Detail(t, 5, fleet.Oracle, 6))
	}
	gone := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "gone"} // of a copy before
	put(t, to, blocks.Minutes, blocks.Block{Series: gone, Start: blockstest.Hour, Body: []byte("gone")})
	host := blocks.Series{Organization: organization, Kind: codec.Hosts, Subject: "host-7"}
	put(t, to, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour.Add(time.Hour), Body: []byte("surplus")})

	overtaken(t, ledger)
	store := pgstore.New(ledger, quiet())
	there := placement.Home{Store: to, Place: "muster/d"}
	move := func(tell func(placement.Moving)) error { return store.Move(t.Context(), store.Here(), there, tell) }
	var foreign *placement.ForeignError
	if err := move(func(placement.Moving) {}); !errors.As(err, &foreign) || foreign.Organization != gone.Organization {
		t.Fatalf("to a database that another installation has: %v", err)
	}
	if _, err := ledger.ExecContext(t.Context(), `INSERT INTO deleted_organizations (id, name, deleted_at) VALUES ($1, '', now())`, gone.Organization); err != nil {
		t.Fatal(err)
	}
	place := func() (place string) {
		if err := ledger.GetContext(t.Context(), &place, `SELECT place FROM block_home`); err != nil {
			t.Fatal(err)
		}
		return place
	}
	once := func(step placement.Step, do func()) func(placement.Moving) {
		return func(m placement.Moving) {
			if do != nil && m.Step == step && m.Table == blocks.ClosedDayDetails {
				do()
				do = nil
			}
		}
	}
	err := move(once(placement.Copying, func() {
		put(t, to, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("changed")})
	}))
	var differs *placement.DifferError
	if !errors.As(err, &differs) || differs.Series.Subject != "host-7" || differs.Table != blocks.Minutes || !differs.Start.Equal(blockstest.Hour) || !strings.Contains(err.Error(), organization.String()) {
		t.Fatalf("with a block that somebody changed: %v", err)
	}
	if place() != "" {
		t.Fatal("it was switched all the same")
	}
	err = move(once(placement.Comparing, func() { // somebody compacts meanwhile
		add(blocks.Minutes, codec.Hosts, "host-8", "", blockstest.Hour, []byte("later"))
		add(blocks.Minutes, codec.Hosts, "host-new", "", blockstest.Hour, []byte("new"))
	}))
	if err != nil || place() != "muster/d" {
		t.Fatalf("%v; blocks are in %q", err, place())
	}
	of := func(subject string) blocks.Series {
		return blocks.Series{Organization: organization, Kind: codec.Hosts, Subject: subject}
	}
	all, err := bodiesOf(t.Context(), to, of("host-7"), of("host-8"), of("host-new"), gone)
	if want := "[0 body 7 1 later 2 new]"; err != nil || fmt.Sprint(all) != want {
		t.Errorf("%v, %v, want %s", all, err, want)
	}
	if err := move(nil); err != nil {
		t.Errorf("again: %v", err)
	}
	var moved *placement.MovedError
	if err := store.Move(t.Context(), store.Here(), placement.Home{Store: to, Place: "muster/other"}, nil); !errors.As(err, &moved) {
		t.Errorf("to another place: %v", err)
	}
}

// overtaken returns when what was put before is older than every transaction that may be under way.
// Until then a move counts it among what is put meanwhile. Transactions in the databases of other
// tests, which share the server, count, too.
func overtaken(t *testing.T, ledger *sqlx.DB) {
	t.Helper()
	var last string
	if err := ledger.GetContext(t.Context(), &last, `SELECT pg_current_xact_id()::text`); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; time.Sleep(10 * time.Millisecond) {
		if err := ledger.GetContext(t.Context(), &over, `SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8`, last); err != nil {
			t.Fatal(err)
		}
	}
}
