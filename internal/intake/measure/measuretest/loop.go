package measuretest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/testing/logtest"
	"muster/internal/watch"
)

// Trouble is a fault of a measured server: its effect, and the line in the log. Over is called
// when it is over.
type Trouble struct {
	Begin, Over func()
	Elsewhere   *servers.Target // its replacement meanwhile
	Reason      string
}

// Loop holds the loop to it that it goes on over trouble, and says so once: it measures a
// server, by the driver that serve has, twenty times a second.
func Loop(t *testing.T, e measure.Engine, to servers.Target, trouble Trouble) {
	t.Helper()
	const every, patience = 50 * time.Millisecond, 3 * time.Second
	e.SessionsEvery, e.StatementsEvery = every, every
	l := &loop{kept: make(chan struct{}, 1), tried: make(chan struct{}, 1)}
	read := e.NewReader
	e.NewReader = func() measure.Reader {
		heard := listened{read(), func() { tell(l.tried) }}
		if apart, can := heard.Reader.(measure.ApartReader); can {
			return &listenedApart{heard, apart}
		}
		return &heard
	}
	l.target.Store(&to)
	one := measure.New(measure.Config{
		Engine: e, Organization: uuid.New(), Instance: uuid.New(), Home: &listening{&Home{To: to}, l}, Gate: measure.NewGate(1),
		Open: func(ctx context.Context, _ servers.Target, database string) (servers.Session, error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return l.target.Load().Open(ctx, database, patience)
		},
		Log: slog.New(slog.NewTextHandler(l, nil)), Now: time.Now,
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { one.Run(ctx) })
	defer running.Wait()
	defer stop()
	l.wait(t, l.kept, 3)
	if trouble.Elsewhere != nil {
		l.target.Store(trouble.Elsewhere)
	}
	trouble.Begin()
	l.wait(t, l.tried, 3) // one may have been under way, one finds that the connection is gone
	l.target.Store(&to)
	trouble.Over()
	l.wait(t, l.kept, 4)
	if said := l.String(); strings.Count(said, "level=WARN") != 1 && trouble.Elsewhere == nil || !strings.Contains(said, trouble.Reason) || strings.Count(said, trouble.Reason) > 1 {
		t.Errorf("want %q once, the log says\n%s", trouble.Reason, said)
	}
}

// loop is what is heard of one.
type loop struct {
	target      atomic.Pointer[servers.Target]
	kept, tried chan struct{}
	logtest.Log
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (l *loop) wait(t *testing.T, c <-chan struct{}, times int) {
	t.Helper()
	for range times {
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatalf("the loop stands still; its log says\n%s", l.String())
		}
	}
}

// listened is a reader that reports each round.
type listened struct {
	measure.Reader
	round func()
}

// listenedApart is listened, of a reader whose statements another one reads.
type listenedApart struct {
	listened
	apart measure.ApartReader
}

func (l *listenedApart) Known() any               { return l.apart.Known() }
func (l *listenedApart) Counts(known any)         { l.apart.Counts(known) }
func (l *listenedApart) Names(last *measure.List) { l.apart.Names(last) }

func (l *listened) Activity(ctx context.Context, line *measure.Line) (*measure.Activity, error) {
	l.round()
	return l.Reader.Activity(ctx, line)
}

// listening is a home that reports each batch with samples of sessions, so that all of a round
// was read.
type listening struct {
	*Home
	loop *loop
}

func (l *listening) told(b measurements.Batch, err error) error {
	if slices.ContainsFunc(b.Reached, func(r measurements.Reached) bool { return r.Part == "" && !r.Up }) {
		tell(l.loop.tried)
	}
	if len(b.Sessions) > 0 && err == nil {
		tell(l.loop.kept)
	}
	return err
}

func (l *listening) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	return l.told(b, l.Home.Record(ctx, b, signs))
}

func (l *listening) Count(ctx context.Context, since *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	return l.told(b, l.Home.Count(ctx, since, now, b, signs))
}
