package tnstest

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
)

// Options are what a listener does with a connection; without any it lets everybody in.
type Options struct {
	TLS      *tls.Config
	Refuse   int    // the number that the listener refuses with
	Redirect string // a connect address that clients are sent on to, as Address gives it
	Silent   bool   // it takes connections and says nothing
	Mute     bool   // it accepts, and says nothing after that
	Reset    bool   // it resets a connection once something came
	Banner   []byte // it speaks another protocol: this is what it says
	Services int    // the number that the server refuses the client's encryption and checksums with
	Login    int    // the number that the server refuses a login with
	Settings int    // the number that every ALTER SESSION is refused with
	Package  int    // the number that every PL/SQL block is refused with
}

// Fault is how an answer ends that does not end as it should.
type Fault int

// The faults.
const (
	None     Fault = iota
	Stall          // nothing more comes until the client interrupts
	Deaf           // nothing more comes
	Cut            // the connection is gone
	Nonsense       // a message of no known kind
)

// Answer is what a query is answered with.
type Answer struct {
	Columns int
	Numbers []int      // the columns that are numbers, from 0 on; the others are texts
	Rows    [][]string // an empty text is NULL, as Oracle has it
	Error   int        // a number, after the rows
	Then    Fault      // after the rows
}

// Listener is a running one.
type Listener struct {
	Options
	t        testing.TB
	listener net.Listener
	served   sync.WaitGroup

	mu         sync.Mutex
	conns      map[net.Conn]bool
	answers    map[string]Answer
	asked      []string
	heard      []byte
	came       int
	interrupts int
}

// Start runs a listener until the test ends.
func Start(t testing.TB, o Options) *Listener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Listener{Options: o, t: t, listener: listener, conns: make(map[net.Conn]bool), answers: make(map[string]Answer)}
	l.served.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.CutAll()
		l.served.Wait()
	})
	return l
}

// Port is the port it listens on.
func (l *Listener) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }

// Address is its address, in the form in which a listener redirects a client there. Protocol is
// tcp or tcps.
func (l *Listener) Address(protocol string) string { return Address(protocol, "127.0.0.1", l.Port()) }

// Address is an address as a listener names one.
func Address(protocol, host string, port int) string {
	return "(ADDRESS=(PROTOCOL=" + protocol + ")(HOST=" + host + ")(PORT=" + strconv.Itoa(port) + "))"
}

// DSN leads to the listener; parameters are like "sslmode=require".
func (l *Listener) DSN(parameters string) string {
	u := url.URL{
		Scheme: "oracle", User: url.UserPassword("C##WATCHER", "s3cr?t#/😀"), Path: "/orders.example.com",
		Host: "127.0.0.1:" + strconv.Itoa(l.Port()), RawQuery: parameters,
	}
	return u.String()
}

// Answer gives what a query is answered with from now on.
func (l *Listener) Answer(query string, a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[FirstLine(query)] = a
}

// Asked are the statements that came, whole.
func (l *Listener) Asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.asked...)
}

// Heard is all that clients sent, as it came, without TLS.
func (l *Listener) Heard() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]byte(nil), l.heard...)
}

// Came is how many connections came.
func (l *Listener) Came() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.came
}

// Interrupts is how often a client interrupted a statement.
func (l *Listener) Interrupts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.interrupts
}

// CutAll cuts every connection.
func (l *Listener) CutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		_ = conn.Close()
	}
}

func (l *Listener) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		l.conns[conn] = true
		l.came++
		l.mu.Unlock()
		l.served.Go(func() {
			if err := l.serve(conn); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				l.t.Log("a connection to the stub of Oracle ended: ", err)
			}
			l.mu.Lock()
			delete(l.conns, conn)
			l.mu.Unlock()
			_ = conn.Close()
		})
	}
}

func (l *Listener) serve(conn net.Conn) error {
	switch {
	case l.Silent:
		_, err := io.Copy(io.Discard, conn)
		return err
	case l.Reset:
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
		return conn.(*net.TCPConn).SetLinger(0) // what is closed now is reset
	case l.Banner != nil:
		if _, err := conn.Write(l.Banner); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, conn)
		return err
	case l.TLS != nil:
		conn = tls.Server(conn, l.TLS)
	}
	conn = &overheard{Conn: conn, by: l}
	if kind, _, err := receive(conn); err != nil || kind != connect {
		return err
	}
	switch {
	case l.Refuse != 0:
		return send(conn, refuse, refusal(l.Refuse))
	case l.Redirect != "":
		return send(conn, redirect, sized([]byte(l.Redirect)))
	}
	if err := send(conn, accept, acceptance(l.Services != 0)); err != nil {
		return err
	}
	if l.Services != 0 {
		if _, _, err := receive(conn); err != nil {
			return err
		}
		return sendData(conn, servicesRefused(l.Services))
	}
	if l.Mute {
		_, err := io.Copy(io.Discard, conn)
		return err
	}
	return (&session{Listener: l, conn: conn}).serve()
}

// overheard keeps what is read of a connection.
type overheard struct {
	net.Conn
	by *Listener
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	o.by.mu.Lock()
	defer o.by.mu.Unlock()
	o.by.heard = append(o.by.heard, p[:n]...)
	return n, err
}
