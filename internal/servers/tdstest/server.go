package tdstest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Options are what a server is like.
type Options struct {
	User, Password string   // empty: "watcher", and a password that is hard to write in a URL
	Databases      []string // that a login may open beside the default one
	Default        string   // where a login without a database lands; empty: "master"
	TLS            *tls.Config
	Strict         bool         // TLS comes before the protocol (TDS 8.0)
	Refuse         *Error       // of every login
	RouteTo        *net.TCPAddr // where a client that signs in is sent
	Banner         string       // it speaks another protocol, and this is its first word
	Silent         bool         // it takes connections and says nothing
	Token          string       // that a login is accepted by; empty: by its user and password
	OldNTLM        bool         // it does not speak NTLMv2
}

// Query is a received query.
type Query struct {
	Text     string
	Database string // of the session
	Nested   bool   // it came by sp_executesql, which restores what is set within
}

// FirstLine is what a query is known by.
func FirstLine(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	return strings.TrimSpace(line)
}

// Fault is how an answer ends that does not end as it should.
type Fault int

// The faults.
const (
	None     Fault = iota
	Stall          // nothing more comes, until the client says that it does not want it
	Deaf           // nothing more comes, whatever the client says
	Cut            // the connection is gone
	Nonsense       // bytes that are of no protocol
)

// Answer is what the server does about a query.
type Answer struct {
	Columns []string // their names, and how many there are where there is no row
	Rows    [][]any
	Error   *Error // after the rows
	Then    Fault  // after the rows
}

// Server is a running one.
type Server struct {
	Options
	t        testing.TB
	listener net.Listener
	served   sync.WaitGroup

	mu         sync.Mutex
	answers    map[string]func(Query) Answer
	conns      map[net.Conn]bool
	logins     []Login
	queries    []Query
	settings   []string
	attentions int
	wire       []byte // what clients sent, as it crossed the network
}

// Start runs a server until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.User == "" {
		o.User, o.Password = "watcher", "s3cr?t#/😀"
	}
	if o.Default == "" {
		o.Default = "master"
	}
	o.Databases = append(o.Databases, o.Default)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Options: o, t: t, listener: listener, answers: make(map[string]func(Query) Answer), conns: make(map[net.Conn]bool)}
	s.served.Go(s.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		s.CutAll()
		s.served.Wait()
	})
	return s
}

// Address is host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Addr is Address for who sends clients here.
func (s *Server) Addr() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) }

// DSN leads to the server; parameters are like "encrypt=disable&database=app".
func (s *Server) DSN(parameters string) string {
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword(s.User, s.Password), Host: s.Address(), RawQuery: parameters}
	return u.String()
}

// Answer gives the rows for a query, from now on.
func (s *Server) Answer(query string, a Answer) {
	s.AnswerBy(query, func(Query) Answer { return a })
}

// AnswerBy is Answer for an answer that depends on more than the first line.
func (s *Server) AnswerBy(query string, by func(Query) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[FirstLine(query)] = by
}

// CutAll cuts every connection.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close()
	}
}

// Logins are those that came, refused ones too.
func (s *Server) Logins() []Login { return shared(s, &s.logins) }

// Queries are those that came, without settings.
func (s *Server) Queries() []Query { return shared(s, &s.queries) }

// Settings are the lines of SET that statements began with.
func (s *Server) Settings() []string { return shared(s, &s.settings) }

// Attentions is how many came and were confirmed.
func (s *Server) Attentions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attentions
}

func shared[T any](s *Server, of *[]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]T(nil), *of...)
}

func keep[T any](s *Server, in *[]T, one T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*in = append(*in, one)
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.served.Go(func() {
			if err := s.serve(conn); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.t.Log("a connection to the stub of SQL Server ended: ", err)
			}
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
			_ = conn.Close()
		})
	}
}

func (s *Server) serve(conn net.Conn) error {
	switch {
	case s.Silent:
		_, err := io.Copy(io.Discard, conn)
		return err
	case s.Banner != "":
		_, err := io.WriteString(conn, s.Banner)
		return err
	}
	raw := &overheard{Conn: conn, by: s}
	conn, loginOnly, err := s.greet(raw)
	if err != nil {
		return err
	}
	m, err := readMessage(conn)
	if err != nil {
		return err
	}
	if m.kind != packetLogin {
		return errors.New("what came first was no login")
	}
	if loginOnly {
		conn = raw
	}
	login, err := parseLogin(m.body)
	if err != nil {
		return err
	}
	if len(login.negotiate) > 0 {
		if err := s.challenge(conn, &login); err != nil {
			return err
		}
	}
	keep(s, &s.logins, login)
	r := &reply{w: conn}
	refusals := s.judge(login)
	for _, e := range refusals {
		r.add(e.token())
	}
	if len(refusals) > 0 {
		r.add(done(doneError, 0))
		return r.flush(true)
	}
	if login.Database == "" {
		login.Database = s.Default
	}
	r.add(loginAck(login.Database))
	if s.RouteTo != nil {
		r.add(routing(s.RouteTo))
	}
	r.add(done(0, 0))
	if err := r.flush(true); err != nil {
		return err
	}
	return s.answerAll(conn, login.Database)
}

// overheard keeps what is read of a connection.
type overheard struct {
	net.Conn
	by *Server
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	o.by.mu.Lock()
	defer o.by.mu.Unlock()
	o.by.wire = append(o.by.wire, p[:n]...)
	return n, err
}

// Readable is how often a text crossed the network without TLS, as it is or in the form of a login's password.
func (s *Server) Readable(text string) int {
	plain, hidden := ucs2(text), ucs2(text)
	for i, b := range hidden {
		hidden[i] = (b<<4 | b>>4) ^ 0xA5
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.wire, plain) + bytes.Count(s.wire, hidden)
}

// Sent says how often some bytes crossed the network without TLS, such as the value of a parameter.
func (s *Server) Sent(value []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.wire, value)
}

// greet answers PRELOGIN, and gives the connection as it is from then on, or for the login only.
func (s *Server) greet(conn net.Conn) (_ net.Conn, loginOnly bool, err error) {
	if s.Strict {
		config := s.TLS.Clone()
		config.NextProtos = []string{"tds/8.0"}
		conn = tls.Server(conn, config)
	}
	m, err := readMessage(conn)
	if err != nil {
		return nil, false, err
	}
	if m.kind != packetPrelogin {
		return nil, false, errors.New("what came first was no greeting")
	}
	encryption := byte(encryptionMissing)
	if s.TLS != nil {
		switch encryption = encryptionOn; clientEncryption(m.body) {
		case encryptionMissing:
			encryption = encryptionRequired
		case encryptionOff:
			encryption, loginOnly = encryptionOff, true
		}
	}
	body := preloginReply(encryption)
	if _, err := conn.Write(append(header(packetReply, true, len(body), 1), body...)); err != nil {
		return nil, false, err
	}
	if s.TLS == nil || s.Strict {
		return conn, false, nil
	}
	config := s.TLS.Clone()
	if config.MaxVersion == 0 {
		config.MaxVersion = tls.VersionTLS12 // with 1.3, tickets would come after the handshake
	}
	carried := &handshake{Conn: conn}
	encrypted := tls.Server(carried, config)
	if err := encrypted.HandshakeContext(s.t.Context()); err != nil {
		return nil, false, err
	}
	carried.plain = true
	return encrypted, loginOnly, nil
}
