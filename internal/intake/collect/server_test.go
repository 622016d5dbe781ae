package collect_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
)

// C29. If a name leads to one server and then to another, this is reported: with the time, and
// among the changes.
func TestANameThatLeadsToAnotherServerIsReported(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one, other := pgtest.Cluster(t, pgtest.Options{}), pgtest.Cluster(t, pgtest.Options{})
	name := lead(t)
	name.to.Store(one.Addr())
	instance := s.register(strings.Replace(one.TCPURL(pgtest.Superuser, "postgres"), one.Addr(), name.address, 1))
	moved := func() *time.Time {
		t.Helper()
		all, err := s.store.Servers(t.Context(), s.organization, []uuid.UUID{instance})
		if err != nil {
			t.Fatal(err)
		}
		if all[instance].System == "" {
			t.Fatalf("which server answers is not known: %+v", all)
		}
		return all[instance].MovedAt
	}
	s.assess(instance)
	s.assess(instance)
	if at := moved(); at != nil {
		t.Errorf("nothing changed, and another server answers since %v", at)
	}
	one.Restart(t)
	name.to.Store(one.Addr())
	s.assess(instance)
	if at := moved(); at != nil {
		t.Errorf("the server was started again, and another one answers since %v", at)
	}
	name.to.Store(other.Addr())
	s.assess(instance)
	first := moved()
	if first == nil {
		t.Error("another server answers, and nothing is told")
	}
	if told := s.changed(instance); !strings.Contains(told, "version System identifier: ") {
		t.Errorf("the changes are %q", told)
	}
	name.to.Store(one.Addr())
	s.assess(instance)
	if again := moved(); again == nil || !again.After(*first) {
		t.Errorf("the first one answers again, and that is from %v", again)
	}
}

// leading is a name whose target a test can change.
type leading struct {
	address string
	to      atomic.Value
}

func lead(t *testing.T) *leading {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	l := &leading{address: listener.Addr().String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				server, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.to.Load().(string))
				if err != nil {
					return
				}
				defer func() { _ = server.Close() }()
				go func() {
					_, _ = io.Copy(client, server)
					_ = client.Close()
				}()
				_, _ = io.Copy(server, client)
			}()
		}
	}()
	return l
}
