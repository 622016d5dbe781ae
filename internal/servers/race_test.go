package servers

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/domain/fleet"
)

// TestTheFirstAddressThatAnswersWins: an address that swallows packets costs a quarter of a second, one that refuses
// nothing, and the connections that were late are closed.
func TestTheFirstAddressThatAnswersWins(t *testing.T) {
	t.Parallel()
	type behavior struct {
		after time.Duration // 0: it swallows packets
		err   error
	}
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	answers, swallows, refuses := behavior{after: 10 * time.Millisecond}, behavior{}, behavior{time.Millisecond, refused}
	for name, test := range map[string]struct {
		addresses []behavior
		took      time.Duration
		err       error
	}{
		"one":                     {[]behavior{answers}, 10 * time.Millisecond, nil},
		"the first of two":        {[]behavior{answers, answers}, 10 * time.Millisecond, nil},
		"the second of two":       {[]behavior{swallows, answers}, 260 * time.Millisecond, nil},
		"the fourth":              {[]behavior{swallows, swallows, swallows, answers}, 760 * time.Millisecond, nil},
		"one that is slow":        {[]behavior{{after: 400 * time.Millisecond}, {after: time.Second}}, 400 * time.Millisecond, nil},
		"after one that refuses":  {[]behavior{refuses, answers}, 11 * time.Millisecond, nil},
		"beside one that refuses": {[]behavior{swallows, refuses, answers}, 261 * time.Millisecond, nil},
		"none":                    {[]behavior{refuses, {time.Second, errors.New("no route")}}, 1001 * time.Millisecond, refused},
		"none in time":            {[]behavior{swallows, refuses}, 10 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int32
				addresses := make([]string, len(test.addresses))
				for n := range addresses {
					addresses[n] = strconv.Itoa(n)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				begun := time.Now()
				conn, err := race(ctx, addresses, func(ctx context.Context, address string) (net.Conn, error) {
					n, _ := strconv.Atoi(address)
					b := test.addresses[n]
					if b.after == 0 {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					time.Sleep(b.after) // also of one that answers although it is no longer needed
					if b.err != nil {
						return nil, b.err
					}
					open.Add(1)
					return &counted{open: &open}, nil
				})
				if took := time.Since(begun); took != test.took || !errors.Is(err, test.err) {
					t.Errorf("took %s, want %s: %v", took, test.took, err)
				}
				time.Sleep(2 * time.Second)
				if want := map[bool]int32{true: 1, false: 0}[conn != nil]; open.Load() != want {
					t.Errorf("%d connections are open, want %d", open.Load(), want)
				}
			})
		})
	}
}

// counted is a connection that says whether it was closed.
type counted struct {
	net.Conn
	open *atomic.Int32
}

func (c *counted) Close() error {
	c.open.Add(-1)
	return nil
}

// TestAListenerInTwoSubnets is reached by every engine although its first address is not there.
func TestAListenerInTwoSubnets(t *testing.T) {
	t.Parallel()
	var there door
	port := strconv.Itoa(there.at(t, "tcp", "127.0.0.2:0").(*net.TCPAddr).Port)
	reach := &Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("127.0.0.2")}, nil
	}}
	for engine, dsn := range map[fleet.Engine]string{
		fleet.PostgreSQL: "postgres://u:p@listener.example:" + port + "/d?sslmode=disable",
		fleet.SQLServer:  "sqlserver://u:p@listener.example:" + port,
		fleet.Oracle:     "oracle://u:p@listener.example:" + port + "/d",
	} {
		before := there.knocks.Load()
		target, err := reach.Target(engine, dsn)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := target.Open(t.Context(), target.Database, StatementTimeout); err == nil || s != nil {
			t.Error("it is only a door")
		}
		if there.knocks.Load() == before {
			t.Errorf("%s: nobody knocked at the second address", engine)
		}
	}
}
