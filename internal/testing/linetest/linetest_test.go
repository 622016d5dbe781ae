package linetest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/testing/linetest"
)

// patience is how long something that is to come may take, silence how long it is waited
// for something that is not to come.
const (
	patience = 30 * time.Second
	silence  = 100 * time.Millisecond
)

// echo is a server that says what it hears.
func echo(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// call is a connection over a line.
type call struct {
	*testing.T
	net.Conn
}

func dial(t *testing.T, l *linetest.Line) call {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return call{t, conn}
}

func (c call) say(text string) {
	c.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		c.Fatal(err)
	}
}

// hears waits for the text to come back.
func (c call) hears(text string) {
	c.Helper()
	got := make([]byte, len(text))
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		c.Fatalf("heard %q, %v, want %q", got, err, text)
	}
}

// ends returns how the connection ends; nil: it does not, and says nothing.
func (c call) ends(within time.Duration) error {
	c.Helper()
	_ = c.SetReadDeadline(time.Now().Add(within))
	n, err := c.Read(make([]byte, 1))
	if n > 0 {
		c.Fatal("something passed")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// TestACutResets what is joined and whoever comes, until the line is healed.
func TestACutResets(t *testing.T) {
	t.Parallel()
	l := linetest.New(t, echo(t))
	before := dial(t, l)
	before.say("one")
	before.hears("one")
	l.Cut()
	if err := before.ends(patience); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("who connected before the cut ends with %v", err)
	}
	conn, err := net.Dial("tcp", l.Addr())
	if err == nil { // else it was reset before the dial returned
		err = call{t, conn}.ends(patience)
		_ = conn.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("who connected after the cut ends with %v", err)
	}
	l.Heal()
	after := dial(t, l)
	after.say("two")
	after.hears("two")
}

// TestNothingPassesAHalfOpenLine, neither bytes nor the end of the other side, and it
// comes when the line is healed.
func TestNothingPassesAHalfOpenLine(t *testing.T) {
	t.Parallel()
	l := linetest.New(t, echo(t))
	before := dial(t, l)
	before.say("one")
	before.hears("one")
	l.HalfOpen()
	after := dial(t, l)
	for name, c := range map[string]call{"before": before, "after": after} {
		c.say(name)
		if err := c.ends(silence); err != nil {
			t.Errorf("who connected %s ends with %v", name, err)
		}
	}
	l.Heal()
	before.hears("before")
	after.hears("after")

	l.HalfOpen()
	before.say("held")
	l.Cut() // and nobody waits behind the gate for ever
	if err := before.ends(patience); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("cut while half open, it ends with %v", err)
	}
	l.Slow(0)
	l.Heal()
}

// TestTheEndDoesNotPassAHalfOpenLine: a server behind it does not hear that its client
// has left.
func TestTheEndDoesNotPassAHalfOpenLine(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	l := linetest.New(t, server.Addr().String())
	client := dial(t, l)
	accepted, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	l.HalfOpen()
	_ = client.Close()
	if err := (call{t, accepted}).ends(silence); err != nil {
		t.Errorf("it ends with %v", err)
	}
	l.Heal()
	if err := (call{t, accepted}).ends(patience); !errors.Is(err, io.EOF) {
		t.Errorf("healed, it ends with %v", err)
	}
}

// TestALineIsSlow: by its latency each way, and by its rate.
func TestALineIsSlow(t *testing.T) {
	t.Parallel()
	l := linetest.New(t, echo(t))
	c := dial(t, l)
	round := func(text string) time.Duration {
		began := time.Now()
		c.say(text)
		c.hears(text)
		return time.Since(began)
	}
	l.Slow(50 * time.Millisecond)
	if took := round("one"); took < 100*time.Millisecond {
		t.Errorf("slow by 50 ms each way, it took %s", took)
	}
	l.Trickle(100)
	if took := round(strings.Repeat("x", 11)); took < 100*time.Millisecond { // the first passes at once
		t.Errorf("11 bytes at 100 a second took %s", took)
	}
	l.Trickle(100_000)
	if took := round(strings.Repeat("x", 20_000)); took < 200*time.Millisecond {
		t.Errorf("20,000 bytes at 100,000 a second took %s", took)
	}
	l.Heal()
	if took := round("two"); took > patience {
		t.Errorf("healed, it took %s", took)
	}
}
