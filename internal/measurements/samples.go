package measurements

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
)

// Batch is what a sender measured: of one organization, kept whole or not at all.
// A sample is known by its host, or its instance and database, by its kind and its
// time (in microseconds). The first content stays.
type Batch struct {
	Organization uuid.UUID
	Hosts        []HostSample
	Sessions     []SessionSample
	Statements   []StatementSample
	Servers      []ServerSample
	// NameKey is the organization's. The store sets it.
	NameKey NameKey
	// Reached says for instances whether a source could connect to them. The store does not
	// keep it; package push passes it on.
	Reached []Reached
	// Blocking says who waits for whom. Package push gives it to package blocking, which keeps it.
	Blocking []blocking.Sample
	// Replication says who follows whom. Package push gives it to package replication, likewise.
	Replication []replication.State
	// Room says how much room servers have. Package push gives it to package room, likewise.
	Room []room.State
	// Backups are what sources said of the backups of instances, each at a time.
	Backups []backups.Look
	// Guard runs first in the transaction that keeps the batch; its error ends it.
	// nil: nothing is guarded. A collector holds its claim so.
	Guard func(ctx context.Context, tx sqlx.ExtContext) error
	// Sender is the external sender of the statements: those of an instance come from one at a
	// time. Empty: a sender that does not identify itself. nil: Muster itself, whose collectors
	// hold claims of their own.
	Sender *string
	// Token is what the sender calls with: the same Sender by another token is another one.
	Token uuid.UUID
}

// Reached is the outcome of an attempt to connect to an instance, or to measure a part of it.
type Reached struct {
	Instance uuid.UUID
	Up       bool
	At       time.Time // by the sender's clock
	// By is who says so: an exporter's metric, such as "pg_up"; "opentelemetry": a receiver,
	// which sends only while it is connected. Empty: the sender of the batch.
	By string
	// Of what the sender itself tried:
	Part           string    // of package status; empty: the connection
	Database       string    // that alone the part is of; empty: the whole server
	Since          time.Time // when a failure began; zero: At
	Fell           time.Time // of a success: when the server went down since the last one; zero: it did not, or nobody knows
	Code, Sentence string    // why not; of a part that is measured, what its figures lack
}

// HeldError says that another sender holds the statements of instances. Nothing of the
// batch was kept.
type HeldError struct{ Instances []uuid.UUID }

func (e *HeldError) Error() string {
	return fmt.Sprintf("another sender holds the statements of %d instances", len(e.Instances))
}

// Len is how many samples there are.
func (b Batch) Len() int { return len(b.Hosts) + len(b.Sessions) + len(b.Statements) + len(b.Servers) }

// HostSample is one look at a host. Each of its parts may be missing: a scrape
// that came in two messages is two samples of one time, and what both of them hold
// is kept.
type HostSample struct {
	Host string // its name, as agents give it
	// Instances are those that run on it; nil: the sender does not know.
	Instances []uuid.UUID
	At        time.Time

	CPUPercent    *float64 // 0–100; where the sender has worked it out
	MemoryPercent *float64 // 0–100, likewise
	Volumes       []Volume

	// CPU has the counters of an agent that leaves the arithmetic to us, in the order of
	// their codes, none twice.
	CPU []CPUCounter
	// Memory, likewise, in bytes.
	Memory *MemoryBytes
	// Stale says that the agent lost sight of the host: no interval of its
	// counters reaches across it.
	Stale bool
}

// Volume is how full a volume is. It has either UsedPercent or the three sizes from which df
// computes it: used = size − free, percent = used ÷ (used + available). Each of the three may
// come alone (-1: not in this message).
type Volume struct {
	Mount                 string
	UsedPercent           *float64 // 0–100
	Size, Free, Available float64  // bytes; used where UsedPercent is nil
	// Pool names what the volume shares its space with others in: the device, the pool of
	// ZFS, the container of APFS. Empty: not known. The store does not keep it; the watch
	// has one alert for all volumes of a pool (package push).
	Pool string
	// ReadOnly says that nothing can be written to it, so that it cannot fill and never
	// counts. It may come in a message of its own, with sizes of -1.
	ReadOnly bool
}

// CPUCounter is how long a CPU of a host has been in a mode since it booted. Its code
// identifies it: 16 × the number of the CPU + a number for the mode, so that a scrape may come
// in parts and a part twice.
type CPUCounter struct {
	Code    int32
	Seconds float64
}

// CPUJitter is by how many seconds a counter must go back to have been reset. Linux reckons
// idle and iowait anew at each read, and both may be a little less than they were.
const CPUJitter = 1.0

// SortCPU puts counters in the order of their codes; of several of one the first stays.
func SortCPU(counters []CPUCounter) []CPUCounter {
	slices.SortStableFunc(counters, func(a, b CPUCounter) int { return cmp.Compare(a.Code, b.Code) })
	return slices.CompactFunc(counters, func(a, b CPUCounter) bool { return a.Code == b.Code })
}

// Modes of a CPU, the last four bits of a code. Idle and IOWait are idle, the
// others are not. Guest time is in User and Nice already and is not sent.
const (
	ModeUser int32 = iota
	ModeNice
	ModeSystem
	ModeIdle
	ModeIOWait
	ModeIRQ
	ModeSoftIRQ
	ModeSteal
	ModeOther // any other that an agent may name
)

// MemoryBytes is the memory of a host; -1: not in this message. Used is
// Total − Available; where an agent has no Available, Used says it itself.
type MemoryBytes struct{ Total, Available, Used float64 }

// SessionSample is one look at the client sessions of a database. The five counts
// are disjoint.
type SessionSample struct {
	Instance uuid.UUID
	Engine   fleet.Engine
	Database uuid.UUID
	At       time.Time
	Interval time.Duration // how often samples are taken

	Active, Idle, Waiting, IdleInTransaction, Other int64
	// Waits counts waiting sessions by the engine's own names (Classify). They
	// need not agree with Waiting.
	Waits map[string]int64
	// Doing are the sessions that are Active or wait, by what they do and whose they are; as far
	// as the sender knows (see Activity).
	Doing []Doing
	// Deadlocks is how many there were since the sample before; nil: the server does not tell.
	Deadlocks *int64

	Part    SessionPart
	Partial bool // it is of some of the sessions only, or does not split them
}

// SessionPart says which part a sample of sessions has: a sender may know their number and not
// their waits, or the other way round.
type SessionPart int

// The parts.
const (
	WholeSessions SessionPart = iota
	OnlyCounts                // Waits says nothing
	OnlyWaits                 // the counts say nothing
)

// StatementSample is what the statements of a database did in the interval that
// ends at At.
type StatementSample struct {
	Instance   uuid.UUID
	Engine     fleet.Engine
	Database   uuid.UUID
	At         time.Time
	Interval   time.Duration
	BusyMs     *float64    // how long sessions executed, by the server's own count; nil where it has none
	Statements []Statement // no key twice
	Partial    bool        // it is of some of the statements only
}

// Statement is what one statement did in an interval.
type Statement struct {
	Key     string // of the query, in its database
	Calls   int64
	TotalMs float64
	MaxMs   *float64 // the interval's maximum, where the engine has one (SQL Server)
	Text    string   // normalized (package sqltext); empty where none is known or kept
	Role    string   // who executes it, for people: noted when it is seen first, and no part of what it is; may be empty

	RanBefore bool // its server counted executions of it before the interval
	Own       bool // it was executed to watch the server, and by nobody else
}

// Receipt says what became of a batch.
type Receipt struct {
	Accepted SampleCounts // kept, or there already
	TooLate  SampleCounts // of an hour that is sealed: dropped
	Counted  int          // of statements, begun before another sender's turn was over: dropped
}

// SampleCounts are numbers of samples by kind.
type SampleCounts struct{ Hosts, Sessions, Statements, Servers int }
