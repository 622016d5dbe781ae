package collect_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/linetest"
	"muster/internal/testing/pgtest"
)

// slowAnswers delays each answer for so long that no look ends within a test.
const slowAnswers = 3 * time.Second

// atOnce is how many servers of one organization a process looks at at once.
const atOnce = 4

// TestSlowServersDoNotDelayOtherOrganizations: one organization registers six servers
// that answer slowly. The new server of another is assessed at once.
func TestSlowServersDoNotDelayOtherOrganizations(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	line := linetest.New(t, server.Addr())
	hostile := newScene(t)
	var slow []uuid.UUID
	for range 6 {
		slow = append(slow, hostile.register(strings.Replace(server.TCPURL(pgtest.Superuser, "postgres"), server.Addr(), line.Addr(), 1)))
	}
	line.Slow(slowAnswers)
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- hostile.collector.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-running; err != nil {
			t.Error(err)
		}
	}()
	hostile.until("its servers hold slots", func() bool { return hostile.held() == atOnce })

	other := *hostile
	other.organization = uuid.New()
	instance := other.register(server.TCPURL(pgtest.Superuser, "postgres"))
	if err := other.collector.Request(ctx, other.organization, instance); err != nil {
		t.Fatal(err)
	}
	other.until("the server of the other organization is assessed", func() bool { return other.looks(instance) == 1 })
	if n := hostile.held(); n > atOnce {
		t.Errorf("one organization holds %d slots", n)
	}
	for _, one := range slow {
		if hostile.looks(one) > 0 {
			t.Error("a slow look has ended: the test shows nothing")
		}
	}
}

// held is how many servers of the organization are looked at now.
func (s *scene) held() (n int) {
	s.Helper()
	err := s.db.Get(&n, `SELECT count(*) FROM assessment_targets WHERE organization_id = $1 AND leased_until > now()`, s.organization)
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *scene) until(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatal("never: " + what)
		}
	}
}

// TestSilentServersDoNotDelayLightLooksOfOthers: the servers of one organization
// say nothing, and those of another are looked at lightly meanwhile.
func TestSilentServersDoNotDelayLightLooksOfOthers(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var givenUp atomic.Int32 // looks that were given up
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, client)
				givenUp.Add(1)
				_ = client.Close()
			}()
		}
	}()
	hostile := newScene(t)
	for range 3 {
		hostile.register(strings.Replace(server.TCPURL(pgtest.Superuser, "postgres"), server.Addr(), listener.Addr().String(), 1))
	}
	other := *hostile
	other.organization = uuid.New()
	other.register(server.TCPURL(pgtest.Superuser, "postgres"))
	hostile.db.MustExec(`UPDATE assessment_targets SET last_assessed_at = now(), next_assessment_at = now() + interval '1 hour',
		next_light_look_at = CASE WHEN organization_id = $1 THEN now() - interval '1 hour' ELSE now() END`, hostile.organization)
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- hostile.collector.Run(ctx) }()
	other.until("the other's server is looked at lightly", func() (seen bool) {
		if err := other.db.Get(&seen, `SELECT light_look <> '' FROM assessment_targets WHERE organization_id = $1`, other.organization); err != nil {
			t.Fatal(err)
		}
		return seen
	})
	if n := givenUp.Load(); n > 0 {
		t.Errorf("it waited for %d looks at the silent servers", n)
	}
	cancel()
	if err := <-running; err != nil {
		t.Error(err)
	}
}
