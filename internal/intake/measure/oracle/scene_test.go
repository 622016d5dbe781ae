package oracle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// scene is an Oracle that answers with rows written from its documentation, measured by the
// loop that serve and the agent have.
type scene struct {
	t       testing.TB
	session *serverstest.Session
	home    *measuretest.Home // that keeps the list of statements, as an agent does
	clock   *clocktest.Clock
	server  *measure.Server
	engine  measure.Engine

	ahead   int // minutes of the server's local time
	skew    time.Duration
	cluster bool
	started string
}

// began is when each scene begins, by our clock.
var began = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

// newScene is an Oracle 19c with a root and two pluggable databases, seen from the root.
func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{t: t, session: serverstest.New("orders.example.com"), clock: clocktest.At(began), engine: Engine(), started: "2026-11-01 03:00:00"}
	s.home = &measuretest.Home{To: servers.Target{Engine: fleet.Oracle, Database: "orders.example.com"}, Keeps: true}
	s.start()
	s.self("1", "CDB$ROOT", "ORCL", "C##MUSTER")
	s.instance("NO")
	s.on(containersQuery, []string{"1", "CDB$ROOT", "READ WRITE"}, []string{"2", "PDB$SEED", "READ ONLY"},
		[]string{"3", "ERP", "READ WRITE"}, []string{"4", "Łódź \"2\" 😀", "READ WRITE"})
	s.on(sessionsQuery)
	s.on(grantedQuery)
	s.on(lockWaitQuery)
	s.figures()
	s.on(replicationQuery, alone)
	s.on(destinationsQuery)
	s.backups()
	s.on(jobsQuery)
	for _, query := range roomQueries {
		s.on(query)
	}
	s.blocked()
	s.on(dbTimeQuery)
	s.on(deadlocksQuery)
	s.statements()
	s.births()
	s.now()
	return s
}

// roomQueries are those of how full a server is.
var roomQueries = []string{roomTablespacesQuery, roomDatabasesQuery, roomRecoveryQuery, roomDiskGroupsQuery, roomSequencesQuery, roomTablesQuery}

// backups are those of a database that archives its redo, and has been there for 100 days.
func (s *scene) backups(jobs ...[]string) {
	s.on(backupModeQuery, []string{"ARCHIVELOG", "8640000"})
	s.on(backupJobsQuery, jobs...)
	s.on(backupElsewhereQuery)
}

// start begins to measure.
func (s *scene) start() {
	s.server = measure.New(measure.Config{
		Engine: s.engine, Organization: uuid.New(), Instance: uuid.New(), Home: s.home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			if s.session.Closed() {
				s.session = s.again()
			}
			return s.session, nil
		},
		Log: slog.New(slog.DiscardHandler), Now: s.clock.Now,
	})
}

// restart is another process, with the list that this one kept.
func (s *scene) restart() {
	s.server.Close(context.Background())
	s.start()
}

// again is another connection to the same server.
func (s *scene) again() *serverstest.Session {
	next := serverstest.New(s.session.Name)
	next.Answers = s.session.Answers
	return next
}

func (s *scene) on(query string, rows ...[]string) {
	if query == sessionsQuery || query == clusterSessionsQuery {
		rows = ofNobody(rows)
	}
	s.session.On(strings.ReplaceAll(query, "@application@", servers.ApplicationName), rows...)
}

// ofNobody are rows of sessions, those without people with nobody.
func ofNobody(rows [][]string) (all [][]string) {
	for _, row := range rows {
		if len(row) == 4 {
			row = append(slices.Clip(row), serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null)
		}
		all = append(all, row)
	}
	return all
}

func (s *scene) fail(query string, number int, reason servers.Reason) {
	s.session.Fail(query, &servers.Refusal{Engine: fleet.Oracle, Code: fmt.Sprintf("ORA-%05d", number), Reason: reason})
}

func (s *scene) deny(query string) { s.fail(query, 942, servers.Denied) }

func (s *scene) self(container, name, multi, account string) {
	if multi == "" {
		multi = serverstest.Null
	}
	s.on(selfQuery, []string{container, name, multi, account})
}

func (s *scene) instance(parallel string) {
	s.on(instanceQuery, []string{"1", s.started, parallel})
}

// inCluster makes it two instances of a cluster, without sessions, each with a statement.
func (s *scene) inCluster() {
	s.cluster = true
	s.instance("YES")
	s.on(instancesQuery, []string{"1", s.started, "YES"}, []string{"2", s.started, "YES"})
	s.on(activeInstancesQuery, []string{"2"})
	s.on(clusterContainersQuery, []string{"1", "CDB$ROOT", "READ WRITE"}, []string{"3", "ERP", "READ WRITE"})
	s.on(clusterSessionsQuery)
	s.on(clusterLockWaitQuery)
	s.on(clusterDBTimeQuery)
	s.on(clusterDeadlocksQuery)
	s.figures()
	one, two := entry(3, queryA, 5, 1, 1, 1), entry(3, queryA, 5, 1, 1, 1)
	one[0], two[0] = "1", "2"
	s.statements(one, two)
	s.births()
}

// figures has no transaction, no temporary space and no counts.
func (s *scene) figures() {
	s.on(s.in(transactionsQuery, clusterTransactionsQuery))
	s.on(blockSizeQuery, []string{"8192"})
	s.on(s.in(temporarySpaceQuery, clusterTemporarySpaceQuery), []string{"0"})
	s.on(s.in(countersQuery, clusterCountersQuery))
}

// now sets the server's clock: ours, plus its error.
func (s *scene) now() {
	s.on(clockQuery, []string{fmt.Sprint(s.clock.Now().Add(s.skew).UnixMicro()), fmt.Sprint(s.ahead)})
}

// local is a moment as V$SQL has it: seconds, by the server's local time.
func (s *scene) local(at time.Time) string {
	return fmt.Sprint(at.Add(s.skew).Unix() + int64(s.ahead)*60)
}

// statements are rows of instance, container, SQL_ID, signature, plan, executions and
// microseconds.
func (s *scene) statements(rows ...[]string) {
	s.on(s.in(statementsQuery, clusterStatementsQuery), rows...)
}

func (s *scene) births(rows ...[]string) { s.on(s.in(birthsQuery, clusterBirthsQuery), rows...) }

func (s *scene) in(one, all string) string {
	if s.cluster {
		return all
	}
	return one
}

// pass lets time go by, and measures. What was kept is returned.
func (s *scene) pass(d time.Duration) measurements.Batch {
	s.t.Helper()
	s.clock.Advance(d)
	s.now()
	s.home.Batches = nil
	if err := s.server.Round(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if len(s.home.Batches) != 1 {
		s.t.Fatalf("%d batches", len(s.home.Batches))
	}
	return s.home.Batches[0]
}

// breaks is pass where a part of the round fails, and nothing of the statements is kept.
func (s *scene) breaks(want error) {
	s.t.Helper()
	s.clock.Advance(20 * time.Second)
	s.now()
	s.home.Batches = nil
	if err := s.server.Round(s.t.Context()); !errors.Is(err, want) {
		s.t.Errorf("got %v, want %v", err, want)
	}
	if len(s.home.Batches) != 1 || s.home.Batches[0].Statements != nil {
		s.t.Fatalf("kept %+v", s.home.Batches)
	}
}

// counted are the statements of a database in a batch, as "calls×ms"; nil: it has no sample.
func (s *scene) counted(b measurements.Batch, database string) map[string]string {
	s.t.Helper()
	for _, sample := range b.Statements {
		if sample.Database == s.home.Known[database] {
			counted := make(map[string]string)
			for _, one := range sample.Statements {
				counted[one.Key] = fmt.Sprintf("%d×%g", one.Calls, one.TotalMs)
			}
			return counted
		}
	}
	return nil
}

// sampled is the sample of the sessions of a database; nil: it has none.
func (s *scene) sampled(b measurements.Batch, database string) *measurements.SessionSample {
	for _, sample := range b.Sessions {
		if sample.Database == s.home.Known[database] {
			return &sample
		}
	}
	return nil
}

func (s *scene) lacking() string {
	var all []string
	for _, grant := range s.home.Lacking {
		all = append(all, grant.Object+": "+grant.Statement)
	}
	return strings.Join(all, "\n")
}
