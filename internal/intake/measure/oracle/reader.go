package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/self.sql
var selfQuery string

//go:embed sql/instance.sql
var instanceQuery string

//go:embed sql/instances.sql
var instancesQuery string

//go:embed sql/open_instances.sql
var openInstancesQuery string

//go:embed sql/active_instances.sql
var activeInstancesQuery string

// Engine is how Oracle is measured: sessions every ten seconds, statements every twenty
// (readings, 17).
func Engine() measure.Engine {
	return measure.Engine{
		Name: fleet.Oracle, SessionsEvery: 10 * time.Second, StatementsEvery: 20 * time.Second,
		NewReader: func() measure.Reader { return &reader{lacking: make(map[string]snapshot.MissingGrant)} },
	}
}

// reader reads one database.
type reader struct {
	session servers.Session // that self and running were asked on
	self    self
	apart   bool           // another reader reads the statements
	cluster bool           // there is more than one instance
	running map[int]string // the instances and when they were started; nil: unknown

	databases []measure.Database               // as they were listed last
	lacking   map[string]snapshot.MissingGrant // by the part that lacks it
	last      *measure.List                    // of the statements
	slow      struct {                         // the list took too long
		times int   // in a row
		until int64 // when it is asked for again, by the server's clock
		why   error
	}
	late      []string // the parts of Room that took too long when they were read last
	granted   granted
	offset    offset
	deadlocks map[counter]int64 // the counters of the last look
}

// self is who we are and where.
type self struct {
	container uint32
	name      string // of the container, or of the database
	multi     bool   // it is a container database
	account   string
}

// known is what the reader of statements has to know of the database.
type known struct {
	self      self
	databases []measure.Database
}

// Known is what the last Activity found. Each makes a list of its own.
func (r *reader) Known() any { return known{r.self, r.databases} }

// Counts has it read the statements of a database.
func (r *reader) Counts(of any) {
	if k, ok := of.(known); ok {
		r.self, r.databases = k.self, k.databases
	}
}

// Names has sessions execute what a list has. It is the other's.
func (r *reader) Names(last *measure.List) { r.last, r.apart = last, true }

const root = 1 // the number of a container database's root

// meet asks who we are once on each connection, and what runs until that is known, and then as often as it may change.
func (r *reader) meet(ctx context.Context, s servers.Session) error {
	if r.session == s && r.running != nil {
		if !r.apart {
			return nil // the list of statements asks what runs
		}
		if err := r.readInstances(ctx, s); err != nil && !isRefusal(err) && !errors.Is(err, errPart) {
			return err
		}
		return nil
	}
	me, err := readSelf(ctx, s)
	if err != nil {
		return err
	}
	if me != r.self {
		r.databases = nil
	}
	r.self = me
	if err := r.readInstances(ctx, s); err != nil && !errors.Is(err, errPart) {
		return err
	}
	r.session = s
	return nil
}

// readSelf asks what everybody may ask.
func readSelf(ctx context.Context, s servers.Session) (self, error) {
	row, err := servers.Row(ctx, s, 4, selfQuery)
	if err != nil {
		return self{}, err
	}
	container, err := strconv.ParseUint(row[0], 10, 32)
	if err != nil || row[1] == "" || row[3] == "" {
		return self{}, measure.ErrNonsense
	}
	return self{container: uint32(container), name: row[1], multi: row[2] != "", account: row[3]}, nil
}

// errPart says that an instance of a cluster did not answer: the answers of the others are
// incomplete.
var errPart = errors.New("an instance of the cluster does not answer")

// readInstances finds out which instances run. Without the grants for it, it is unknown whether
// there is more than ours. Errors: errPart.
func (r *reader) readInstances(ctx context.Context, s servers.Session) error {
	running, parallel, err := instances(ctx, s, instanceQuery)
	if r.may("instances", "V$INSTANCE", &err) && parallel {
		running, err = r.readCluster(ctx, s)
	}
	if err == nil || errors.Is(err, errPart) { // else what was known still holds
		r.running, r.cluster = running, len(running) > 1
	}
	return err
}

// readCluster lists the instances of a cluster; nil: that is not granted.
func (r *reader) readCluster(ctx context.Context, s servers.Session) (map[int]string, error) {
	running, _, err := instances(ctx, s, instancesQuery)
	if !r.may("instances", "GV$INSTANCE", &err) {
		return nil, err
	}
	if r.self.multi && r.self.container != root {
		return r.whereOpen(ctx, s, running)
	}
	row, err := servers.Row(ctx, s, 1, activeInstancesQuery)
	if !r.may("instances", "V$ACTIVE_INSTANCES", &err) {
		return nil, err
	}
	switch n, err := strconv.Atoi(row[0]); {
	case err != nil:
		return nil, measure.ErrNonsense
	case n > len(running):
		return nil, errPart
	}
	return running, nil
}

// whereOpen are the instances of a cluster on which the pluggable database that we are in is open. It has a
// place on some of them, as a rule, and views of the cluster have rows of those alone. V$ACTIVE_INSTANCES would
// count the others, too.
func (r *reader) whereOpen(ctx context.Context, s servers.Session, running map[int]string) (map[int]string, error) {
	rows, err := servers.Query(ctx, s, 1, openInstancesQuery)
	if !r.may("instances", "GV$CONTAINERS", &err) {
		return nil, err
	}
	open := make(map[int]string, len(rows))
	for _, row := range rows {
		number, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, measure.ErrNonsense
		}
		started, runs := running[number]
		if !runs {
			return open, errPart
		}
		open[number] = started
	}
	if len(open) == 0 {
		return open, errPart
	}
	return open, nil
}

// instances are those that run, and whether they are a cluster's; nil with the error that
// kept them from us.
func instances(ctx context.Context, s servers.Session, query string) (running map[int]string, parallel bool, err error) {
	rows, err := servers.Query(ctx, s, 3, query)
	if err != nil {
		return nil, false, err
	}
	running = make(map[int]string, len(rows))
	for _, row := range rows {
		number, err := strconv.Atoi(row[0])
		if err != nil || row[1] == "" {
			return nil, false, measure.ErrNonsense
		}
		running[number] = row[1]
		parallel = parallel || row[2] == "YES"
	}
	if len(running) == 0 {
		return nil, false, measure.ErrNonsense
	}
	return running, parallel, nil
}

// in picks the query that fits: of one instance, or of all.
func (r *reader) in(one, all string) string {
	if r.cluster {
		return all
	}
	return one
}

// view is a view as the queries name it: of one instance, or of all.
func (r *reader) view(name string) string { return r.in(name, "G"+name) }

// may keeps whether a part could be read, and says so. A refusal for a missing grant is no
// error: Missing says it. Anything else stays one, and says nothing of grants.
func (r *reader) may(part, view string, err *error) bool {
	if servers.ReasonOf(*err) == servers.Denied {
		if *err = r.granted.judge(view, *err); *err == nil {
			r.lacking[part] = grantOn(view, r.self.account)
		} else {
			delete(r.lacking, part)
		}
		return false
	}
	if *err == nil {
		delete(r.lacking, part)
	}
	return *err == nil
}

// grantOn is the grant of a view: to the account that we have, and on what the view is a
// public synonym of.
func grantOn(view, account string) snapshot.MissingGrant {
	return snapshot.MissingGrant{
		Object: view, Statement: "GRANT SELECT ON SYS." + base(view) + " TO " + quoted(account) + ";",
	}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, "") + `"` }

// Missing is what the account may not read, the same in the same order as long as it does.
func (r *reader) Missing() ([]snapshot.MissingGrant, bool) {
	if r.self.account == "" {
		return nil, false
	}
	var lacking []snapshot.MissingGrant
	for _, part := range slices.Sorted(maps.Keys(r.lacking)) {
		lacking = append(lacking, r.lacking[part])
	}
	return lacking, true
}

// isRefusal tells what the server would not do from a connection that is gone.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*servers.Refusal](err)
	return ok
}
