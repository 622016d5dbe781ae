package measurements

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
)

// Series is a line of a tile, or a count of the card of connections.
type Series string

// The series of utilization, query performance, wait events and connections.
const (
	CPU     Series = "cpu"
	Memory  Series = "memory"
	Disk    Series = "disk"
	Average Series = "average"
	Maximum Series = "maximum"

	WaitingForLocks      Series = "locks"
	WaitingForLightLocks Series = "lightweightLocks"
	WaitingForIO         Series = "io"
	WaitingForClients    Series = "clientNetwork"
	WaitingForOther      Series = "other"
	WaitingForAnything   Series = "all"
	ConnectionsTotal     Series = "total"
	ConnectionsActive    Series = "active"
	ConnectionsIdle      Series = "idle"
	ConnectionsThatWait  Series = "waiting"
)

// Key is what a figure is broken down by.
type Key string

// The keys. Volume is a host's mount; a statement is a database's.
const (
	ByHost      Key = "host"
	ByVolume    Key = "volume"
	ByInstance  Key = "instance"
	ByDatabase  Key = "database"
	ByStatement Key = "statement"
	ByCategory  Key = "category"

	ByEvent       Key = "event" // of waits
	ByUser        Key = "user"
	ByApplication Key = "application"
	ByClient      Key = "client"
)

// How long the details of databases, statements and volumes are kept. Hosts and instances
// are kept by the day for as long as their tile is.
const (
	// RawKept is how long the raw samples of an hour are kept after the last of them
	// arrived. Single minutes of details are read from raw samples.
	RawKept         = 72 * time.Hour
	HourDetailsKept = 35 * 24 * time.Hour
	DayDetailsKept  = 400 * 24 * time.Hour
)

// Span is one bucket of any length, from From up to To, which are on the grid of Size.
type Span struct {
	From, To time.Time
	Size     timegrid.Size
}

// SpanOf widens what is asked for to whole buckets of the smallest size that is kept as
// far back: minutes, hours or days. It ends with now's bucket at the latest, and has one
// at least.
func SpanOf(from, to, now time.Time) Span {
	size := timegrid.Day
	switch {
	case !from.Before(KeptSince(timegrid.Minute, now)):
		size = timegrid.Minute
	case !from.Before(KeptSince(timegrid.Hour, now)):
		size = timegrid.Hour
	}
	if to.After(now) {
		to = now
	}
	if !to.After(from) {
		to = from.Add(1)
	}
	w := timegrid.Window{From: from, To: to, Size: size}
	return Span{w.Start(), w.End(), size}
}

// KeptSince is since when single buckets of a size are kept of databases, statements and
// volumes; weeks are made of days.
func KeptSince(size timegrid.Size, now time.Time) time.Time {
	switch size {
	case timegrid.Minute:
		return now.Add(-RawKept)
	case timegrid.Hour:
		return now.Add(-HourDetailsKept)
	}
	return now.Add(-DayDetailsKept)
}

// Pieces cuts a span into windows of whole buckets, as long ones as there are.
func (s Span) Pieces() []timegrid.Window {
	var pieces []timegrid.Window
	add := func(from, to time.Time, size timegrid.Size) {
		if from.Before(to) {
			pieces = append(pieces, timegrid.Window{From: from, To: to, Size: size})
		}
	}
	within := []timegrid.Size{timegrid.Minute, timegrid.Hour, timegrid.Day}
	var cut func(from, to time.Time, size int)
	cut = func(from, to time.Time, size int) {
		if size == len(within)-1 {
			add(from, to, within[size])
			return
		}
		longer := within[size+1]
		first, last := longer.Floor(from), longer.Floor(to)
		if first.Before(from) {
			first = first.Add(longer.Width())
		}
		if !first.Before(last) {
			add(from, to, within[size])
			return
		}
		add(from, first, within[size])
		cut(first, last, size+1)
		add(last, to, within[size])
	}
	cut(s.From, s.To, slices.Index(within, s.Size))
	return pieces
}

// NotKeptError says that the key of a breakdown is not stored that far back.
type NotKeptError struct{ Since time.Time }

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("single databases, statements and volumes are kept since %s", e.Since.Format(time.RFC3339))
}

// RecoveringError says that what was measured in the last hours cannot be read yet: the
// database crashed, and it is made anew. That takes seconds, and nothing is lost.
type RecoveringError struct{}

func (*RecoveringError) Error() string {
	return "the database crashed, and what has been measured in the last hours is being added up again; it takes seconds"
}

// DeletedError says that samples were not kept because their organization was deleted.
type DeletedError struct{ Organization uuid.UUID }

func (e *DeletedError) Error() string {
	return fmt.Sprintf("organization %s was deleted", e.Organization)
}

// Breakdown says which figure to break down, by which key, and how many items to return.
type Breakdown struct {
	Series Series
	By     Key
	Limit  int

	// Zeros is for connections: a sampled contributor without any is an item too.
	Zeros bool
}

// Detailed says whether the key is stored for DayDetailsKept only.
func (b Breakdown) Detailed() bool {
	return b.By == ByDatabase || b.By == ByStatement || b.By == ByVolume || b.named()
}

// dimensions are those of the keys that only activity tells.
var dimensions = map[Key]Dimension{
	ByStatement: DimStatement, ByEvent: DimWaitEvent, ByUser: DimUser, ByApplication: DimApplication, ByClient: DimClient,
}

// Dimension is the dimension of activity that the key is; ok is false for a key of which the tile
// itself has the figures.
func (b Breakdown) Dimension() (by Dimension, ok bool) {
	by, ok = dimensions[b.By]
	return by, ok
}

// Personal says that the key is personal data.
func (b Breakdown) Personal() bool { return dimensions[b.By].Personal() }

// named says that the key is a name, which engines and instances share.
func (b Breakdown) named() bool { return dimensions[b.By].Named() }

// shared says that a contributor may belong to several engines.
func (b Breakdown) shared() bool { return b.By == ByCategory || b.named() }

// Contributor is one of those who are behind a figure. What it is not by is zero.
type Contributor struct {
	Host, Mount        string
	Instance, Database uuid.UUID
	Statement          uuid.UUID // StatementID
	Category           int
	Name               uint64 // of an event, a user, an application or a client: its hash; 0: it is not known

	Value   float64 // percent, ms, sessions or connections, as the series is
	Calls   float64 // of query performance
	TotalMs float64 // likewise
}

// HashStatement tells one statement of an instance from another (FNV-1a, 64 bits). Among a
// million of them two share one with a probability of 3 in 100 million; they would
// count as one statement.
func HashStatement(database uuid.UUID, key string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, b := range database {
		h = (h ^ uint64(b)) * prime
	}
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	return h
}

// StatementID is what a statement of an instance is known by: an id of the hash of its
// database and key.
func StatementID(instance uuid.UUID, hash uint64) uuid.UUID {
	return uuid.NewSHA1(instance, fmt.Appendf(nil, "%016x", hash))
}

// Ranking is who is behind a figure: the first Limit in order, and the others together.
// Limit is at least 1, and of categories at least all of them.
type Ranking struct {
	Breakdown
	Items    []Contributor
	Others   Others
	Sampled  bool // something in scope has a sample in the span
	Partial  bool // some samples are of a part only
	Coverage Coverage
}

// Coverage is how much of the time that servers say they were executing is in their
// statements, over the samples of query performance whose server says it.
type Coverage struct {
	AttributedMs, BusyMs float64
	Instances            int // that have such a sample; the others' executing time is not known
}

// Share is the part of the time that statements explain; NaN if there is none. It may be above
// 1: a statement's time counts when it ends.
func (c Coverage) Share() float64 { return c.AttributedMs / c.BusyMs }

// Others are the contributors behind the last item.
type Others struct {
	Count          int
	Sum            float64 // of their values
	Calls, TotalMs float64
}

// Add adds a contributor, each once. Join adds up those that several engines have.
func (r *Ranking) Add(c Contributor) {
	r.Sampled = true
	if n := len(r.Items); n == r.Limit && r.compare(c, r.Items[n-1]) > 0 {
		r.Others.Add(c)
		return
	}
	place, _ := slices.BinarySearchFunc(r.Items, c, r.compare)
	r.Items = slices.Insert(r.Items, place, c)
	if n := len(r.Items); n > r.Limit {
		r.Others.Add(r.Items[n-1])
		r.Items = r.Items[:n-1]
	}
}

// AddStatement adds a statement of c's instance. Its id, which is a SHA-1, is computed only if
// it may be an item: 200,000 of them take longer than everything else.
func (r *Ranking) AddStatement(c Contributor, hash uint64) {
	if n := len(r.Items); n == r.Limit && r.part(c) < r.part(r.Items[n-1]) {
		r.Others.Add(c)
		return
	}
	c.Statement = StatementID(c.Instance, hash)
	r.Add(c)
}

// Join adds the contributors of another engine. A category or a name may belong to several
// engines, and so may the statement that is not known.
func (r *Ranking) Join(o Ranking) {
	r.Sampled = r.Sampled || o.Sampled
	if r.shared() || r.By == ByStatement {
		r.addUp(append(r.Items, o.Items...), func(c Contributor) Contributor { return c })
	} else {
		for _, c := range o.Items {
			r.Add(c)
		}
	}
	r.Coverage.AttributedMs += o.Coverage.AttributedMs
	r.Coverage.BusyMs += o.Coverage.BusyMs
	r.Coverage.Instances += o.Coverage.Instances
	r.Others.Count += o.Others.Count
	r.Others.Sum += o.Others.Sum
	r.Others.Calls += o.Others.Calls
	r.Others.TotalMs += o.Others.TotalMs
}

// addUp makes the items of contributors, of which those that become the same are one.
func (r *Ranking) addUp(all []Contributor, of func(Contributor) Contributor) {
	values := make(map[Contributor]float64, len(all))
	for _, c := range all {
		c = of(c)
		value := c.Value
		c.Value = 0
		values[c] += value
	}
	r.Items = make([]Contributor, 0, len(values))
	for c, value := range values {
		c.Value = value
		r.Items = append(r.Items, c)
	}
	slices.SortFunc(r.Items, r.compare)
	r.cut(r.Limit)
}

// cut leaves only so many items.
func (r *Ranking) cut(limit int) {
	for r.Limit = limit; len(r.Items) > limit; r.Items = r.Items[:len(r.Items)-1] {
		r.Others.Add(r.Items[len(r.Items)-1])
	}
}

// Add adds a contributor to them.
func (o *Others) Add(c Contributor) {
	o.Count++
	o.Sum += c.Value
	o.Calls += c.Calls
	o.TotalMs += c.TotalMs
}

// compare is the order: the greatest part first, and equal parts by their identities.
func (r *Ranking) compare(a, b Contributor) int {
	return cmp.Or(
		cmp.Compare(r.part(b), r.part(a)),
		cmp.Compare(a.Host, b.Host), cmp.Compare(a.Mount, b.Mount),
		bytes.Compare(a.Instance[:], b.Instance[:]), bytes.Compare(a.Database[:], b.Database[:]),
		bytes.Compare(a.Statement[:], b.Statement[:]), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name),
	)
}

// part is what a contributor has of the figure: its time where the figure is an average
// over executions.
func (r *Ranking) part(c Contributor) float64 {
	if r.Series == Average {
		return c.TotalMs
	}
	return c.Value
}

// Total is the tile's figure over the span; NaN in a gap, which connections do not have.
func (r *Ranking) Total() float64 {
	sum, calls, totalMs := r.Others.Sum, r.Others.Calls, r.Others.TotalMs
	for _, c := range r.Items {
		sum, calls, totalMs = sum+c.Value, calls+c.Calls, totalMs+c.TotalMs
	}
	switch {
	case !r.Sampled && r.isConnections():
		return 0 // as Tiles.Connections has it
	case !r.Sampled:
		return math.NaN()
	case r.Series == CPU || r.Series == Memory:
		return sum / float64(len(r.Items)+r.Others.Count) // 0 by 0 is NaN
	case r.Series == Average:
		return totalMs / calls
	case !r.isMaximum():
		return sum
	case len(r.Items) > 0:
		return r.Items[0].Value
	}
	return math.NaN()
}

// isConnections says that the figure is one of the card of connections.
func (r *Ranking) isConnections() bool {
	return r.Series == ConnectionsTotal || r.Series == ConnectionsActive || r.Series == ConnectionsIdle || r.Series == ConnectionsThatWait
}

// isMaximum says that the figure is its first item's.
func (r *Ranking) isMaximum() bool { return r.Series == Disk || r.Series == Maximum }

// OthersValue is the others' mean or sum, as the series has it; NaN where there are none,
// or where the figure is a maximum.
func (r *Ranking) OthersValue() float64 {
	switch {
	case r.Others.Count == 0 || r.isMaximum():
		return math.NaN()
	case r.Series == CPU || r.Series == Memory:
		return r.Others.Sum / float64(r.Others.Count)
	case r.Series == Average:
		return r.Others.TotalMs / r.Others.Calls
	}
	return r.Others.Sum
}

// Share is the part of the whole, from 0 to 1, that a contributor has; NaN where the
// figure is a mean over hosts or a maximum, and where the whole is nothing.
func (r *Ranking) Share(c Contributor) float64 {
	if r.isMaximum() || r.Series == CPU || r.Series == Memory {
		return math.NaN()
	}
	whole := r.Others.Sum
	if r.Series == Average {
		whole = r.Others.TotalMs
	}
	for _, item := range r.Items {
		whole += r.part(item)
	}
	return r.part(c) / whole
}

// OthersShare is the part of the whole that the others have.
func (r *Ranking) OthersShare() float64 {
	return r.Share(Contributor{Value: r.Others.Sum, TotalMs: r.Others.TotalMs})
}
