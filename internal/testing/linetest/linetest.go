package linetest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/rs/zerolog"
)

// Line leads from its address to a process, and can be cut. Any number of goroutines may
// use it.
type Line struct {
	upstream string
	listener net.Listener
	server   *toxiproxy.ApiServer
	proxy    *toxiproxy.Proxy // never started: it has the links and what slows them

	changing sync.Mutex // of delays: one change after another

	mu   sync.Mutex
	cut  bool
	gate chan struct{} // closed: bytes pass
	ends map[*net.TCPConn]struct{}
}

// New returns a line to the process at upstream (host:port), which ends with the test.
// Nobody needs to listen there yet.
func New(t testing.TB, upstream string) *Line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{upstream: upstream, listener: listener, gate: make(chan struct{}), ends: map[*net.TCPConn]struct{}{}}
	close(l.gate)
	zerolog.SetGlobalLevel(zerolog.Disabled) // its toxics know no other logger than the global one
	l.server = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l.proxy = toxiproxy.NewProxy(l.server, t.Name(), l.Addr(), upstream)
	go l.take()
	t.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
	})
	return l
}

// Addr is where the line begins (host:port).
func (l *Line) Addr() string { return l.listener.Addr().String() }

// Cut resets all connections, and whoever connects from now on.
func (l *Line) Cut() { l.set(true, false) }

// HalfOpen lets nothing pass any more and closes nothing; who connects from now on is
// taken and hears nothing.
func (l *Line) HalfOpen() { l.set(false, true) }

// Heal makes the line a good one.
func (l *Line) Heal() { l.slow("", "") }

// Slow has everything arrive later by latency, each way.
func (l *Line) Slow(latency time.Duration) {
	l.slow("latency", fmt.Sprintf(`"latency": %d`, latency.Milliseconds()))
}

// Trickle lets so many bytes pass in a second, in each direction of each connection. From
// 1,000 on it counts in thousands.
func (l *Line) Trickle(bytesPerSecond int) {
	if bytesPerSecond >= 1000 {
		l.slow("bandwidth", fmt.Sprintf(`"rate": %d`, bytesPerSecond/1000))
		return
	}
	l.slow("slicer", fmt.Sprintf(`"average_size": 1, "delay": %d`, time.Second.Microseconds()/int64(max(bytesPerSecond, 1))))
}

// slow puts one kind of delay in the place of those before; "": none.
func (l *Line) slow(kind, attributes string) {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.set(false, false)
	l.proxy.Toxics.ResetToxics(context.Background())
	if kind == "" {
		return
	}
	for _, direction := range []stream.Direction{stream.Upstream, stream.Downstream} {
		toxic := fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": {%s}}`, kind, direction, attributes)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			panic(fmt.Sprintf("toxiproxy does not know %s: %v", toxic, err))
		}
	}
}

// set resets what is joined where the line is cut, and then opens or closes the gate: who
// waited there finds the connection reset.
func (l *Line) set(cut, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for conn := range l.ends {
			reset(conn)
		}
		clear(l.ends)
	}
	closed := l.silent()
	switch {
	case silent && !closed:
		l.gate = make(chan struct{})
	case !silent && closed:
		close(l.gate)
	}
}

// silent says whether the gate is closed. The caller holds the lock.
func (l *Line) silent() bool {
	select {
	case <-l.gate:
		return false
	default:
		return true
	}
}

// pass returns when bytes pass.
func (l *Line) pass() {
	l.mu.Lock()
	gate := l.gate
	l.mu.Unlock()
	<-gate
}

func (l *Line) take() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.join(client.(*net.TCPConn))
	}
}

// join links a connection to the process behind the line.
func (l *Line) join(client *net.TCPConn) {
	if !l.keep(client) {
		return
	}
	l.pass() // no connection is made over a line that says nothing
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.upstream)
	if err != nil {
		l.drop(client)
		return
	}
	upstream := conn.(*net.TCPConn)
	if !l.keep(upstream) {
		l.drop(client)
		return
	}
	name := client.RemoteAddr().String()
	l.proxy.Toxics.StartLink(l.server, name+" there", client, end{upstream, l}, stream.Upstream)
	l.proxy.Toxics.StartLink(l.server, name+" back", upstream, end{client, l}, stream.Downstream)
}

// keep remembers a connection, to reset it; one of a line that is cut it resets at once.
func (l *Line) keep(conn *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		reset(conn)
		return false
	}
	l.ends[conn] = struct{}{}
	return true
}

// drop resets a connection and forgets it.
func (l *Line) drop(conn *net.TCPConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	reset(conn)
	delete(l.ends, conn)
}

// reset closes a connection as a machine does that no longer knows it.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// end is where a link writes to.
type end struct {
	conn *net.TCPConn
	line *Line
}

// Write never fails: see the package's "What may go wrong".
func (e end) Write(p []byte) (int, error) {
	e.line.pass()
	if _, err := e.conn.Write(p); err != nil {
		e.line.drop(e.conn)
	}
	return len(p), nil
}

// Close tells this end that the other one has closed.
func (e end) Close() error {
	e.line.pass()
	e.line.mu.Lock()
	delete(e.line.ends, e.conn)
	e.line.mu.Unlock()
	return e.conn.Close()
}
