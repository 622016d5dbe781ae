package listen_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/listen"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

const patience = 30 * time.Second

// scene is a channel with a listener until the test ends.
type scene struct {
	*testing.T
	db    *sqlx.DB
	heard chan string
	lost  chan error
	stop  func() // and waits for the end
}

func listening(t *testing.T, sessions func(s *scene, url string) listen.Sessions) *scene {
	t.Parallel()
	url := pgtest.URL(t)
	s := &scene{T: t, db: pgtest.Connect(t, url), heard: make(chan string, 10), lost: make(chan error, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	s.stop = func() { cancel(); <-ended }
	t.Cleanup(s.stop)
	channel := listen.Channel{
		Name: "Muster's", Sessions: sessions(s, url), Retry: 10 * time.Millisecond,
		Heard: func(payload string) { s.heard <- payload },
		Lost:  func(err error) { s.lost <- err },
	}
	go func() { defer close(ended); channel.Listen(ctx) }()
	s.hears("") // once LISTEN holds
	return s
}

func (s *scene) hears(want string) {
	s.Helper()
	select {
	case got := <-s.heard:
		if got != want {
			s.Fatalf("heard %q, want %q", got, want)
		}
	case <-time.After(patience):
		s.Fatalf("%q was not heard", want)
	}
}

func (s *scene) notify(payload string) {
	s.Helper()
	if _, err := s.db.Exec(`SELECT pg_notify('Muster''s', $1)`, payload); err != nil {
		s.Fatal(err)
	}
}

var bothSessions = map[string]func(s *scene, url string) listen.Sessions{
	"own":    func(_ *scene, url string) listen.Sessions { return listen.Own(url) },
	"pooled": func(s *scene, url string) listen.Sessions { return listen.Pooled(pgtest.Connect(s, url).DB) },
}

// TestABrokenConnectionIsOpenedAgain and nothing is missed: notifications without a listener
// are reported as soon as there is one.
func TestABrokenConnectionIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, sessions := range bothSessions {
		t.Run(name, func(t *testing.T) {
			s := listening(t, sessions)
			s.notify("first")
			s.hears("first")
			var ended int
			err := s.db.Get(&ended, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND query LIKE 'LISTEN %'`)
			if err != nil || ended != 1 {
				t.Fatalf("%d sessions ended: %v", ended, err)
			}
			select {
			case err := <-s.lost:
				if err == nil {
					t.Error("nobody said why")
				}
			case <-time.After(patience):
				t.Fatal("the loss was not told")
			}
			s.hears("") // whatever was announced meanwhile
			s.notify("second")
			s.hears("second")
		})
	}
}

// TestAUsedConnectionListensNoLonger: the connection is not lent to the pool's next user, for whom it would
// gather notifications.
func TestAUsedConnectionListensNoLonger(t *testing.T) {
	t.Parallel()
	for name, sessions := range bothSessions {
		t.Run(name, func(t *testing.T) {
			s := listening(t, sessions)
			s.stop()
			// PostgreSQL sees a moment later that a connection is closed.
			for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				var left int
				err := s.db.Get(&left, `SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND query LIKE 'LISTEN %'`)
				if err == nil && left == 0 {
					break
				}
				if err != nil || time.Since(began) > patience {
					t.Fatalf("%d listen still: %v", left, err)
				}
			}
		})
	}
}

// TestWake: one subject, or all; a channel taken before the change is closed by it.
func TestWake(t *testing.T) {
	t.Parallel()
	w := listen.NewWake()
	closed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	one, other := w.Changed("one"), w.Changed("other")
	w.Raise("one")
	if !closed(one) || closed(other) || closed(w.Changed("one")) {
		t.Error("raising one woke another, or not itself, or for ever")
	}
	one = w.Changed("one")
	w.Raise("")
	if !closed(one) || !closed(other) {
		t.Error("raising all left one asleep")
	}
}
