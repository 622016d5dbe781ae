package tiles

import (
	"context"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/timegrid"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	projected "muster/projections/fleet"
)

type statementsAnswer struct{ wire.Tagged }

func (a statementsAnswer) VisitListStatementsResponse(w http.ResponseWriter) error { return a.Write(w) }
func (a statementsAnswer) VisitGetStatementResponse(w http.ResponseWriter) error   { return a.Write(w) }

// seesTexts says whether the caller may see what statements are: viewers may not.
func seesTexts(ctx context.Context) bool { return !wire.HidesPeople(ctx) }

func (s *TileRoutes) ListStatements(ctx context.Context, r api.ListStatementsRequestObject) (api.ListStatementsResponseObject, error) {
	p := r.Params
	w, broken := wire.SpanAt(s.Now(), p.From, p.To)
	var off []api.FieldError
	if p.Q != nil && wire.Caller(ctx).Organization.StatementTexts == organization.TextsOff {
		off = wire.BrokenParameter("q", "texts_off", "looks for texts, and the organization keeps none", nil)
	}
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken, off)
	if err != nil {
		return nil, err
	}
	read := s.statementsIn(ctx, scope, p.DatabaseId, measurements.SpanOf(w.From, w.To, w.Now), w.Now)
	if err := read.narrow(ctx, s); err != nil {
		return nil, err
	}
	all, err := read.of(ctx, read.scope, read.span)
	if err != nil {
		return nil, notKept(err)
	}
	if p.Q != nil {
		if err := s.search(ctx, read.scope, &all, *p.Q); err != nil {
			return nil, err
		}
	}
	var side wire.Side
	hidden := to(0)
	if wire.Value(p.Own) != api.ListStatementsParamsOwnInclude {
		if hidden, err = s.leaveOwn(ctx, read, &all); side.Lacks(ctx, err, "ownStatements") {
			hidden = nil // they are in the list
		}
	}
	page, size := wire.Or(p.Page, 1), wire.Or(p.PageSize, wire.DefaultPageSize)
	var before previously
	switch wire.Value(p.Only) {
	case api.New:
		first, err := s.Tiles.Store.MatchStatements(ctx, read.organization, read.scope, measurements.StatementMatch{FirstFrom: read.span.From, FirstTo: read.span.To})
		if err != nil {
			return nil, err
		}
		all.Items = slices.DeleteFunc(all.Items, func(one measurements.StatementSums) bool { return !first[one.StatementRef] })
	case api.Slower:
		if before, err = read.before(ctx, read.scope); err != nil {
			return nil, notKept(err)
		}
		all.Slower(before.of)
	}
	order := measurements.StatementOrder("-totalMs")
	if p.Sort != nil {
		order = measurements.StatementOrder(*p.Sort)
	}
	items := all.Page(order, page, size)
	if before.of == nil {
		before = read.beforeThese(ctx, items, &side, "previousFrom", "items.previous", "items.watchedSince")
	}
	answer := api.StatementPage{
		From: read.span.From, To: read.span.To, PreviousFrom: before.from, Page: wire.Paged(ctx, page, size, int64(len(all.Items))),
		OwnStatements: hidden, Engines: engines(all.Engines), PartialEngines: engines(all.Partial), Incomplete: all.Incomplete || before.incomplete,
	}
	if answer.Items, err = s.showStatements(ctx, all, items, before, read.span, &side, "items"); err != nil {
		return nil, err
	}
	answer.Unavailable = side.Unavailable()
	tagged, err := wire.NewTagged(ctx, answer, nil)
	return statementsAnswer{tagged}, err
}

// leaveOwn takes Muster's own statements out, and counts them.
func (s *TileRoutes) leaveOwn(ctx context.Context, read *statementRead, all *measurements.Statements) (*int, error) {
	own, err := s.Tiles.Store.MatchStatements(ctx, read.organization, read.scope, measurements.StatementMatch{Own: true})
	if err != nil {
		return nil, err
	}
	before := len(all.Items)
	all.Items = slices.DeleteFunc(all.Items, func(one measurements.StatementSums) bool { return own[one.StatementRef] })
	return to(before - len(all.Items)), nil
}

func to[T any](v T) *T { return &v }

// statementRead is whose statements are read, and when.
type statementRead struct {
	tiles        *measurements.Tiles
	organization uuid.UUID
	scope        measurements.StatementScope
	span         measurements.Span
	now          time.Time
}

func (s *TileRoutes) statementsIn(ctx context.Context, scope fleet.Scope, database *uuid.UUID, span measurements.Span, now time.Time) *statementRead {
	return &statementRead{s.Tiles, wire.Caller(ctx).Organization.ID, measurements.StatementScope{Scope: scope, Database: wire.Value(database)}, span, now}
}

// narrow reads of one database no other server than its own.
func (r *statementRead) narrow(ctx context.Context, s *TileRoutes) error {
	if r.scope.Database == uuid.Nil || r.scope.Filtered {
		return nil
	}
	d, ok, err := s.Fleet.Database(ctx, r.organization, r.scope.Database)
	if ok {
		r.scope.Scope = fleet.Scope{Filtered: true, Instances: []uuid.UUID{d.InstanceID}}
	}
	return err
}

func (r *statementRead) of(ctx context.Context, scope measurements.StatementScope, span measurements.Span) (measurements.Statements, error) {
	return r.tiles.Statements(ctx, r.organization, scope, span, r.now)
}

// previously is what statements did in the window before; from is nil where that is not
// kept.
type previously struct {
	from       *time.Time
	of         map[measurements.StatementRef]measurements.StatementSums
	sampled    map[uuid.UUID]bool // the instances of which anything is known then
	incomplete bool
}

// watchedSince is since when the statements of an instance are watched, as far as that
// bears on the window before; nil where that was not noted.
func (p previously) watchedSince(of measurements.NamedStatement, instance uuid.UUID, span measurements.Span) *time.Time {
	since := of.WatchedFrom
	if p.from != nil && !p.sampled[instance] && since.Before(span.From) {
		since = span.From
	}
	if !since.After(notNoted) {
		return nil
	}
	return wire.UTC(&since)
}

// notNoted stands for the beginning of what was watched before that was noted (migration 86).
var notNoted = time.Unix(0, 0)

// before reads what statements in scope did in the window before.
func (r *statementRead) before(ctx context.Context, scope measurements.StatementScope) (previously, error) {
	span := r.span.Previous(r.now)
	all, err := r.of(ctx, scope, span)
	return previously{&span.From, all.ByRef(), all.Sampled, all.Incomplete}, err
}

// beforeThese reads what some statements did in the window before, of their servers alone. It
// is a side figure, which the answer has at these paths.
func (r *statementRead) beforeThese(ctx context.Context, items []measurements.StatementSums, side *wire.Side, paths ...string) previously {
	scope := fleet.Scope{Filtered: true}
	for _, one := range items {
		if !slices.Contains(scope.Instances, one.Instance) {
			scope.Instances = append(scope.Instances, one.Instance)
		}
	}
	limited, cancel := side.Limited(ctx)
	defer cancel()
	before, err := r.before(limited, measurements.StatementScope{Scope: scope, Database: r.scope.Database})
	var notKept *measurements.NotKeptError
	if errors.As(err, &notKept) || side.Lacks(ctx, err, paths...) {
		return previously{}
	}
	return before
}

// search leaves the statements that have a text in their own, which only those see who
// see texts, or in the name of their server or database.
func (s *TileRoutes) search(ctx context.Context, scope measurements.StatementScope, all *measurements.Statements, text string) (err error) {
	organization := wire.Caller(ctx).Organization.ID
	var matched map[measurements.StatementRef]bool
	if seesTexts(ctx) {
		if matched, err = s.Tiles.Store.MatchStatements(ctx, organization, scope, measurements.StatementMatch{Text: text}); err != nil {
			return err
		}
	}
	names, err := s.namesOf(ctx, all.Items)
	if err != nil {
		return err
	}
	text = strings.ToLower(text)
	called := make(map[uuid.UUID]bool, len(names))
	for id, is := range names {
		called[id] = strings.Contains(strings.ToLower(is.Name), text)
	}
	all.Items = slices.DeleteFunc(all.Items, func(one measurements.StatementSums) bool {
		return !matched[one.StatementRef] && !called[one.Instance] && !called[one.Database]
	})
	return nil
}

// namesOf are what the servers and databases of statements are called.
func (s *TileRoutes) namesOf(ctx context.Context, items []measurements.StatementSums) (map[uuid.UUID]projected.Named, error) {
	seen := make(map[uuid.UUID]bool)
	var ids []uuid.UUID
	for _, one := range items {
		for _, id := range []uuid.UUID{one.Instance, one.Database} {
			if !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
		}
	}
	return s.Fleet.Names(ctx, wire.Caller(ctx).Organization.ID, ids)
}

// showStatements are items of all, with what is known of them; at is where the answer has them.
func (s *TileRoutes) showStatements(ctx context.Context, all measurements.Statements, items []measurements.StatementSums, before previously, span measurements.Span, side *wire.Side, at string) ([]api.Statement, error) {
	names, err := s.namesOf(ctx, items)
	if err != nil {
		return nil, err
	}
	known, err := s.Tiles.Store.NameStatements(ctx, wire.Caller(ctx).Organization.ID,
		wire.List(items, func(one measurements.StatementSums) uuid.UUID { return one.ID() }))
	if side.Lacks(ctx, err, at+".key", at+".text", at+".firstSeenAt", at+".ranBefore", at+".lastSeenAt", at+".watchedSince", at+".new") {
		known = nil
	}
	sees := seesTexts(ctx)
	return wire.List(items, func(one measurements.StatementSums) api.Statement {
		of := known[one.ID()]
		shown := api.Statement{
			Id:       one.ID(),
			Instance: wire.NamedInstance(names, one.Instance),
			Database: api.ContributingDatabase{Id: one.Database, Name: names[one.Database].Name},
			Calls:    *wire.Rounded(one.Calls, wire.Thousandths), TotalMs: *wire.Rounded(one.TotalMs, wire.Thousandths),
			MeanMs: wire.Rounded(one.MeanMs(), wire.Millionths), MaxMs: wire.Rounded(one.MaxMs, wire.Thousandths), Share: wire.Rounded(all.ShareOf(one), wire.Millionths),
		}
		if known != nil {
			shown.FirstSeenAt, shown.RanBefore, shown.LastSeenAt = wire.UTC(&of.FirstSeen), &of.RanBefore, wire.UTC(&of.LastSeen)
			shown.WatchedSince, shown.New = before.watchedSince(of, one.Instance, span), to(of.NewIn(span.From, span.To))
		}
		if sees {
			shown.Key, shown.Text = wire.Optional(of.Key), wire.Optional(of.Text)
			shown.QueryId, shown.Role = wire.Optional(queryID(of)), wire.Optional(of.Role)
		}
		if was, ran := before.of[one.StatementRef]; ran {
			shown.Previous = &api.PreviousExecutions{Calls: *wire.Rounded(was.Calls, wire.Thousandths), TotalMs: *wire.Rounded(was.TotalMs, wire.Thousandths), MeanMs: *wire.Rounded(was.MeanMs(), wire.Millionths)}
		}
		return shown
	}), nil
}

// postgresqlKey is the key that readers of PostgreSQL give a statement.
var postgresqlKey = regexp.MustCompile(`^(-?[0-9]+)/[0-9]+(/nested)?$`)

// queryID is PostgreSQL's own; empty: the key has none.
func queryID(of measurements.NamedStatement) string {
	parts := postgresqlKey.FindStringSubmatch(of.Key)
	if of.Engine != fleet.PostgreSQL || parts == nil {
		return ""
	}
	return parts[1]
}

func (s *TileRoutes) GetStatement(ctx context.Context, r api.GetStatementRequestObject) (api.GetStatementResponseObject, error) {
	p := r.Params
	organization := wire.Caller(ctx).Organization.ID
	w, broken := wire.WindowAt(s.Now(), p.From, p.To, p.BucketSize)
	if rules := wire.BrokenRules(broken); rules != nil {
		return nil, rules
	}
	known, err := s.Tiles.Store.NameStatements(ctx, organization, []uuid.UUID{r.StatementId})
	of, ok := known[r.StatementId]
	if err := wire.Found(ok && wire.Sees(ctx, of.Instance), err, "statement"); err != nil {
		return nil, err
	}
	if since := measurements.KeptSince(w.Size, w.Now); w.From.Before(since) {
		return nil, notKept(&measurements.NotKeptError{Since: since})
	}
	series, err := s.Tiles.Store.StatementSeries(ctx, organization, of, w.Window, w.Now)
	if err != nil {
		return nil, notKept(err)
	}
	span := measurements.Span{From: w.Start(), To: w.End(), Size: w.Size}
	if span.Size == timegrid.Week {
		span.Size = timegrid.Day
	}
	read := s.statementsIn(ctx, fleet.Scope{Filtered: true, Instances: []uuid.UUID{of.Instance}}, nil, span, w.Now)
	var all measurements.Statements
	_, _, err = s.Tiles.Store.Statements(ctx, organization, of.Engine, read.scope, span, w.Now, all.Add)
	if err != nil {
		return nil, notKept(err)
	}
	one, ran := all.ByRef()[of.StatementRef]
	if !ran {
		one = measurements.StatementSums{StatementRef: of.StatementRef, Database: of.Database, MaxMs: math.NaN()}
	}
	var side wire.Side
	before := read.beforeThese(ctx, []measurements.StatementSums{one}, &side, "previousFrom", "statement.previous", "statement.watchedSince")
	shown, err := s.showStatements(ctx, all, []measurements.StatementSums{one}, before, span, &side, "statement")
	if err != nil {
		return nil, err
	}
	for i, start := range w.Starts() {
		if series.Calls[i] > 0 && (shown[0].LastSeenAt == nil || shown[0].LastSeenAt.Before(start)) {
			shown[0].LastSeenAt = wire.UTC(&start) // what is noted once an hour may lag behind
		}
	}
	answer := api.StatementDetail{
		Statement: shown[0], From: span.From, To: span.To, PreviousFrom: before.from,
		BucketSize: p.BucketSize, BucketStarts: w.Starts(), LastBucketPartial: w.LastIsPartial(), GeneratedAt: w.Now,
		Unavailable: side.Unavailable(),
	}
	answer.Series.Calls, answer.Series.TotalMs, answer.Series.MeanMs, answer.Series.MaxMs = series.Calls, series.TotalMs, series.MeanMs(), series.MaxMs
	steady := answer
	steady.GeneratedAt = time.Time{}
	tagged, err := wire.NewTagged(ctx, answer, steady)
	return statementsAnswer{tagged}, err
}
