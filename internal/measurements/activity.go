package measurements

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/domain/timegrid"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/waitclass"
)

// State is what a session does that is on the CPU or waits.
type State string

// The states of a session that Activity counts. A session is idle if it waits for its client to
// say something: PostgreSQL and Oracle have a wait for that.
const (
	OnCPU             State = "cpu"
	Waits             State = "waiting"
	Idle              State = "idle"
	IdleInTransaction State = "idleInTransaction"
	OtherState        State = "other"
)

// States returns every state. A stored state is its place, so new ones come last.
func States() []State { return []State{OnCPU, Waits, Idle, IdleInTransaction, OtherState} }

// Doing is a number of sessions of one database that do the same for the same people: on the CPU,
// or waiting. Texts that are empty are not known.
type Doing struct {
	State       State
	Wait        string // as in SessionSample.Waits; empty on the CPU
	Event       string // the single event, as the engine names it; empty on the CPU
	Statement   string // as in Statement.Key
	User        string
	Application string
	Client      string // name or address of its host
	Sessions    int64
}

// Activity is what the sample says of each session that is on the CPU or waits: of each wait as
// many as Waits has, and on the CPU as many as are Active. What Doing lacks of them is added
// without details, and what it has in excess is left out. tellsCPU is false if the sample does
// not say how many are on the CPU.
func (s *SessionSample) Activity() (all []Doing, tellsCPU bool) {
	left := make(map[string]int64, len(s.Waits)+1)
	for wait, n := range s.Waits {
		if _, waits := Classify(s.Engine, wait); waits && n > 0 {
			left[wait] = n
		}
	}
	if tellsCPU = s.Part == WholeSessions && !s.Partial; tellsCPU && s.Active > 0 {
		left[""] = s.Active
	}
	for _, d := range s.Doing {
		if (d.State == OnCPU) != (d.Wait == "") {
			continue
		}
		if d.Sessions = min(d.Sessions, left[d.Wait]); d.Sessions > 0 {
			left[d.Wait] -= d.Sessions
			d.clean()
			all = append(all, d)
		}
	}
	for wait, n := range left {
		if n > 0 {
			all = append(all, Doing{State: stateOf(wait), Wait: wait, Sessions: n})
		}
	}
	slices.SortFunc(all, Doing.Compare)
	return all, tellsCPU
}

// Name is its name of a dimension that is Named; empty: it is not known.
func (d *Doing) Name(of Dimension) string {
	switch of {
	case DimWaitEvent:
		return d.Event
	case DimUser:
		return d.User
	case DimApplication:
		return d.Application
	case DimClient:
		return d.Client
	case DimState, DimWaitClass, DimStatement, DimDatabase, DimInstance:
	}
	return ""
}

// Compare is the order in which doings are written.
func (d Doing) Compare(o Doing) int {
	return cmp.Or(cmp.Compare(d.State, o.State), cmp.Compare(d.Wait, o.Wait), cmp.Compare(d.Event, o.Event), cmp.Compare(d.Statement, o.Statement),
		cmp.Compare(d.User, o.User), cmp.Compare(d.Application, o.Application), cmp.Compare(d.Client, o.Client), cmp.Compare(d.Sessions, o.Sessions))
}

// maxName is how many characters of a name are kept.
const maxName = 200

// clean makes names legible, and cuts them: they come from whoever connects to a server.
func (d *Doing) clean() {
	for _, name := range []*string{&d.Event, &d.User, &d.Application, &d.Client} {
		*name = printable.Cut(printable.Clean(strings.ReplaceAll(*name, "\x00", "")), maxName)
	}
}

// stateOf is the state of sessions of which only the wait is known.
func stateOf(wait string) State {
	if wait == "" {
		return OnCPU
	}
	return Waits
}

// WithoutPeople is a copy of samples whose sessions belong to nobody.
func WithoutPeople(samples []SessionSample) []SessionSample {
	samples = slices.Clone(samples)
	for i := range samples {
		s := &samples[i]
		s.Doing = slices.Clone(s.Doing)
		for j := range s.Doing {
			s.Doing[j].User, s.Doing[j].Application, s.Doing[j].Client = "", "", ""
		}
	}
	return samples
}

// Dimension says what Activity is divided by.
type Dimension string

// The dimensions.
const (
	DimState       Dimension = "state"
	DimWaitClass   Dimension = "waitClass"
	DimWaitEvent   Dimension = "waitEvent"
	DimStatement   Dimension = "statement"
	DimUser        Dimension = "user"
	DimApplication Dimension = "application"
	DimClient      Dimension = "client"
	DimDatabase    Dimension = "database"
	DimInstance    Dimension = "instance"
)

// Dimensions returns every dimension.
func Dimensions() []Dimension {
	return []Dimension{DimState, DimWaitClass, DimWaitEvent, DimStatement, DimUser, DimApplication, DimClient, DimDatabase, DimInstance}
}

// Personal says that a dimension is personal data.
func (d Dimension) Personal() bool { return d == DimUser || d == DimApplication || d == DimClient }

// Named says that the values of a dimension are names that the servers' sessions bring: the store
// keeps them apart, by their hashes (NameKey).
func (d Dimension) Named() bool { return d == DimWaitEvent || d.Personal() }

// NameKey is what an organization's names of people are hashed with: without it nobody can tell
// whose a hash is, or try names. It ends with the names (sessionDetail).
type NameKey [32]byte

// Hash identifies a name of a dimension; 0: there is none. Names of waits, which are nobody's, are
// the same for all.
func (k NameKey) Hash(of Dimension, name string) uint64 {
	if name == "" {
		return 0
	}
	var h hash.Hash
	if of.Personal() {
		h = sha256.New()
		_, _ = h.Write(k[:])
	} else {
		h = fnv.New64a()
	}
	_, _ = h.Write([]byte(of))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(name))
	return max(binary.BigEndian.Uint64(h.Sum(nil)), RestHash+1)
}

// RestHash stands for the names of sessions that were too many to be kept one by one.
const RestHash = 1

// MaxDoings is how many combinations of a bucket and a database are kept one by one: those with the
// most sessions. The others are kept by their state and class of wait (contract, §33).
const MaxDoings = 200

// ActivityKey is a value of a dimension: what the dimension is not about is zero. The zero value
// is the sessions of which the value is not known.
type ActivityKey struct {
	State              State
	Class              int // of waits; waitclass.OnCPU: on the CPU
	Name               uint64
	Rest               bool // all that were too many to be kept one by one
	Statement          uint64
	Instance, Database uuid.UUID
}

// ActivityPart is one engine's part of the activity, a line for each value of a dimension.
type ActivityPart struct {
	Lines map[ActivityKey]Values // NaN where nothing is known
	// Classes are those of each line; nil: they are not known.
	Classes map[ActivityKey]ByClass
	// RestLines is how many lines the one of the rest stands for, if that is known; sessions that
	// were too many to be kept one by one are one.
	RestLines int
	// Sampled says of each bucket whether sessions were sampled, and Told whether sessions on the
	// CPU were.
	Sampled, Told []bool
	Partial       bool
}

// Deadlocks are those of the databases of one engine, or of all.
type Deadlocks struct {
	Lines  map[DatabaseOf]Values // of the databases with the most; NaN where none was counted
	Total  Values                // of all databases; NaN where none was counted
	Others int                   // databases with a deadlock that have no line
}

// DatabaseOf is a database of an instance.
type DatabaseOf struct{ Instance, Database uuid.UUID }

// ClassOnCPU is the class of sessions on the CPU.
const ClassOnCPU = waitclass.OnCPU

// ActivityQuery says what to divide activity by.
type ActivityQuery struct {
	By     Dimension
	States []State // that count; none: all
	// Names are those of whose sessions count, of dimensions that are Personal; of one without any,
	// all do. Sessions of which the name is not known, or that were too many to be kept one by one,
	// have none.
	Names map[Dimension][]string
	// Limit is how many lines are wanted one by one; 0: all. The store may add the others up as the
	// rest. A dimension that is Named has none: lines without a name become one, which may be the
	// greatest.
	Limit int
}

// Counts says whether sessions in a state count.
func (q *ActivityQuery) Counts(s State) bool {
	return len(q.States) == 0 || slices.Contains(q.States, s)
}

// ByClass is what a line's sessions do: how many are on the CPU (last), or wait for something of
// each class, added up over the buckets in which sessions were sampled.
type ByClass [waitclass.Categories + 1]float64

func (c *ByClass) add(o ByClass) {
	for i, v := range o {
		c[i] += v
	}
}

// Of is the part of an average that each class has.
func (c *ByClass) Of(average float64) (parts ByClass) {
	sum := 0.0
	for _, v := range c {
		sum += v
	}
	for i, v := range c {
		if sum > 0 {
			parts[i] = v / sum * average
		}
	}
	return parts
}

// Activity is how many sessions were on the CPU or waited at once, on average, bucket by bucket and
// by a dimension. All lines together are the wait events of the same window and what was on the
// CPU, if all states count.
//
// Of a database, the average of sessions that wait is over the samples in which one waits (as the
// tile has it, §4.6), and that of sessions on the CPU over all of its samples that tell.
type Activity struct {
	Lines      []ActivityLine // the greatest first
	Others     Values         // sessions too many to be kept one by one, and lines that were cut off; nil: there are none
	OtherLines int            // of how many Others is; sessions of an engine that were too many to be kept one by one are one
	Total      Values
	Engines    []fleet.Engine // read, and with a sample in the window
	Partial    []fleet.Engine
	Incomplete bool // an engine could not be read
}

// ActivityLine is one of the lines.
type ActivityLine struct {
	ActivityKey
	Text    string // the name, of a dimension that is Named; empty: it is not known
	Values  Values
	Average float64  // over the buckets in which sessions were sampled
	Classes *ByClass // nil: not known
}

// Average is the mean of a line without its gaps; NaN if there is nothing else.
func (v Values) Average() float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n) // 0 by 0 is NaN
}

// Activity reads what sessions did, as QueryPerformance reads its tile.
func (t *Tiles) Activity(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window, q ActivityQuery) (Activity, error) {
	all := Activity{Total: Gaps(w.Len())}
	lines, told := make(map[ActivityKey]Values), make([]bool, w.Len())
	classes, classed := make(map[ActivityKey]ByClass), true
	var err error
	all.Incomplete, err = t.eachKept(ctx, organization, "activity", func(ctx context.Context, engine fleet.Engine) error {
		part, err := t.Store.Activity(ctx, organization, engine, scope, w, q)
		if err != nil || !slices.Contains(part.Sampled, true) {
			return err
		}
		all.Engines = append(all.Engines, engine)
		if part.Partial {
			all.Partial = append(all.Partial, engine)
		}
		nothing := Gaps(w.Len())
		for i, sampled := range part.Sampled {
			if sampled {
				nothing[i] = 0
			}
			told[i] = told[i] || part.Told[i]
		}
		all.Total.addValues(nothing)
		if part.Lines[ActivityKey{Rest: true}] != nil {
			all.OtherLines += max(part.RestLines, 1)
		}
		classed = classed && part.Classes != nil
		for key, line := range part.Lines {
			sum := classes[key]
			sum.add(part.Classes[key])
			classes[key] = sum
			all.Total.addValues(line)
			if lines[key] == nil {
				lines[key] = line
			} else {
				lines[key].addValues(line)
			}
		}
		return nil
	})
	if err != nil {
		return all, err
	}
	for key, line := range lines { // a line of one engine is nothing where only others were sampled, or tell of the CPU
		for i, total := range all.Total {
			if math.IsNaN(line[i]) && !math.IsNaN(total) && (told[i] || !key.OnCPU()) {
				line[i] = 0
			}
		}
	}
	for key, line := range lines {
		if key.Rest {
			all.addOther(line, 0) // they are counted
		} else {
			one := ActivityLine{ActivityKey: key, Values: line, Average: line.Average()}
			if sum := classes[key]; classed {
				one.Classes = &sum
			}
			all.Lines = append(all.Lines, one)
		}
	}
	all.sort()
	return all, nil
}

func (a *Activity) sort() {
	slices.SortFunc(a.Lines, func(x, y ActivityLine) int {
		return cmp.Or(cmp.Compare(y.Average, x.Average), x.Compare(y.ActivityKey))
	})
}

// Cut leaves so many lines, and adds up the others.
func (a *Activity) Cut(limit int) {
	for _, line := range a.Lines[min(limit, len(a.Lines)):] {
		a.addOther(line.Values, 1)
	}
	a.Lines = a.Lines[:min(limit, len(a.Lines))]
}

func (a *Activity) addOther(line Values, lines int) {
	if a.Others == nil {
		a.Others = Gaps(len(line))
	}
	a.Others.addValues(line)
	a.OtherLines += lines
}

// OnCPU says that the line is of sessions on the CPU alone, which not every sample tells.
func (k ActivityKey) OnCPU() bool { return k.State == OnCPU || k.Class == ClassOnCPU }

// Compare is an order of keys.
func (k ActivityKey) Compare(o ActivityKey) int {
	return cmp.Or(cmp.Compare(k.State, o.State), cmp.Compare(k.Class, o.Class), cmp.Compare(k.Name, o.Name), cmp.Compare(k.Statement, o.Statement),
		bytes.Compare(k.Instance[:], o.Instance[:]), bytes.Compare(k.Database[:], o.Database[:]))
}

// NameLines gives the lines of a dimension that is Named their names. Lines whose names are gone
// become one line: nobody can tell them apart any more. Where names cannot be read, all do.
func (t *Tiles) NameLines(ctx context.Context, organization uuid.UUID, by Dimension, a *Activity) error {
	if !by.Named() {
		return nil
	}
	var hashes []uint64
	for _, line := range a.Lines {
		if line.Name != 0 {
			hashes = append(hashes, line.Name)
		}
	}
	texts, err := t.Store.Names(ctx, organization, by, hashes)
	named := a.Lines[:0]
	places := make(map[ActivityKey]int)
	for _, line := range a.Lines {
		if line.Text = texts[line.Name]; line.Text == "" {
			line.Name = 0
		}
		if at, again := places[line.ActivityKey]; again {
			named[at].Values.addValues(line.Values)
			named[at].Average = named[at].Values.Average()
			if line.Classes != nil {
				named[at].Classes.add(*line.Classes)
			}
			continue
		}
		places[line.ActivityKey] = len(named)
		named = append(named, line)
	}
	a.Lines = named
	a.sort()
	return err
}

// Sum adds a line up without its gaps.
func (v Values) Sum() (sum float64) {
	for _, x := range v {
		if !math.IsNaN(x) {
			sum += x
		}
	}
	return sum
}

// DeadlocksOf are the deadlocks of all engines.
type DeadlocksOf struct {
	Deadlocks
	Engines    []fleet.Engine // read, and with a database that tells
	Incomplete bool           // an engine could not be read
}

// Add adds deadlocks whose databases are not known, as those of database uuid.Nil of their instances.
func (d *DeadlocksOf) Add(w timegrid.Window, bare []blocking.Bare) {
	for _, b := range bare {
		of := DatabaseOf{Instance: b.Instance}
		if d.Lines[of] == nil {
			d.Lines[of] = Gaps(w.Len())
		}
		one := Gaps(w.Len())
		one[w.Index(b.At)] = float64(b.Count)
		d.Lines[of].addValues(one)
		d.Total.addValues(one)
	}
}

// Most are so many databases of numbers of deadlocks, those with the most first.
func Most(counts map[DatabaseOf]float64, limit int) []DatabaseOf {
	order := slices.SortedFunc(maps.Keys(counts), func(a, b DatabaseOf) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), bytes.Compare(a.Instance[:], b.Instance[:]), bytes.Compare(a.Database[:], b.Database[:]))
	})
	return order[:min(limit, len(order))]
}

// Cut leaves the lines of so many databases, those with the most deadlocks, and counts the others.
func (d *DeadlocksOf) Cut(limit int) {
	counts := make(map[DatabaseOf]float64, len(d.Lines))
	for of, line := range d.Lines {
		if sum := line.Sum(); sum > 0 {
			counts[of] = sum
		}
	}
	lines := make(map[DatabaseOf]Values, min(limit, len(counts)))
	for _, of := range Most(counts, limit) {
		lines[of] = d.Lines[of]
	}
	d.Others += len(counts) - len(lines)
	d.Lines = lines
}

// Deadlocks reads how many deadlocks there were, as QueryPerformance reads its tile. Each engine has at
// most as many lines as limit says.
func (t *Tiles) Deadlocks(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window, limit int) (DeadlocksOf, error) {
	all := DeadlocksOf{Deadlocks: Deadlocks{Lines: make(map[DatabaseOf]Values), Total: Gaps(w.Len())}}
	var err error
	all.Incomplete, err = t.eachKept(ctx, organization, "deadlocks", func(ctx context.Context, engine fleet.Engine) error {
		part, err := t.Store.Deadlocks(ctx, organization, engine, scope, w, limit)
		if err != nil || !slices.ContainsFunc(part.Total, func(v float64) bool { return !math.IsNaN(v) }) {
			return err
		}
		all.Engines = append(all.Engines, engine)
		maps.Copy(all.Lines, part.Lines)
		all.Total.addValues(part.Total)
		all.Others += part.Others
		return nil
	})
	return all, err
}
