package measurements

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/measurements/replication"
)

// Figure is what a server tells about itself beside its sessions: about its transactions, temporary
// files, checkpoints and new connections.
type Figure string

// The figures. Ages are milliseconds.
const (
	OldestTransaction Figure = "oldestTransaction"       // age of the oldest open transaction
	OldestIdle        Figure = "oldestIdleInTransaction" // how long the session has been idle that is so longest in a transaction
	TemporaryBytes    Figure = "temporaryBytes"          // written to temporary files
	TemporaryFiles    Figure = "temporaryFiles"          // that were written
	TemporaryUsed     Figure = "temporaryUsed"           // bytes of temporary space in use
	CheckpointsTimed  Figure = "checkpointsTimed"        // checkpoints that were due
	CheckpointsAsked  Figure = "checkpointsRequested"    // checkpoints for another reason
	CheckpointWriting Figure = "checkpointWriteMs"       // milliseconds that checkpoints wrote
	CheckpointSyncing Figure = "checkpointSyncMs"        // milliseconds that checkpoints waited for the disks
	CheckpointBuffers Figure = "checkpointBuffers"       // pages that checkpoints wrote
	NewConnections    Figure = "newConnections"          // sessions that were begun
	ReplicationLag    Figure = "replicationLag"          // milliseconds that a standby lags: the server, or who follows it and is furthest behind
	ReplicationBehind Figure = "replicationLagBytes"     // log that it has not applied yet
	SlotRetained      Figure = "slotRetainedBytes"       // log that a replication slot holds back, of the slot with the most
)

// Figures returns every figure. A stored figure is its place, so new ones come last.
func Figures() []Figure {
	return []Figure{
		OldestTransaction, OldestIdle, TemporaryBytes, TemporaryFiles, TemporaryUsed,
		CheckpointsTimed, CheckpointsAsked, CheckpointWriting, CheckpointSyncing, CheckpointBuffers, NewConnections,
		ReplicationLag, ReplicationBehind, SlotRetained,
	}
}

// WithoutReplication are the figures but those of replication, which have a route of their own.
func WithoutReplication() []Figure {
	return slices.DeleteFunc(Figures(), func(f Figure) bool { return f == ReplicationLag || f == ReplicationBehind || f == SlotRetained })
}

// Counts says that a figure is what happened in an interval. Others are of a moment.
func (f Figure) Counts() bool {
	return !slices.Contains([]Figure{OldestTransaction, OldestIdle, TemporaryUsed, ReplicationLag, ReplicationBehind, SlotRetained}, f)
}

// PerSecond says that a figure that Counts is shown as a rate; of others a bucket has the number.
func (f Figure) PerSecond() bool { return f == TemporaryBytes || f == NewConnections }

// ByDatabase says that a figure is told of single databases, too. A database that is not named has
// none of it.
func (f Figure) ByDatabase() bool { return f == TemporaryBytes }

// Telling says whether a server tells a figure.
type Telling string

// How a server tells a figure.
const (
	Told    Telling = "ok"
	NotTold Telling = "notTold" // its engine has no such figure, or not in this version
	Denied  Telling = "denied"  // the account may not see it
)

// ServerSample is one look at the figures of an instance.
type ServerSample struct {
	Instance uuid.UUID
	Engine   fleet.Engine
	At       time.Time
	Figures  []ServerFigure // no figure of a database twice
}

// ServerFigure is one figure of a server.
type ServerFigure struct {
	Figure   Figure
	Database uuid.UUID // zero: the whole server
	Telling  Telling
	Value    int64         // not below 0
	Interval time.Duration // in which it was counted, of a figure that Counts
	Holder   *Holder       // whose transaction the oldest one is; nil: there is none, or it is not known
}

// Holder is the session that holds a transaction open. Texts that are empty are not known.
type Holder struct {
	Session  string // the server's own id of it
	Database uuid.UUID
	Doing    // its state, statement and people
}

// MaxSession is how many characters of a session's id are kept.
const MaxSession = 80

// Clean is the holder as it is kept: with legible names.
func (h Holder) Clean() Holder {
	h.Session = printable.Cut(printable.Clean(strings.ReplaceAll(h.Session, "\x00", "")), MaxSession)
	h.clean()
	h.Sessions = 1
	return h
}

// ServersWithoutPeople is a copy of samples whose holders are nobody.
func ServersWithoutPeople(samples []ServerSample) []ServerSample {
	samples = slices.Clone(samples)
	for i := range samples {
		samples[i].Figures = slices.Clone(samples[i].Figures)
		for j, f := range samples[i].Figures {
			if f.Holder != nil {
				nobody := *f.Holder
				nobody.User, nobody.Application, nobody.Client = "", "", ""
				samples[i].Figures[j].Holder = &nobody
			}
		}
	}
	return samples
}

// FigureOf is a figure of a database; of no database, it is the whole server's.
type FigureOf struct {
	Figure   Figure
	Database uuid.UUID
}

// FigureSeries is a figure, bucket by bucket.
type FigureSeries struct {
	// Values are the greatest of a bucket or, of a figure that Counts, how many there were, or
	// how many a second; NaN where nothing was told.
	Values Values
	// Told are the states of the buckets; empty where nothing is known.
	Told    []Telling
	Holders []*HolderSeen // who held the greatest; nil where nobody is known
}

// HolderSeen is a Holder as the store has it: its names are hashes.
type HolderSeen struct {
	Session                   string
	Database                  uuid.UUID
	State                     State
	Statement                 uint64
	User, Application, Client uint64
}

// ServerFigures are the figures of an instance.
type ServerFigures map[FigureOf]*FigureSeries

// NewFigureSeries is a figure of which nothing is known.
func NewFigureSeries(buckets int) *FigureSeries {
	return &FigureSeries{Values: Gaps(buckets), Told: make([]Telling, buckets), Holders: make([]*HolderSeen, buckets)}
}

// FillDatabases gives databases none of a figure where only others are named.
func (f ServerFigures) FillDatabases() {
	for of, line := range f {
		all := f[FigureOf{Figure: of.Figure}]
		if of.Database == uuid.Nil || all == nil {
			continue
		}
		for i := range line.Values {
			if math.IsNaN(line.Values[i]) && !math.IsNaN(all.Values[i]) {
				line.Values[i], line.Told[i] = 0, Told
			}
		}
	}
}

// LagOf are the figures of a server's replication; ok is false if it has none. Its time is a
// microsecond later, because a server has one sample of a time, and may have others of this one.
func LagOf(s replication.State) (sample ServerSample, ok bool) {
	sample = ServerSample{Instance: s.Instance, Engine: s.Engine, At: s.At.Add(time.Microsecond)}
	add := func(of Figure, value int64) {
		sample.Figures = append(sample.Figures, ServerFigure{Figure: of, Telling: Told, Value: max(value, 0)})
	}
	f := s.Figures()
	if f.LagSeconds != nil {
		add(ReplicationLag, int64(math.Round(*f.LagSeconds*1000)))
	}
	if f.LagBytes != nil {
		add(ReplicationBehind, *f.LagBytes)
	}
	if f.Retained != nil {
		add(SlotRetained, *f.Retained)
	}
	return sample, len(sample.Figures) > 0
}
