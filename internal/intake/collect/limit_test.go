package collect_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// TestALookThatTimesOutKeepsItsResults: one of three databases does not answer. When the time of the look is
// over, the checks of the server and of the others are kept, and the unread checks say so: they are neither
// passed nor forgotten.
func TestALookThatTimesOutKeepsItsResults(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`CREATE DATABASE app`)
	admin.MustExec(`CREATE DATABASE slow`)
	way := stall(t, server.Addr(), "slow")
	s := newScene(t)
	instance := s.register(strings.Replace(server.TCPURL(pgtest.Superuser, "postgres"), server.Addr(), way.address, 1))
	s.assess(instance)
	before := classifications(t, s, instance)
	if len(before) != 3 || before["slow"].Status != snapshot.ClassificationCompleted {
		t.Fatalf("%+v", before)
	}

	way.stalls()
	over := make(chan struct{})
	s.collector.EndLooks(over)
	looked := make(chan error)
	go func() { looked <- s.collector.AssessNow(t.Context(), s.organization, instance) }()
	way.waitFor("slow", "app")
	close(over)
	if err := <-looked; err != nil {
		t.Fatal(err)
	}
	a, _, err := s.store.Latest(t.Context(), s.organization, instance)
	if err != nil || a.Outcome != snapshot.OutcomePartial || len(a.Databases) != 3 {
		t.Fatalf("%s, %d databases, %v", a.Outcome, len(a.Databases), err)
	}
	read := map[string]int{}
	for _, r := range a.Results {
		if r.Status != snapshot.StatusNotAssessed {
			read[r.Database]++
		}
		if r.Database == "slow" && (r.Status != snapshot.StatusNotAssessed || r.ReasonCode != snapshot.ReasonTimeout ||
			r.Reason != "Not read: Muster ends an assessment after 5 minutes, and this server answered too slowly.") {
			t.Errorf("%s in the database that did not answer: %s %s %q", r.CheckID, r.Status, r.ReasonCode, r.Reason)
		}
	}
	if read[""] == 0 || read["app"] == 0 || read["slow"] > 0 {
		t.Errorf("read are %v", read)
	}
	for name, known := range classifications(t, s, instance) {
		if known.Status != snapshot.ClassificationCompleted || known.Failure == nil || !strings.HasPrefix(known.Failure.Reason, "Not read: ") {
			t.Errorf("of %s is known: %s, %+v", name, known.Status, known.Failure)
		}
	}
	if state := s.state(instance); state.LastError != nil {
		t.Errorf("the server counts as out of reach: %+v", state)
	}
}

// stalling leads to a server, and stalls the sessions of one database after their sign-in.
type stalling struct {
	*testing.T
	address, database string

	mu   sync.Mutex
	on   bool
	over map[string]chan struct{} // by database: closed when a session has ended, or stalls
}

func stall(t *testing.T, server, database string) *stalling {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stalling{T: t, address: listener.Addr().String(), database: database, over: map[string]chan struct{}{}}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(client, server)
		}
	}()
	return s
}

func (s *stalling) stalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on, s.over = true, map[string]chan struct{}{}
}

func (s *stalling) ended(database string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over[database] == nil {
		s.over[database] = make(chan struct{})
	}
	return s.over[database]
}

func (s *stalling) end(database string) {
	ended := s.ended(database)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ended:
	default:
		close(ended)
	}
}

func (s *stalling) waitFor(databases ...string) {
	s.Helper()
	for _, database := range databases {
		s.until("a session in "+database, s.ended(database))
	}
}

func (s *stalling) until(what string, ended <-chan struct{}) {
	s.Helper()
	select {
	case <-ended:
	case <-s.Context().Done():
		s.Fatal("never: " + what)
	}
}

func (s *stalling) serve(client net.Conn, to string) {
	defer func() { _ = client.Close() }()
	upstream, err := new(net.Dialer).DialContext(s.Context(), "tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = upstream.Close() }()
	go func() {
		_, _ = io.Copy(client, upstream)
		_ = client.Close()
	}()
	begin := make([]byte, 4096) // a startup packet, which names the database
	n, err := client.Read(begin)
	if err != nil {
		return
	}
	_, after, _ := bytes.Cut(begin[:n], []byte("database\x00"))
	name, _, _ := bytes.Cut(after, []byte{0})
	database := string(name)
	defer s.end(database)
	if _, err := upstream.Write(begin[:n]); err != nil {
		return
	}
	s.mu.Lock()
	on := s.on && database == s.database
	s.mu.Unlock()
	if on { // the first statement is swallowed
		_, _ = client.Read(begin)
		s.end(database)
		_, _ = io.Copy(io.Discard, client)
		return
	}
	_, _ = io.Copy(upstream, client)
}

func classifications(t *testing.T, s *scene, instance uuid.UUID) map[string]snapshot.Classification {
	t.Helper()
	_, classified, err := s.store.Latest(t.Context(), s.organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]snapshot.Classification{}
	for _, c := range classified {
		known[c.Database] = c.Classification
	}
	return known
}
