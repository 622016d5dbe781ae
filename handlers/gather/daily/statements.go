package daily

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/report/snapshot/day"
)

type statementFacts struct {
	now     measurements.Statements
	before  map[measurements.StatementRef]measurements.StatementSums
	fresh   map[measurements.StatementRef]bool
	names   map[uuid.UUID]measurements.NamedStatement
	missing bool
}

// hours are the whole hours of a day.
func (f *facts) hours() measurements.Span {
	return measurements.Span{From: f.From.UTC().Truncate(time.Hour), To: f.To.UTC().Truncate(time.Hour), Size: timegrid.Hour}
}

// readStatements reads what statements did on the day and on the day before, without Muster's own.
func (r *Reader) readStatements(ctx context.Context, f *facts) error {
	s := &f.statements
	scope := measurements.StatementScope{Scope: fleet.Scope{Filtered: true, Instances: f.ids()}}
	span := f.hours()
	if len(f.Servers) == 0 || !span.To.After(span.From) {
		return nil
	}
	var gone *measurements.NotKeptError
	now, err := r.Statements.Statements(ctx, f.Organization, scope, span, f.To)
	if errors.As(err, &gone) {
		s.missing = true
		return nil
	}
	if err != nil {
		return err
	}
	s.now, s.missing = now, now.Incomplete
	own, err := r.Names.MatchStatements(ctx, f.Organization, scope, measurements.StatementMatch{Own: true})
	if err != nil {
		return err
	}
	s.now.Items = slices.DeleteFunc(s.now.Items, func(one measurements.StatementSums) bool { return own[one.StatementRef] })
	if s.fresh, err = r.Names.MatchStatements(ctx, f.Organization, scope, measurements.StatementMatch{FirstFrom: span.From, FirstTo: span.To}); err != nil {
		return err
	}
	before, err := r.Statements.Statements(ctx, f.Organization, scope, measurements.Span{From: span.From.Add(span.From.Sub(span.To)), To: span.From, Size: timegrid.Hour}, f.To)
	if err != nil && !errors.As(err, &gone) {
		return err
	}
	s.before = before.ByRef()
	var ids []uuid.UUID
	for _, one := range f.slowest() {
		ids = append(ids, one.ID())
	}
	if len(ids) > 0 && f.Texts {
		s.names, err = r.Names.NameStatements(ctx, f.Organization, ids)
	}
	return err
}

// slowest are the statements that take at least twice as long as on the day before, those that cost
// most first.
func (f *facts) slowest() []measurements.StatementSums {
	all := f.statements.now
	all.Items = slices.Clone(all.Items)
	all.Slower(f.statements.before)
	slices.SortStableFunc(all.Items, func(a, b measurements.StatementSums) int {
		x, y := a.ID(), b.ID()
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), slices.Compare(x[:], y[:]))
	})
	return all.Items
}

// slower are the statements that are new or slower.
func (f *facts) slower() (s day.Statements) {
	s.Missing = f.statements.missing
	s.Servers = len(f.statements.now.Sampled)
	slow := f.slowest()
	s.SlowAll = len(slow)
	for _, one := range slow[:min(len(slow), day.MostStatements)] {
		shown := day.Statement{ID: one.ID(), Now: round(one.MeanMs()), Before: round(f.statements.before[one.StatementRef].MeanMs())}
		if at := f.named(one.Instance); at != nil {
			shown.Server = at.Name
		}
		shown.Text = f.statements.names[one.ID()].Text
		s.Slower = append(s.Slower, shown)
	}
	var newMs, allMs float64
	on := map[string]bool{}
	for _, one := range f.statements.now.Items {
		allMs += one.TotalMs
		if f.statements.fresh[one.StatementRef] {
			s.New++
			newMs += one.TotalMs
			if at := f.named(one.Instance); at != nil {
				on[at.Name] = true
			}
		}
	}
	if s.New > 0 && allMs > 0 {
		share := math.Round(1000*newMs/allMs) / 10
		s.Share = &share
	}
	for name := range on {
		s.NewOn = append(s.NewOn, name)
	}
	slices.SortStableFunc(s.NewOn, strings.Compare)
	s.NewOn = s.NewOn[:min(len(s.NewOn), day.MostNamed)]
	return s
}

func round(ms float64) float64 { return math.Round(100*ms) / 100 }
