package daily

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/findings"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/day"
	"muster/projections"
	projected "muster/projections/exceptions"
)

var (
	//go:embed sql/findings.sql
	findingsSQL string
	//go:embed sql/tokens.sql
	tokensSQL string
)

// finding is an object that broke a check at some time around the day.
type finding struct {
	Instance uuid.UUID  `db:"instance_id"`
	CheckID  string     `db:"check_id"`
	Database string     `db:"database_name"`
	Object   string     `db:"object"`
	Rank     int        `db:"severity"`
	First    time.Time  `db:"first_seen_at"`
	Gone     *time.Time `db:"gone_at"`
	// Of one that went and came back: when it was there before.
	EarlierFirst *time.Time `db:"earlier_first_seen_at"`
	EarlierGone  *time.Time `db:"earlier_gone_at"`
}

// accepted is an exception with the time in which it held.
type accepted struct {
	findings.Exception
	from, to time.Time
}

type token struct {
	Name    string    `db:"name"`
	Kind    string    `db:"kind"`
	Expires time.Time `db:"expires_at"`
}

// readFindings reads the findings, the exceptions and, for a whole organization, the tokens that end soon.
func (r *Reader) readFindings(ctx context.Context, f *facts) (err error) {
	f.findings, err = statement.All[finding](ctx, r.DB, "read the findings of a day", findingsSQL, f.Organization, statement.IDs(f.ids()), f.From, f.To)
	if err != nil {
		return err
	}
	if err := r.readExceptions(ctx, f); err != nil || !f.Whole {
		return err
	}
	f.tokens, err = statement.All[token](ctx, r.DB, "read the tokens that expire", tokensSQL, f.Organization, f.To, f.To.Add(ahead))
	return err
}

// readExceptions reads which findings were accepted when: from the log, because an exception that
// was revoked since was in force.
func (r *Reader) readExceptions(ctx context.Context, f *facts) error {
	all, _, err := r.Exceptions.Page(ctx, projected.Query{Organization: f.Organization, Page: 1, Size: 1 << 30}, f.To)
	if err != nil || len(all) == 0 {
		return err
	}
	ids := make([]uuid.UUID, len(all))
	for i, x := range all {
		ids[i] = x.ID
	}
	held := map[uuid.UUID]accepted{}
	for e, err := range r.Events.LoadEach(ctx, f.Organization, ids) {
		if err != nil {
			return err
		}
		if e.StreamType != exception.StreamType || !e.RecordedAt.Before(f.To) {
			continue
		}
		fact, err := projections.Fact[exception.Event](r.Decode, e, "an exception")
		if err != nil {
			return err
		}
		x := held[e.Stream]
		switch fact := fact.(type) {
		case exception.Requested:
			x.Exception = findings.Exception{
				ID: e.Stream, CheckID: fact.CheckID, Instance: fact.InstanceID, Database: f.databaseName(fact.DatabaseID),
				Object: fact.ObjectRef, Until: fact.Until, Reason: fact.Reason,
			}
			if fact.DatabaseID != nil && x.Database == nil { // of a server that the digest is not about
				x.CheckID = ""
			}
		case exception.Granted:
			x.from, x.to = e.RecordedAt, x.Until
		case exception.Revoked:
			x.to = e.RecordedAt
		}
		held[e.Stream] = x
	}
	for _, id := range ids {
		if x := held[id]; !x.from.IsZero() && (x.Instance == nil || f.named(*x.Instance) != nil) {
			f.accepted = append(f.accepted, x)
		}
	}
	return nil
}

func (f *facts) databaseName(id *uuid.UUID) *string {
	if id == nil {
		return nil
	}
	for _, s := range f.Servers {
		if d, ok := s.Databases[*id]; ok {
			return &d.Name
		}
	}
	return nil
}

// inForce are the exceptions that hold at a time.
func (f *facts) inForce(at time.Time) (held []findings.Exception) {
	for _, x := range f.accepted {
		if !x.from.After(at) && at.Before(x.to) && x.CheckID != "" {
			held = append(held, x.Exception)
		}
	}
	return held
}

// within is how long findings may stay open, by rank.
func (f *facts) within() [4]time.Duration {
	const d = 24 * time.Hour
	n := f.DueDays
	return [4]time.Duration{time.Duration(n.Critical) * d, time.Duration(n.High) * d, time.Duration(n.Medium) * d, time.Duration(n.Low) * d}
}

// openAt says whether it is there at a time, and since when.
func (x *finding) openAt(at time.Time) (since time.Time, open bool) {
	if !x.First.After(at) && (x.Gone == nil || x.Gone.After(at)) {
		return x.First, true
	}
	if x.EarlierFirst != nil && x.EarlierGone != nil && !x.EarlierFirst.After(at) && x.EarlierGone.After(at) {
		return *x.EarlierFirst, true
	}
	return since, false
}

// dueFinding is an open finding with its due time.
type dueFinding struct {
	*finding
	due time.Time
}

// open are the findings that are there at a time and that no exception accepts, by their due times.
func (f *facts) open(at time.Time) (all []dueFinding) {
	held, within := f.inForce(at), f.within()
	for i := range f.findings {
		x := &f.findings[i]
		since, open := x.openAt(at)
		if !open {
			continue
		}
		as := findings.Finding{Instance: x.Instance, CheckID: x.CheckID, Database: x.Database, Object: x.Object, Assessed: true}
		if findings.Narrowest(held, as) == nil {
			all = append(all, dueFinding{x, since.Add(within[x.Rank])})
		}
	}
	slices.SortStableFunc(all, func(a, b dueFinding) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.Rank, b.Rank), strings.Compare(a.CheckID, b.CheckID),
			strings.Compare(a.Instance.String(), b.Instance.String()), strings.Compare(a.Database, b.Database), strings.Compare(a.Object, b.Object))
	})
	return all
}

// due is what is due and what ends.
func (f *facts) due() (d day.Due) {
	for _, x := range f.open(f.From) {
		if x.due.Before(f.From) {
			d.Before++
		}
	}
	var fallen, coming []dueFinding
	var oldest *dueFinding
	for _, x := range f.open(f.To) {
		switch {
		case x.due.Before(f.To):
			d.Overdue++
			if oldest == nil {
				oldest = &x
			}
			if f.Within(&x.due) {
				fallen = append(fallen, x)
			}
		case x.due.Before(f.To.Add(ahead)):
			coming = append(coming, x)
		}
	}
	slices.SortStableFunc(fallen, func(a, b dueFinding) int { return cmp.Compare(a.Rank, b.Rank) })
	d.Fallen = f.items(fallen[:min(len(fallen), day.MostNamed)])
	n := min(len(coming), day.MostDue)
	d.Coming, d.Omitted = f.items(coming[:n]), len(coming)-n
	if oldest != nil {
		d.OldestOverdue = &f.items([]dueFinding{*oldest})[0]
	}
	d.Expiring = f.expiring()
	d.Expires = len(d.Expiring)
	d.Expiring = d.Expiring[:min(d.Expires, day.MostExpiring)]
	return d
}

func (f *facts) items(all []dueFinding) (items []day.Item) {
	for _, x := range all {
		item := day.Item{Due: x.due.UTC(), Instance: x.Instance, Title: f.checkTitle(x.CheckID), Object: x.Object, Severity: analysis.Severities[x.Rank]}
		if s := f.named(x.Instance); s != nil {
			item.Server, item.Owner = s.Name, s.Owner
		}
		items = append(items, item)
	}
	return items
}

// expiring is what ends within 14 days, the first first.
func (f *facts) expiring() (all []day.Expiry) {
	end := f.To.Add(ahead)
	soon := func(t time.Time) bool { return !t.Before(f.To) && t.Before(end) }
	for _, x := range f.accepted {
		if x.to.Equal(x.Until) && soon(x.Until) {
			about := "all servers"
			if x.Instance != nil {
				about = f.named(*x.Instance).Name
			}
			what := f.checkTitle(x.CheckID)
			if x.Object != "" {
				what = x.Object + ": " + what
			}
			all = append(all, day.Expiry{At: x.Until.UTC(), Kind: "exception", What: what, About: about})
		}
	}
	for _, t := range f.tokens {
		all = append(all, day.Expiry{At: t.Expires.UTC(), Kind: t.Kind + " token", What: t.Name})
	}
	for _, s := range f.Servers {
		if at := f.endOfLife(s); at != nil && soon(*at) {
			all = append(all, day.Expiry{At: at.UTC(), Kind: "end of life", What: strings.TrimSpace(string(s.Engine) + " " + s.Version), About: s.Name})
		}
	}
	for _, a := range f.alerts {
		if a.Rule == certificateRule && a.OpenAt(f.To) {
			all = append(all, day.Expiry{At: f.To.UTC(), Kind: "certificate", What: f.titleOf(a), About: f.serverOf(a)})
		}
	}
	slices.SortStableFunc(all, func(a, b day.Expiry) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Kind, b.Kind), strings.Compare(a.About, b.About), strings.Compare(a.What, b.What))
	})
	return all
}

// endOfLife is when the vendor ends the support of a server's version; nil: that is not known.
func (f *facts) endOfLife(s Server) *time.Time {
	if s.Engine != fleet.PostgreSQL {
		if release, _ := f.feed.Judge(s.Engine, s.Version, nil, f.To); release != nil {
			return release.EndOfLife
		}
		return nil
	}
	version, ok := feed.ParseVersion(s.Version)
	if !ok {
		return nil
	}
	if release := f.feed.Release(version, nil, f.To); release != nil {
		return release.EndOfLife
	}
	return nil
}
