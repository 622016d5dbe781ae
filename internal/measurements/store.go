package measurements

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements/waitclass"
)

// Store stores samples and returns, engine by engine, the inputs of the tiles.
// measurementstest.Run tests one against the readings. Written samples are in Connections at
// once, and in the series within seconds, when they have been rolled up.
type Store interface {
	// Write keeps a batch, durably when it returns, whole or not at all. The same
	// samples again are accepted and change nothing. Guard's error is returned as
	// it is. The caller has checked the values: they are finite and in range.
	Write(ctx context.Context, b Batch) (Receipt, error)

	// Utilization returns the hosts' part, which no engine has.
	Utilization(ctx context.Context, organization uuid.UUID, hosts HostScope, w timegrid.Window) (Utilization, error)

	// QueryPerformance returns the part of one engine. now bounds Oracle's.
	QueryPerformance(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, now time.Time) (QuerySums, error)

	// WaitEvents returns the part of one engine.
	WaitEvents(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window) (WaitSums, error)

	// Activity returns the part of one engine, a line for each value of q.By.
	Activity(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, q ActivityQuery) (ActivityPart, error)

	// Deadlocks returns those of one engine's databases, with a line for so many, those with the
	// most.
	Deadlocks(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, limit int) (Deadlocks, error)

	// ServerFigures returns those of an instance of an engine; figures that no sample of the window
	// has are missing.
	ServerFigures(ctx context.Context, organization uuid.UUID, engine fleet.Engine, instance uuid.UUID, w timegrid.Window) (ServerFigures, error)

	// Names returns the names of hashes (NameKey); those that the organization keeps no name of
	// are missing.
	Names(ctx context.Context, organization uuid.UUID, of Dimension, hashes []uint64) (map[uint64]string, error)

	// Machines returns the sizes of the hosts in scope, by name, from the newest of their samples
	// since a time. A host without a sample since then is missing. If more than most have one, it
	// returns only some, but more than most: a caller that wants no more need not have all read.
	Machines(ctx context.Context, organization uuid.UUID, scope HostScope, since time.Time, most int) ([]Machine, error)

	// Connections sums the latest samples of these databases that are of one
	// engine and count at now.
	Connections(ctx context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, now time.Time) (OpenConnections, error)

	// UtilizationContributors returns who is behind the hosts' figure: hosts by the mean
	// of CPU or memory, volumes by the peak of the disk. It and the two below return a
	// NotKeptError where the key is not kept as far back.
	UtilizationContributors(ctx context.Context, organization uuid.UUID, hosts HostScope, span Span, b Breakdown) (Ranking, error)

	// QueryContributors returns who is behind one engine's part. now bounds Oracle's.
	QueryContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span Span, b Breakdown, now time.Time) (Ranking, error)

	// WaitContributors returns who is behind one engine's part.
	WaitContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span Span, b Breakdown) (Ranking, error)

	// Statements hands what each statement that one engine executed in a span comes to to
	// take, in no order, and says whether anything in scope has a sample there, and
	// whether some are of a part of the statements only. It and
	// StatementSeries return a NotKeptError where statements are not kept as far back.
	// now bounds Oracle's.
	Statements(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope StatementScope, span Span, now time.Time, take func(StatementSums)) (sampled, partial bool, err error)

	// StatementSeries returns what a statement comes to in each bucket of a window.
	StatementSeries(ctx context.Context, organization uuid.UUID, of NamedStatement, w timegrid.Window, now time.Time) (StatementSeries, error)

	// NameStatements returns what is known of the statements of ids; those that the
	// organization does not have are missing.
	NameStatements(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]NamedStatement, error)

	// MatchStatements returns the statements of a scope that are looked for.
	MatchStatements(ctx context.Context, organization uuid.UUID, scope StatementScope, match StatementMatch) (map[StatementRef]bool, error)

	// FirstExecutions returns how many statements were executed for the first time from a time to another, by
	// database and time, in no order. Of an instance with more than most of them, the newest are counted.
	FirstExecutions(ctx context.Context, organization uuid.UUID, scope fleet.Scope, from, to time.Time, most int) ([]FirstExecutions, error)

	// ConnectionContributors returns whose connections those of one engine are.
	ConnectionContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, b Breakdown, now time.Time) (Ranking, error)
}

// HostScope is the instance filter as hosts have it: a host is in scope where its
// newest sample names one of the instances, or names none and the host is called
// like the host of one. The zero value is every host of the organization.
type HostScope struct {
	fleet.Scope
	Names []string // what the read model has as host of the instances in scope
}

// Machine is how large a host is; 0: its agent does not tell.
type Machine struct {
	Host        string
	At          time.Time // of its newest sample
	Instances   int       // that the newest sample which says so names
	MemoryBytes int64
	CPUs        int // logical ones
}

// Utilization is the tile, a value a bucket of the window; NaN where no host in
// scope has a sample.
type Utilization struct {
	CPUPercent, MemoryPercent, DiskPercent Values
	HostCount                              int // hosts in scope with a sample in the window
}

// QuerySums is one engine's part of query performance, an entry a bucket of the window.
type QuerySums struct {
	TotalMs Values // Σ execution time
	Calls   Values // Σ executions; whole numbers
	MaxMs   Values // the highest mean of a query; NaN where there was no execution
	Sampled bool   // the engine has a sample in the window
	Partial bool   // some are of a part of the statements only
}

// WaitSums is one engine's part of wait events, one entry for each bucket of the window: NaN in
// all five without samples.
type WaitSums struct {
	Waiting [waitclass.Categories]Values // average number of sessions that wait at once
	Sampled bool                         // the engine has a sample in the window
	Partial bool                         // some are of a part of the sessions only
}

// OpenConnections is what is open now.
type OpenConnections struct {
	SampledAt                                       time.Time // the oldest sample that counts; zero: none does
	Active, Idle, Waiting, IdleInTransaction, Other int64
	Partial                                         bool // some are not split, or of a part only
}

// addDatabase adds what is open on another engine.
func (c *OpenConnections) addDatabase(other OpenConnections) {
	if c.SampledAt.IsZero() || other.SampledAt.Before(c.SampledAt) {
		c.SampledAt = other.SampledAt
	}
	c.Active += other.Active
	c.Idle += other.Idle
	c.Waiting += other.Waiting
	c.IdleInTransaction += other.IdleInTransaction
	c.Other += other.Other
	c.Partial = c.Partial || other.Partial
}

// Total is the sum of the splits, which are disjoint.
func (c OpenConnections) Total() int64 {
	return c.Active + c.Idle + c.Waiting + c.IdleInTransaction + c.Other
}
