package measurements

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// StatementRef identifies a statement of an instance, as in details.
type StatementRef struct {
	Instance uuid.UUID
	Hash     uint64 // HashStatement
}

// ID is what the statement is known by outside.
func (r StatementRef) ID() uuid.UUID { return StatementID(r.Instance, r.Hash) }

// StatementSums is what a statement did in a span, the rules of its engine applied.
type StatementSums struct {
	StatementRef
	Database uuid.UUID
	Calls    float64 // above 0
	TotalMs  float64
	MaxMs    float64
}

// MeanMs is the time of an execution.
func (s StatementSums) MeanMs() float64 { return s.TotalMs / s.Calls }

// NamedStatement is what is known of a statement besides.
type NamedStatement struct {
	StatementRef
	Engine              fleet.Engine
	Database            uuid.UUID
	Key, Text           string // no text: none is kept
	Role                string // who executes it; empty: nobody noted it
	FirstSeen, LastSeen time.Time
	RanBefore           bool      // its server counted executions of it before FirstSeen
	WatchedFrom         time.Time // when the first interval of its instance's statements began; zero: not known
}

// NewIn says that a statement was executed for the first time in a span: its instance was
// watched since before, and its server had counted no execution.
func (s NamedStatement) NewIn(from, to time.Time) bool {
	return !s.FirstSeen.Before(from) && s.FirstSeen.Before(to) && !s.RanBefore && !s.WatchedFrom.IsZero() && !s.WatchedFrom.After(from)
}

// StatementMatch is which statements of a scope are looked for: those whose text has
// Text in it, in whatever case, those that are new (NamedStatement.NewIn) from FirstFrom up
// to FirstTo. What is zero does not matter. With Own they are Muster's own instead, all of them.
type StatementMatch struct {
	Text               string
	FirstFrom, FirstTo time.Time
	Own                bool
}

// StatementSeries is a statement bucket by bucket. Calls and time are NaN where its
// database has no sample, the maximum where nothing was executed.
type StatementSeries struct{ Calls, TotalMs, MaxMs Values }

// MeanMs is the time of an execution; NaN if there is none.
func (s StatementSeries) MeanMs() Values {
	means := make(Values, len(s.Calls))
	for i := range means {
		means[i] = s.TotalMs[i] / s.Calls[i] // 0 by 0 is NaN
	}
	return means
}

// StatementScope is whose statements are asked for.
type StatementScope struct {
	fleet.Scope
	Database uuid.UUID // zero: any
	// Sampled is called for each instance with a sample in scope, once or more; nil: it is not
	// called.
	Sampled func(instance uuid.UUID)
}

// Statements are those that were executed in a span, over all engines.
type Statements struct {
	Items      []StatementSums
	TotalMs    float64            // theirs together
	Engines    []fleet.Engine     // read, and with a sample in the span
	Partial    []fleet.Engine     // those of them of which only a part of the statements is sent
	Incomplete bool               // an engine could not be read
	Sampled    map[uuid.UUID]bool // the instances with a sample in the span
}

// Statements reads them, as QueryPerformance does; in no order. The error is a
// NotKeptError where statements are not kept as far back.
func (t *Tiles) Statements(ctx context.Context, organization uuid.UUID, scope StatementScope, span Span, now time.Time) (Statements, error) {
	all := Statements{Sampled: make(map[uuid.UUID]bool)}
	scope.Sampled = func(instance uuid.UUID) { all.Sampled[instance] = true }
	var err error
	all.Incomplete, err = t.eachKept(ctx, organization, "statements", func(ctx context.Context, engine fleet.Engine) error {
		before, totalMs := len(all.Items), all.TotalMs
		sampled, partial, err := t.Store.Statements(ctx, organization, engine, scope, span, now, all.Add)
		if err != nil { // a part of them is none
			all.Items, all.TotalMs = all.Items[:before], totalMs
		}
		if err != nil || !sampled {
			return err
		}
		all.Engines = append(all.Engines, engine)
		if partial {
			all.Partial = append(all.Partial, engine)
		}
		return nil
	})
	return all, err
}

// Add adds a statement.
func (s *Statements) Add(one StatementSums) {
	s.Items = append(s.Items, one)
	s.TotalMs += one.TotalMs
}

// Previous is the window of the same length that ends where the span begins. Its beginning is
// moved back to an edge of the size that is stored that far back.
func (s Span) Previous(now time.Time) Span {
	from := s.From.Add(s.From.Sub(s.To))
	return Span{SpanOf(from, s.From, now).From, s.From, s.Size}
}

// Slower leaves those whose mean is at least twice what it was before.
func (s *Statements) Slower(previous map[StatementRef]StatementSums) {
	s.Items = slices.DeleteFunc(s.Items, func(one StatementSums) bool {
		before, ran := previous[one.StatementRef]
		return !ran || one.MeanMs() < 2*before.MeanMs()
	})
}

// ByRef are the items, by which they are.
func (s Statements) ByRef() map[StatementRef]StatementSums {
	of := make(map[StatementRef]StatementSums, len(s.Items))
	for _, one := range s.Items {
		of[one.StatementRef] = one
	}
	return of
}

// StatementOrder is a figure that statements are sorted by; with a - in front the
// greatest comes first.
type StatementOrder string

// statementFigures are the figures by their names.
var statementFigures = map[string]func(StatementSums) float64{
	"totalMs": func(s StatementSums) float64 { return s.TotalMs },
	"calls":   func(s StatementSums) float64 { return s.Calls },
	"meanMs":  StatementSums.MeanMs,
	"maxMs":   func(s StatementSums) float64 { return s.MaxMs },
}

// Page returns the items of a page, which is counted from 1, and puts the items in
// another order. Those that are alike come by their time, the longest first, then by their
// ids.
func (s Statements) Page(order StatementOrder, number, size int) []StatementSums {
	name, descending := strings.CutPrefix(string(order), "-")
	figure := statementFigures[name]
	compare := func(a, b StatementSums) int {
		by := cmp.Compare(figure(a), figure(b))
		if descending {
			by = -by
		}
		if by = cmp.Or(by, cmp.Compare(b.TotalMs, a.TotalMs)); by != 0 {
			return by
		}
		one, other := a.ID(), b.ID()
		return bytes.Compare(one[:], other[:])
	}
	end := min(number*size, len(s.Items))
	toFront(s.Items, end, compare)
	return s.Items[min((number-1)*size, end):end]
}

// sortedAtMost is how many of the first items are found one by one: to sort 200,000 takes
// 0.1 s of CPU.
const sortedAtMost = 1000

// toFront sorts the first n items to the front; the others stay behind them in any order.
func toFront[T any](items []T, n int, compare func(a, b T) int) {
	if n > sortedAtMost || n == len(items) {
		slices.SortFunc(items, compare)
		return
	}
	slices.SortFunc(items[:n], compare)
	for i := n; i < len(items) && n > 0; i++ {
		if compare(items[i], items[n-1]) >= 0 {
			continue
		}
		one := items[i]
		items[i] = items[n-1] // falls out
		place, _ := slices.BinarySearchFunc(items[:n-1], one, compare)
		copy(items[place+1:n], items[place:n-1])
		items[place] = one
	}
}

// ShareOf is a statement's part of the total time, from 0 to 1; NaN if there is none.
func (s Statements) ShareOf(one StatementSums) float64 {
	if s.TotalMs == 0 {
		return math.NaN()
	}
	return one.TotalMs / s.TotalMs
}
