package blocking

import (
	"context"
	_ "embed" // the statements
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/episodes.sql
	readEpisodes string
	//go:embed sql/episode.sql
	readEpisode string
	//go:embed sql/samples.sql
	readSamples string
	//go:embed sql/tree.sql
	readTree string
	//go:embed sql/trees.sql
	readTrees string
	//go:embed sql/latest.sql
	readLatest string
)

// Query asks for episodes in a scope that touch a time, a page of them.
type Query struct {
	Organization uuid.UUID
	Scope        fleet.Scope
	From, To     time.Time
	Page, Size   int
}

// Episodes are the ones that a query asks for, the newest first, and how many there are.
func Episodes(ctx context.Context, db sqlx.QueryerContext, q Query) ([]Episode, int64, error) {
	type counted struct {
		Episode
		Total int64
	}
	rows, err := statement.All[counted](ctx, db, "list episodes", readEpisodes, q.Organization, q.Scope.Filtered, statement.IDs(q.Scope.Instances), q.From, q.To, q.Size, (q.Page-1)*q.Size)
	if err != nil {
		return nil, 0, err
	}
	out, total := make([]Episode, len(rows)), int64(0)
	for i, r := range rows {
		out[i], total = r.Episode, r.Total
	}
	if len(rows) == 0 && q.Page > 1 { // beyond the last page
		_, total, err = Episodes(ctx, db, Query{q.Organization, q.Scope, q.From, q.To, 1, 1})
	}
	return out, total, err
}

// Find returns an episode of an organization; ok is false where there is none.
func Find(ctx context.Context, db sqlx.QueryerContext, organization, id uuid.UUID) (e Episode, ok bool, err error) {
	return statement.Find[Episode](ctx, db, "read an episode", readEpisode, organization, id)
}

// Moment is a sample of an episode.
type Moment struct {
	At      time.Time
	Waiting int
	Tree    bool // its tree is kept
	Root    Held
}

// MaxMoments is how many samples of an episode are returned: of more, every n-th one, and those
// with the most waiting sessions of each n.
const MaxMoments = 500

// Moments are the samples of an episode that are kept, in the order of their times.
func Moments(ctx context.Context, db sqlx.QueryerContext, organization uuid.UUID, e Episode) ([]Moment, error) {
	return statement.All[Moment](ctx, db, "read the samples of an episode", readSamples, organization, e.Instance, e.Advisory, e.First, e.Last, MaxMoments)
}

// TreeAt returns the tree of an episode at a time: the newest one that is kept and not younger, or
// the first one; ok is false where none is kept any more.
func TreeAt(ctx context.Context, db sqlx.QueryerContext, organization uuid.UUID, e Episode, at time.Time) (tree Tree, of time.Time, ok bool, err error) {
	row, ok, err := statement.Find[struct {
		At   time.Time
		Tree Tree
	}](ctx, db, "read a tree", readTree, organization, e.Instance, e.Advisory, e.First, e.Last, at)
	return row.Tree, row.At, ok, err
}

// MaxTreeSessions is how many sessions the trees of an episode have together that Trees returns.
const MaxTreeSessions = 5000

// chosen are the times of the moments whose trees are returned: all, or if these have more than most
// sessions, the first, that of the most waiting sessions, the last, and as many between as fit.
func chosen(moments []Moment, most int) []time.Time {
	var kept []Moment
	all, peak := 0, 0
	for _, m := range moments {
		if !m.Tree {
			continue
		}
		all += min(m.Waiting+1, MaxNodes)
		if kept = append(kept, m); m.Waiting > kept[peak].Waiting {
			peak = len(kept) - 1
		}
	}
	every := (all + most - 1) / most
	var out []time.Time
	for i, m := range kept {
		if i%every == 0 || i == peak || i == len(kept)-1 {
			out = append(out, m.At)
		}
	}
	return out
}

// Trees are the trees of moments of an episode by their times: all that are kept, or some of them, if these
// have more than MaxTreeSessions sessions.
func Trees(ctx context.Context, db sqlx.QueryerContext, organization uuid.UUID, e Episode, moments []Moment) (map[time.Time]Tree, error) {
	times := chosen(moments, MaxTreeSessions)
	if len(times) == 0 {
		return nil, nil
	}
	rows, err := statement.All[struct {
		At   time.Time
		Tree Tree
	}](ctx, db, "read the trees of an episode", readTrees, organization, e.Instance, e.Advisory, times)
	out := make(map[time.Time]Tree, len(rows))
	for _, r := range rows {
		out[r.At.UTC()] = r.Tree
	}
	return out, err
}

// Latest returns the episode of a class of a server that lasts, with its newest tree; ok is false
// where none does, by a sample that is no older than since.
func Latest(ctx context.Context, db sqlx.QueryerContext, organization, instance uuid.UUID, advisory bool, since time.Time) (e Episode, tree Tree, of time.Time, ok bool, err error) {
	e, ok, err = statement.Find[Episode](ctx, db, "look for an episode that lasts", readLatest, organization, instance, advisory, since)
	if err != nil || !ok {
		return e, tree, of, false, err
	}
	tree, of, ok, err = TreeAt(ctx, db, organization, e, e.Last)
	return e, tree, of, ok, err
}
