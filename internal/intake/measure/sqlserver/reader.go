package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/watch"
)

// Engine is how SQL Server is measured: sessions every thirty seconds (specification,
// §4.6), statements every minute.
func Engine() measure.Engine {
	return measure.Engine{
		Name: fleet.SQLServer, SessionsEvery: 30 * time.Second, StatementsEvery: time.Minute,
		NewReader: func() measure.Reader { return newReader(time.Now) },
	}
}

// Kinds of servers (EngineEdition) that differ.
const (
	azureDatabase  = 5 // a connection sees its database alone
	azureSynapse   = 6
	azureManaged   = 8
	serverless     = 11 // of Synapse and Fabric
	fabricDatabase = 12 // as azureDatabase
)

// ErrAnotherEngine says that the server is Azure Synapse, whose views are others.
var ErrAnotherEngine = errors.New("the server is Azure Synapse, which is not measured")

// reader reads one server.
type reader struct {
	server    server
	databases []database

	stores  map[uint32]*store          // what is known of query stores, by database
	now     func() time.Time           // by our clock
	budget  time.Duration              // lookBudget
	left    time.Duration              // of it, after the last list
	texted  int                        // the rounds in which texts of query stores were asked for
	own     map[measure.Statement]bool // Muster's; nil: not known yet
	ownAt   int64                      // when they were looked for, by the server's clock
	denied  map[uint32]bool            // the query stores that we may not read, by database
	sources map[uint32]string          // the last source of each database's statements
	since   map[measure.Key]int64      // since when the entries of the last list are there
	zone    zone
	cache   cache

	deadlocks deadlocks
	jobs      jobs
	rooms     rooms
	backedUp  struct { // the last look at backups
		on servers.Session
		at time.Time
	}
}

func newReader(now func() time.Time) *reader { return &reader{now: now, budget: lookBudget} }

// server is what a server has and what we may see of it.
type server struct {
	edition, version int
	sees             bool   // the activity of others
	login, user      string // ours, quoted
	replicas         bool   // the query store tells what replicas did apart
}

// azure says whether a connection sees its database alone.
func (s server) azure() bool { return s.edition == azureDatabase || s.edition == fabricDatabase }

// modern says whether the permissions of SQL Server 2022 are known. The versions of Azure
// are numbers of their own.
func (s server) modern() bool { return s.version >= 16 || s.azure() || s.edition == azureManaged }

// database is one of a server.
type database struct {
	id         uint32
	name       string
	online     bool
	accessible bool // our login may look into it
	store      bool // its query store is on
	secondary  bool // it is on a secondary replica
}

// closed says whether a database accepts no sessions, as far as we can tell.
func (d database) closed() bool { return !d.online || d.secondary && !d.accessible }

// Activity groups the sessions on the server. Without the permission to see those of
// others, SQL Server shows ours alone and says nothing: then all of them are hidden.
func (r *reader) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	if err := r.readServer(ctx, l); err != nil {
		return nil, err
	}
	if err := r.readDatabases(ctx, l); err != nil {
		return nil, err
	}
	a := &measure.Activity{}
	for _, d := range r.databases {
		a.Databases = append(a.Databases, measure.Database{ID: d.id, Name: d.name, Closed: d.closed(), Hidden: !r.server.sees})
	}
	if !r.server.sees {
		return a, nil
	}
	text := strings.ReplaceAll(query("sessions"), "@application@", servers.ApplicationName)
	read := func() error {
		for i := range a.Databases {
			a.Databases[i].Sample = measurements.SessionSample{}
		}
		a.Locked = false
		return l.Each(ctx, servers.Statement{Columns: 8, Text: text}, func(row [][]byte) error {
			a.Locked = a.Locked || strings.HasPrefix(string(row[2]), "LCK_")
			return count(a, row)
		})
	}
	err := read()
	if isAway(err) && !l.Closed() { // while another session reads the same view, servers before 2022 CU 26 and 2025 CU 7 refuse it
		err = read()
	}
	if err != nil { // the count is partial
		for i := range a.Databases {
			a.Databases[i].Hidden = true
		}
	}
	if l.Closed() {
		return nil, err
	}
	a.Trouble, a.SeesAll = err, err == nil
	return a, nil
}

// known is what the reader of statements has to know of the server.
type known struct {
	server    server
	databases []database
}

// Known is what the last Activity found. Each makes a list of its own.
func (r *reader) Known() any { return known{r.server, r.databases} }

// Counts has it read the statements of a server and its databases.
func (r *reader) Counts(of any) {
	if k, ok := of.(known); ok {
		r.server, r.databases = k.server, k.databases
	}
}

// Names does nothing: sessions say what they execute as the lists of statements do.
func (*reader) Names(*measure.List) {}

func (r *reader) readServer(ctx context.Context, l *measure.Line) error {
	row, err := servers.Row(ctx, l, 7, query("server"))
	if err != nil {
		return err
	}
	edition, err1 := strconv.Atoi(row[0])
	version, err2 := strconv.Atoi(row[1])
	if errors.Join(err1, err2) != nil {
		return measure.ErrNonsense
	}
	if edition == azureSynapse || edition == serverless {
		return ErrAnotherEngine
	}
	r.server = server{edition: edition, version: version, login: row[4], user: row[5], replicas: row[6] == "1"}
	r.server.sees = row[2] == "1" || r.server.azure() && row[3] == "1"
	return nil
}

// readDatabases lists the databases. A change to one of them may lock the list for a
// while: then it is what it was.
func (r *reader) readDatabases(ctx context.Context, l *measure.Line) error {
	text := query("databases")
	if r.server.azure() {
		text = query("databases_azure")
	}
	var found []database
	err := l.Each(ctx, servers.Statement{Columns: 5, Text: text}, func(row [][]byte) error {
		id, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil || len(row[1]) == 0 {
			return measure.ErrNonsense
		}
		found = append(found, database{
			id: uint32(id), name: strings.ToValidUTF8(string(row[1]), "\uFFFD"),
			online: string(row[2]) == "0", accessible: string(row[3]) == "1", store: string(row[4]) == "1",
		})
		return nil
	})
	switch refusal, refused := errors.AsType[*servers.Refusal](err); {
	case refused && refusal.Reason == servers.TimedOut && r.databases != nil && !l.Closed():
		return nil
	case err != nil:
		return err
	}
	r.databases = found
	if r.server.azure() || !r.server.sees {
		return nil
	}
	return r.readReplicas(ctx, l)
}

// readReplicas finds the databases that are on a secondary replica. If that cannot be read, an
// inaccessible database is not known to be one.
func (r *reader) readReplicas(ctx context.Context, l *measure.Line) error {
	err := l.Each(ctx, servers.Statement{Columns: 2, Text: query("replicas")}, func(row [][]byte) error {
		i := slices.IndexFunc(r.databases, func(d database) bool { return strconv.FormatUint(uint64(d.id), 10) == string(row[0]) })
		if i >= 0 && string(row[1]) == "0" {
			r.databases[i].secondary = true
		}
		return nil
	})
	if l.Closed() {
		return err
	}
	return nil
}

// count takes in sessions that do the same on the same database.
func count(a *measure.Activity, row [][]byte) error {
	id, err1 := strconv.ParseUint(string(row[0]), 10, 32)
	sessions, err2 := strconv.ParseInt(string(row[3]), 10, 64)
	if errors.Join(err1, err2) != nil {
		return measure.ErrNonsense
	}
	i := slices.IndexFunc(a.Databases, func(d measure.Database) bool { return d.ID == uint32(id) })
	if i < 0 {
		return nil // of a template or a snapshot, or not listed yet
	}
	statement := strings.ToLower(string(row[7]))
	if strings.Trim(statement, "0") == "" { // of what has no plan
		statement = ""
	}
	a.Databases[i].Count(string(row[1]), measurements.Doing{
		Wait: string(row[2]), Event: string(row[2]), Statement: statement,
		User: string(row[4]), Application: string(row[5]), Client: string(row[6]), Sessions: sessions,
	})
	return nil
}

// Signs are how long sessions have waited for locks, where we may see that.
func (r *reader) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	if !r.server.sees {
		return nil, nil
	}
	rows, err := servers.Query(ctx, l, 3, query("lock_wait"))
	if err != nil {
		return nil, err
	}
	return measure.LockWaits(rows, time.Millisecond, nil)
}
