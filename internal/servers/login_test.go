package servers

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"muster/domain/fleet"
	"muster/internal/concurrency/pause"
	"muster/internal/testing/linetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestALoginLastsAsLongAsTheServerAnswers: a server that takes nine seconds for each of five
// answers is accepted, and one that is silent for ten is given up, at any answer.
func TestALoginLastsAsLongAsTheServerAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers int           // each after nine seconds
		want    time.Duration // until the login ends by itself
	}{
		"nothing at all": {0, 10 * time.Second},
		"five answers":   {5, 55 * time.Second},
		"for ever":       {20, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer func() { _, _ = ours.Close(), theirs.Close() }()
				began := time.Now()
				l, ctx, end := newLogin(t.Context())
				defer end()
				conn, err := l.hears(ours, nil)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					for range test.answers {
						if pause.For(ctx, 9*time.Second) != nil {
							return
						}
						_, _ = theirs.Write([]byte("S"))
					}
				}()
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				<-ctx.Done()
				if took := time.Since(began); took != test.want || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
					t.Errorf("it ended after %s: %v", took, context.Cause(ctx))
				}
			})
		})
	}
}

// TestLongAServerThatAnswersInNineSeconds lets us in, and answers. It takes a minute and
// almost no CPU.
func TestLongAServerThatAnswersInNineSeconds(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	server := pgtest.Watched(t)
	line := linetest.New(t, server.Addr())
	target, err := new(Reach).Target(fleet.PostgreSQL, "postgres://"+pgtest.Superuser+"@"+line.Addr()+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	line.Slow(4500 * time.Millisecond)
	session, err := target.Open(t.Context(), target.Database, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	line.Slow(4400 * time.Millisecond)
	if row, err := Row(t.Context(), session, 1, "SELECT 1"); err != nil || row[0] != "1" {
		t.Errorf("it answers %v, %v", row, err)
	}
}
