package measure

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
)

// Engine is how the servers of one engine are measured.
type Engine struct {
	Name fleet.Engine
	// SessionsEvery is how often sessions are sampled, StatementsEvery, a multiple of
	// it, how often the counters of statements are read.
	SessionsEvery, StatementsEvery time.Duration
	// NewReader returns what reads one server, and remembers what it learns of it.
	NewReader func() Reader
}

// Reader reads one server. It is one goroutine's at a time, and has forgotten nothing
// when the connection is another one.
type Reader interface {
	// Activity lists the databases, with what the sessions on each do. An Activity with Trouble has the
	// databases alone.
	Activity(ctx context.Context, l *Line) (*Activity, error)
	// Signs are what the watch judges beside, each with its rule and value. Those that
	// could be read come with the error of the others.
	Signs(ctx context.Context, l *Line) ([]watch.Sign, error)
	// Figures are what the server tells about itself, once a minute. Those that could be read come with
	// the error of the others.
	Figures(ctx context.Context, l *Line) ([]Figure, error)
	// Blocking reads who waits for whom. It is called only after an Activity with a session that
	// waits for a lock. texts says whether the texts of statements are wanted, and at is the time
	// of the look, by our clock.
	Blocking(ctx context.Context, l *Line, at time.Time, texts bool) (*blocking.Look, error)
	// Freed reads how the root of the last look let the others go, now that nobody waits any more;
	// empty: that cannot be known. at is the time of this look.
	Freed(ctx context.Context, l *Line, root blocking.Node, at time.Time) (blocking.End, error)
	// Replication reads who follows whom; nil: the server has nothing of the kind. at is the time of
	// the look, by our clock.
	Replication(ctx context.Context, l *Line, at time.Time) (*replication.State, error)
	// Statements reads the counters of all statements, but for when that was; nil: there
	// are none to be read. A list may come with the error of what it lacks beside: of databases that
	// alone could not be read, a *DatabaseError each.
	Statements(ctx context.Context, l *Line) (*List, error)
	// Texts returns the texts of statements as they may be kept: normalized by package
	// sqltext before anything else sees them. A *TextsLeftError says of which there was no time to ask.
	Texts(ctx context.Context, l *Line, of []Ref) (map[Ref]string, error)
	// Missing is what the account lacks, as the last reads showed it; ok is false where
	// they did not show it.
	Missing() (grants []snapshot.MissingGrant, ok bool)
	// Name names a statement in its database for as long as there is the statement.
	Name(Statement) string
}

// DeadlockReader is a Reader whose server counts deadlocks, but in no view of the sessions.
type DeadlockReader interface {
	// Deadlocks puts into the samples of an Activity how many deadlocks there were since the last
	// call, and returns their sides where the server reports those (blocking.Deadlock). It is called
	// once a minute. at is the time of the look, by our clock, and texts says whether the texts of
	// statements are wanted.
	Deadlocks(ctx context.Context, l *Line, a *Activity, at time.Time, texts bool) ([]blocking.Sample, error)
}

// BackupReader is a Reader whose server knows of backups.
type BackupReader interface {
	// Backups reads which backups there are; nil: the server keeps that to itself. It is called every
	// ten minutes. at is the time of the look, by our clock. Databases in it have names.
	Backups(ctx context.Context, l *Line, at time.Time) (*backups.Look, error)
}

// RoomReader is a Reader that tells how much room its server has, and how it is looked after. It is asked once
// in room.Every. at is the time of the look, by our clock.
type RoomReader interface {
	Room(ctx context.Context, l *Line, at time.Time) (*room.State, error)
}

// Noter is a Reader that knows what an administrator should know before the server is measured. It is asked after an
// Activity.
type Noter interface {
	Notes(ctx context.Context, l *Line) ([]string, error)
}

// PasswordExpires is the note that our password expires soon, by the days that the server says; none if it says nothing.
func PasswordExpires(days string) []string {
	const soon = 14
	left, err := strconv.Atoi(days)
	switch {
	case err != nil || left < 0 || left > soon:
		return nil
	case left == 0:
		return []string{"The password of Muster's account expires today. Set another one on the server and in its connection string."}
	case left == 1:
		return []string{"The password of Muster's account expires in 1 day. Set another one on the server and in its connection string."}
	}
	return []string{fmt.Sprintf("The password of Muster's account expires in %d days. Set another one on the server and in its connection string.", left)}
}

// Owner is a Reader that tells the statements by which it watches from those of others.
type Owner interface {
	Own(Statement) bool
}

// RoleNamer is a Reader that knows the name of who executes a statement; empty: it does not.
type RoleNamer interface {
	Role(Statement) string
}

// Resumer is a Reader that has to know itself which entries are new: it gets the list with
// which its first one will be compared, if that was stored.
type Resumer interface {
	Resume(last *List)
}

// ApartReader is a Reader of which two read a server at the same time: one the sessions and all else, and the other the
// statements with their texts, over a connection of its own. A list of statements may take seconds.
type ApartReader interface {
	Reader
	// Known is what the other one has to know of the last Activity. Nobody changes it.
	Known() any
	// Counts has it read the statements of what the other one knows. It is called before Statements.
	Counts(known any)
	// Names has it name what sessions execute by the other's last list; nil: there is none yet.
	Names(last *List)
}

// Activity is what is on a server at a moment.
type Activity struct {
	Databases []Database
	SeesAll   bool // the account sees what the sessions of others do
	Locked    bool // a session waits for a lock
	// Trouble is why the sessions could not be read, if the databases could: they are hidden then.
	Trouble error
}

// Database is one of a server.
type Database struct {
	ID     uint32 // the server's number of it
	Name   string
	Closed bool // it takes no connections, so that nothing of it is sampled
	// Hidden says that a session on it is not visible to the account: its activity is unknown,
	// and not nothing.
	Hidden bool
	Sample measurements.SessionSample // its counts and waits
}

// Count adds sessions on it in the same state: "active", "waiting", "idle" or "in transaction",
// and anything else, with what they do and whose they are. Their wait is empty if they do not
// wait.
func (d *Database) Count(does string, of measurements.Doing) {
	s := &d.Sample
	switch does {
	case "active":
		s.Active += of.Sessions
		of.State = measurements.OnCPU
	case "waiting":
		s.Waiting += of.Sessions
		of.State = measurements.Waits
	case "idle":
		s.Idle += of.Sessions
		of.State = measurements.Idle
	case "in transaction":
		s.IdleInTransaction += of.Sessions
		of.State = measurements.IdleInTransaction
	default:
		s.Other += of.Sessions
		of.State = measurements.OtherState
	}
	if of.Wait != "" {
		if s.Waits == nil {
			s.Waits = make(map[string]int64)
		}
		s.Waits[of.Wait] += of.Sessions
	}
	if (of.Wait == "") == (of.State == measurements.OnCPU) {
		s.Doing = append(s.Doing, of)
	}
}

// Names are those of the databases.
func (a *Activity) Names() []string {
	names := make([]string, len(a.Databases))
	for i, d := range a.Databases {
		names[i] = d.Name
	}
	return names
}

// samples are those of the databases that the fleet knows. A database without sessions is
// sampled too, with no waits.
func (a *Activity) samples(e Engine, instance uuid.UUID, ids map[string]uuid.UUID, at time.Time) []measurements.SessionSample {
	var out []measurements.SessionSample
	for _, d := range a.Databases {
		id, known := ids[d.Name]
		if !known || d.Hidden || d.Closed {
			continue
		}
		s := d.Sample
		s.Instance, s.Engine, s.Database, s.At, s.Interval = instance, e.Name, id, at, e.SessionsEvery
		out = append(out, s)
	}
	return out
}

// Line is the connection to a server. A reader may look into other databases over
// connections of their own, and stay there.
type Line struct {
	servers.Session // nil: none is open
	open            func(ctx context.Context, database string) (servers.Session, error)
	database        string // where a reader stays; empty: where the connection goes
}

// NewLine returns the line over a session that is open, for tests and benchmarks.
func NewLine(s servers.Session, open func(ctx context.Context, database string) (servers.Session, error)) *Line {
	return &Line{Session: s, open: open}
}

// Open opens another session. The error is a *servers.ConnectionError, or ctx's.
func (l *Line) Open(ctx context.Context, database string) (servers.Session, error) {
	return l.open(ctx, database)
}

// Stay makes an open session the line's, also whenever it is opened again.
func (l *Line) Stay(ctx context.Context, s servers.Session) {
	l.Close(ctx)
	l.Session, l.database = s, s.Database()
}

// Home is where what is measured of one server goes, and who says how it is reached. Any
// of its errors may be a *lease.LostError: the server is measured elsewhere, or not at all.
type Home interface {
	// Target is the server as it is registered now.
	Target(ctx context.Context) (servers.Target, error)
	// Excluded says that the settings do not let us go there any more.
	Excluded(ctx context.Context) error
	// Returned says that the server can be connected to again.
	Returned(ctx context.Context) error
	// Databases makes these databases the server's, and no others, and returns their ids. A
	// *usecase.RuleError for a database that cannot be stored comes with the ids of the
	// others.
	Databases(ctx context.Context, names []string) (map[string]uuid.UUID, error)
	// Lacks keeps what the account may not read.
	Lacks(ctx context.Context, grants []snapshot.MissingGrant) error
	// Record keeps samples and signs.
	Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error
	// Count is Record where statements are counted that were counted until since (nil:
	// never), and are now until the list's time: both or nothing.
	Count(ctx context.Context, since *time.Time, now *List, b measurements.Batch, signs []watch.Sign) error
	// CountedUntil is what Count kept last.
	CountedUntil(ctx context.Context) (*time.Time, error)
	// Basis is the list that Count kept last; nil: it was not kept.
	Basis(ctx context.Context) (*List, error)
	// KeepsTexts says whether texts of statements are wanted.
	KeepsTexts(ctx context.Context) (bool, error)
}

// ErrNonsense says that what answered is no server of the engine that we know. It does not
// repeat what that was.
var ErrNonsense = errors.New("the server answered something else than was asked for")
