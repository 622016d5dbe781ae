package monitor

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/intake/measure/measuretest"
)

// wire is a network between us and a server, which can be cut.
type wire struct {
	address string
	server  string // its host and port

	mu   sync.Mutex
	cut  string // the text we send that cuts it, before it is passed on; empty: none
	open []net.Conn
}

func newWire(t *testing.T, server string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: l.Addr().String(), server: server}
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.open {
			_ = c.Close()
		}
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(client)
		}
	}()
	return w
}

func (w *wire) cutAt(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = text
}

func (w *wire) cuts(sent []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut != "" && bytes.Contains(sent, []byte(w.cut))
}

func (w *wire) carry(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	w.mu.Lock()
	w.open = append(w.open, client, server)
	w.mu.Unlock()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	sent := make([]byte, 64<<10)
	for {
		n, err := client.Read(sent)
		if err != nil || w.cuts(sent[:n]) {
			return
		}
		if _, err := server.Write(sent[:n]); err != nil {
			return
		}
	}
}

// aConnectionIsCut at any of our queries: the rows read until then are stored, and the next
// round has a new connection.
func aConnectionIsCut(t *testing.T, w *measuretest.Watched) {
	s := newScene(t)
	line := newWire(t, w.Addr())
	one := s.measure(s.register(strings.Replace(w.DSN, w.Addr(), line.address, 1)))
	if r := s.round(one); r.err != nil {
		t.Fatal(r.err)
	}
	for _, query := range []string{"pg_database d", "mxid_age", "'waitstart'", "pg_locks", "pg_postmaster_start_time", "pg_stat_statements(false)"} {
		line.cutAt(query)
		if r := s.round(one); r.err == nil || len(r.batch.Statements) > 0 {
			t.Errorf("cut at %s: %v, %d samples of statements", query, r.err, len(r.batch.Statements))
		}
		line.cutAt("")
		if r := s.round(one); r.err != nil || len(r.batch.Sessions) != 3 || len(r.batch.Statements) != 3 {
			t.Errorf("after it was cut at %s: %v, %d samples of sessions, %d of statements", query, r.err, len(r.batch.Sessions), len(r.batch.Statements))
		}
	}
	partsOfStatementsAreCut(t, w, s, line, one)
}

// partsOfStatementsAreCut: the other counters are stored without the cut part, and a server
// that cannot return texts is not asked for a while.
func partsOfStatementsAreCut(t *testing.T, w *measuretest.Watched, s *scene, line *wire, one *server) {
	line.cutAt("active_time")
	if r := s.round(one); w.Major >= 14 && (r.err == nil || len(r.batch.Statements) != 3 || r.busy("app") != nil) {
		t.Errorf("cut at the active time: %v, %d samples of statements", r.err, len(r.batch.Statements))
	}
	line.cutAt("")
	s.round(one)
	s.texts.set(true)
	s.round(one)
	told := func(where string, want int) {
		t.Helper()
		w.Run(t, "app", 2, `SELECT 'cut' AS cut`)
		r := s.round(one)
		if calls, _, ok := r.statements("app"); (r.err == nil) != (where != "cut") || !ok || calls != 2 || len(r.texts("app")) != want {
			t.Errorf("%s: %v, %d calls (%t), texts %q", where, r.err, calls, ok, r.texts("app"))
		}
	}
	line.cutAt("pg_stat_statements(true)")
	told("cut", 0)
	line.cutAt("")
	told("left alone", 0)
	s.clock.Advance(10*time.Minute - 2*time.Minute)
	told("asked again", 1)
}
