package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	"muster/internal/testing/pgtest"
)

// bodiesOf are what is read of hosts, and the error.
func bodiesOf(ctx context.Context, s blocks.Store, hosts ...blocks.Series) (all []string, err error) {
	ranges := make([]blocks.Range, len(hosts))
	for i, is := range hosts {
		ranges[i] = blocks.Range{Series: is, From: blockstest.Hour, To: blockstest.Hour.AddDate(0, 0, 1)}
	}
	err = s.Each(ctx, nil, blocks.Minutes, ranges, func(place int, _ time.Time, body []byte) error {
		all = append(all, fmt.Sprint(place, " ", string(body)))
		return nil
	})
	return all, err
}

func isAway(t testing.TB, err error, host string) {
	t.Helper()
	var away *blocks.UnavailableError
	if !errors.As(err, &away) || !strings.Contains(away.Part, host) {
		t.Fatalf("with %s away: %v", host, err)
	}
	if strings.Contains(err.Error(), clickhousetest.Password) {
		t.Fatalf("the password is in %q", err)
	}
}

// spread are hosts of an organization, some of them on each of two shards, and which.
func spread(t testing.TB, s *clickhouse.Store, servers []*clickhousetest.Server, database string) (on [2][]blocks.Series) {
	t.Helper()
	organization := uuid.New()
	for n := range 12 {
		is := blocks.Series{Organization: organization, Kind: codec.Hosts, Subject: fmt.Sprintf("host-%d", n)}
		put(t, s, blocks.Minutes, blocks.Block{Series: is, Start: blockstest.Hour, Body: []byte(is.Subject)})
		for i, server := range servers {
			if server.Number(t, fmt.Sprintf("SELECT count() FROM %s.minutes_local WHERE subject = '%s'", database, is.Subject)) > 0 {
				on[i] = append(on[i], is)
			}
		}
	}
	if len(on[0]) == 0 || len(on[1]) == 0 || len(on[0])+len(on[1]) != 12 {
		t.Fatalf("%d hosts are on one shard, %d on the other", len(on[0]), len(on[1]))
	}
	return on
}

func TestAnUnreachableShard(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 2})
	ledger := pgtest.DB(t)
	limits := clickhouse.Limits{Dial: 3 * time.Second, Read: 5 * time.Second, Put: 10 * time.Second}
	s := open(t, c.URL("muster"), ledger, limits)
	on := spread(t, s, c.Servers, "muster")
	here, away, gone := on[0][0], on[1][0], c.Servers[1]
	if n := c.Servers[0].Number(t, "SELECT count() FROM muster.minutes"); n != 12 {
		t.Fatalf("the table of the whole cluster has %d rows", n)
	}
	for _, broken := range []struct {
		name       string
		leave, end func(testing.TB)
	}{
		{"killed", gone.Kill, gone.Restart},
		{"silent", gone.Pause, gone.Resume},
	} {
		t.Run(broken.name, func(t *testing.T) {
			broken.leave(t)
			if all, err := bodiesOf(t.Context(), s, here); err != nil || len(all) != 1 {
				t.Fatalf("of the other shard: %v, %v", all, err)
			}
			put(t, s, blocks.Minutes, blocks.Block{Series: here, Start: blockstest.Hour, Body: []byte(here.Subject)})
			_, err := bodiesOf(t.Context(), s, away)
			isAway(t, err, gone.Addr())
			begun := time.Now()
			for range 50 { // one has waited, nobody else does
				_, err := bodiesOf(t.Context(), s, away)
				isAway(t, err, gone.Addr())
			}
			if took := time.Since(begun); took > limits.Read {
				t.Fatalf("50 reads took %s to say that it is away", took)
			}
			all, err := bodiesOf(t.Context(), s, away, here)
			isAway(t, err, gone.Addr())
			if !slices.Equal(all, []string{"1 " + here.Subject}) {
				t.Fatalf("of both shards: %v", all)
			}
			isAway(t, s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{{Series: away, Start: blockstest.Hour, Body: []byte("lost")}}), gone.Addr())
			isAway(t, s.DeleteOrganization(t.Context(), uuid.New()), gone.Addr())
			isAway(t, s.Forget(t.Context(), blocks.Minutes, blocks.AnyKind, blockstest.Hour), gone.Addr())
			isAway(t, s.SumStatements(t.Context(), sumsOf(20), func(blocks.Series, codec.Detail) error { return nil }), gone.Addr())
			again := open(t, c.URL("muster"), ledger, limits) // what starts meanwhile
			if all, err := bodiesOf(t.Context(), again, here); err != nil || len(all) != 1 {
				t.Fatalf("of the other shard, after a start: %v, %v", all, err)
			}
			broken.end(t)
			putUntilItIsBack(t, again, blocks.Block{Series: away, Start: blockstest.Hour, Body: []byte("again")})
			putUntilItIsBack(t, s, blocks.Block{Series: here, Start: blockstest.Hour, Body: []byte(here.Subject)}, blocks.Block{Series: away, Start: blockstest.Hour, Body: []byte("again")})
			if all, err := bodiesOf(t.Context(), s, away, here); err != nil || !slices.Equal(all, []string{"0 again", "1 " + here.Subject}) {
				t.Fatalf("when it was back: %v, %v", all, err)
			}
		})
	}
	tilesWhileAway(t, ledger, s, gone)
}

// putUntilItIsBack puts blocks of minutes as often as a server is away.
func putUntilItIsBack(t testing.TB, s *clickhouse.Store, of ...blocks.Block) {
	t.Helper()
	for {
		err := s.Put(t.Context(), nil, blocks.Minutes, of)
		if err == nil {
			return
		}
		if !clickhouse.Unavailable(err) || pause.For(t.Context(), 20*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

// TestAServerThatIsOnlySlow with one statement is there for the next one.
func TestAServerThatIsOnlySlow(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("0")})
	hurried, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := bodiesOf(hurried, s, host); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("without time: %v", err)
	}
	if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 0"}) {
		t.Fatalf("%v, %v", all, err)
	}
}

func sumsOf(n int) (ranges []blocks.StatementRange) {
	for i := range n {
		r := blocks.Range{Series: instance(uuid.UUID{1}, i, fleet.PostgreSQL), From: blockstest.Hour, To: blockstest.Hour.Add(time.Hour)}
		ranges = append(ranges, blocks.StatementRange{Table: blocks.HourDetails, Range: r})
	}
	return ranges
}

func TestAKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 1})
	s := open(t, c.URL("muster"), pgtest.DB(t), clickhouse.Limits{})
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("0")})
	for round := 1; round <= 3; round++ {
		// Puts go on until the server dies under one, which may or may not be kept.
		last, failed := 0, make(chan error)
		begun := make(chan struct{})
		go func() {
			for n := 1; ; n++ {
				err := s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{{Series: host, Start: blockstest.Hour, Body: fmt.Append(nil, round*1000+n)}})
				if err != nil {
					failed <- err
					return
				}
				if last = round*1000 + n; n == 3 {
					close(begun)
				}
			}
		}()
		<-begun
		c.Servers[0].Kill(t)
		isAway(t, <-failed, c.Servers[0].Addr())
		c.Servers[0].Restart(t)
		all, err := bodiesOf(t.Context(), s, host)
		if err != nil || len(all) != 1 || all[0] != fmt.Sprint("0 ", last) && all[0] != fmt.Sprint("0 ", last+1) {
			t.Fatalf("after %d was acknowledged: %v, %v", last, all, err)
		}
		put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("again")})
		if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 again"}) {
			t.Fatalf("after it was put again: %v, %v", all, err)
		}
	}
}

func TestARefusedConnectionIsReported(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	for name, url := range map[string]string{
		"another password": strings.Replace(c.URL("muster"), "let-me%2Fin", "s3cret%2Fword", 1),
		"nobody there":     "clickhouse://default:s3cret%2Fword@127.0.0.1:1/muster",
	} {
		address, err := clickhouse.ParseAddress(url)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		_, err = clickhouse.Open(t.Context(), address, pgtest.DB(t), slog.New(slog.NewTextHandler(&log, nil)), clickhouse.Limits{})
		isAway(t, err, "127.0.0.1:")
		if strings.Contains(err.Error()+log.String(), "s3cret") {
			t.Fatalf("%s: the password is in %q or %q", name, err, log.String())
		}
	}
}
