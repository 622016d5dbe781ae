package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/concurrency/pause"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func TestLongAStoreOnReplicas(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 2, Replicas: 2, ZooKeeper: clickhousetest.ZooKeeper(t)})
	blockstest.Run(t, func(t testing.TB) blockstest.Backend {
		ledger := pgtest.DB(t)
		return blockstest.Backend{Store: open(t, c.URL(c.Database(t)), ledger, clickhouse.Limits{}), Ledger: ledger}
	})
}

func TestLongAnUnreachableReplica(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	zookeeper := clickhousetest.ZooKeeper(t)
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 1, Replicas: 2, ZooKeeper: zookeeper})
	ledger := pgtest.DB(t)
	limits := clickhouse.Limits{Put: 5 * time.Second, Change: 20 * time.Second}
	s := open(t, c.URL("muster"), ledger, limits)
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	for round, gone := range c.Servers {
		// Whichever replica is asked has what was acknowledged.
		for n := range 20 {
			put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: fmt.Append(nil, n)})
			for _, server := range c.Servers {
				if last := server.Number(t, "SELECT toUInt64(argMax(body, revision)) FROM muster.minutes_local"); last != uint64(n) {
					t.Fatalf("%s has %d, and %d was acknowledged", server.Addr(), last, n)
				}
			}
		}
		gone.Kill(t)
		if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 19"}) {
			t.Fatalf("round %d, with a replica away: %v, %v", round, all, err)
		}
		err := s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{{Series: host, Start: blockstest.Hour, Body: []byte("half")}})
		if !clickhouse.Unavailable(err) {
			t.Fatalf("a replica less has what all should have: %v", err)
		}
		if err := s.DeleteOrganization(t.Context(), host.Organization); !clickhouse.Unavailable(err) {
			t.Fatalf("a replica that is away has nothing any more: %v", err)
		}
		gone.Restart(t)
		var again error
		for range 600 { // until ZooKeeper has given up the session that was killed, after 10 s
			if again = s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{{Series: host, Start: blockstest.Hour, Body: []byte("again")}}); again == nil {
				break
			}
			if err := pause.For(t.Context(), 50*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := bodiesOf(t.Context(), s, host); err != nil || again != nil || !slices.Equal(all, []string{"0 again"}) {
			t.Fatalf("when it was back: %v, %v, %v", all, err, again)
		}
	}
	is := instance(host.Organization, 1, fleet.PostgreSQL)
	put(t, s, blocks.HourDetails, blocks.Block{Series: is, Start: blockstest.Hour, Body: blockstest.Detail(t, 5, fleet.PostgreSQL, 1)})
	// A shard deletes when it has a leader: it chooses one when ZooKeeper has given up the
	// session of the killed one, and begins within 10 s of that. The program's limits apply,
	// not the limits of this test.
	if err := open(t, c.URL("muster"), ledger, clickhouse.Limits{}).DeleteOrganization(t.Context(), host.Organization); err != nil {
		t.Fatal(err)
	}
	for _, server := range c.Servers {
		if n := server.Number(t, "SELECT count() FROM muster.minutes_local WHERE present = 1") + server.Number(t, "SELECT count() FROM muster.statement_hours_local WHERE present = 1"); n != 0 {
			t.Errorf("%s still has %d rows", server.Addr(), n)
		}
	}
}

// TestLongAReplicaTakenOut of the cluster blocks no writer, and has all data before it is asked
// again.
func TestLongAReplicaTakenOut(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 1, Replicas: 2, ZooKeeper: clickhousetest.ZooKeeper(t)})
	ledger := pgtest.DB(t)
	stays, gone := c.Servers[0], c.Servers[1]
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	both := open(t, c.URL("muster"), ledger, clickhouse.Limits{})
	put(t, both, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("0")})
	both.Close()
	gone.Kill(t)
	alone := open(t, stays.URL("muster"), ledger, clickhouse.Limits{})
	for n := range 20 {
		put(t, alone, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: fmt.Append(nil, n)})
	}
	gone.Restart(t)
	gone.Exec(t, "SYSTEM STOP FETCHES muster.minutes_local")
	for range 20 {
		put(t, alone, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("last")})
	}
	gone.Exec(t, "SYSTEM START FETCHES muster.minutes_local")
	again := open(t, c.URL("muster"), ledger, clickhouse.Limits{})
	stays.Kill(t)
	if all, err := bodiesOf(t.Context(), again, host); err != nil || !slices.Equal(all, []string{"0 last"}) {
		t.Fatalf("of the one that was taken out: %v, %v", all, err)
	}
}
