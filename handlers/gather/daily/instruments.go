package daily

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch/uptime"
)

//go:embed sql/agents.sql
var agentsSQL string

// shortest is how long a server is not heard before that is a silence.
const shortest = 3 * time.Minute

// late is how long before the end of the day an agent may have been heard last, and how long after it a digest is one
// that was made at the end.
const late = 5 * time.Minute

type spansOf map[uuid.UUID][]uptime.Span

// readInstruments reads which servers, agents and feeds were heard.
func (r *Reader) readInstruments(ctx context.Context, f *facts) (err error) {
	if f.spans, err = uptime.SpansOf(ctx, r.DB, f.Organization, f.ids(), f.From, f.To, f.To); err != nil {
		return err
	}
	if f.agents, err = statement.All[time.Time](ctx, r.DB, "read when agents were heard", agentsSQL, f.Organization, statement.IDs(f.ids())); err != nil {
		return err
	}
	if f.feed, err = r.Feed.Current(ctx); err != nil || !f.Whole {
		return err
	}
	n, err := statement.One[int](ctx, r.DB, "count the senders that were heard",
		`SELECT count(*)::int FROM known_senders WHERE organization_id = $1 AND heard_at >= $2`, f.Organization, f.From)
	f.senders = &n
	return err
}

// hearing is what was heard of a server on a day.
type hearing struct {
	gaps  []maintenance.Span // silences
	downs []maintenance.Span // it was down, and known to be
	never bool
	total time.Duration // of the gaps
}

// still says whether a stretch lasts until the end.
func still(all []maintenance.Span, end time.Time) bool {
	return len(all) > 0 && !all[len(all)-1].To.Before(end)
}

// heard is what was heard of each server.
func (f *facts) heard() map[uuid.UUID]hearing {
	all := make(map[uuid.UUID]hearing, len(f.Servers))
	for _, s := range f.Servers {
		all[s.ID] = hearingOf(f.spans[s.ID], instant.Later(f.From, s.CreatedAt), f.To)
	}
	return all
}

// hearingOf cuts a time into what is known and what is not. Spans may overlap.
func hearingOf(spans []uptime.Span, from, to time.Time) (h hearing) {
	at := from
	for _, s := range spans {
		known := maintenance.Span{From: s.Since.UTC(), To: s.Until.UTC()}.Cut(maintenance.Span{From: from, To: to})
		if !known.To.After(known.From) {
			continue
		}
		if !s.Up {
			h.downs = append(h.downs, known)
		}
		h.gap(at, known.From)
		at = instant.Later(at, known.To)
	}
	h.gap(at, to)
	h.never = at.Equal(from)
	if h.never && len(h.gaps) == 0 { // it has been there for less than a silence
		h.gaps = []maintenance.Span{{From: from.UTC(), To: to.UTC()}}
	}
	return h
}

func (h *hearing) gap(from, to time.Time) {
	if to.Sub(from) >= shortest {
		h.gaps = append(h.gaps, maintenance.Span{From: from.UTC(), To: to.UTC()})
		h.total += to.Sub(from)
	}
}

// instruments sums up what was heard.
func (f *facts) instruments(heard map[uuid.UUID]hearing) day.Instruments {
	in := day.Instruments{Agents: len(f.agents), Senders: f.senders, Feed: f.feed.Identity().Date}
	var all []maintenance.Span
	var unheard []day.Silence
	for _, s := range f.Servers {
		h := heard[s.ID]
		switch {
		case len(h.gaps) == 0:
			in.AllDay++
			continue
		case h.never:
			in.Never++
		}
		unheard = append(unheard, day.Silence{Server: s.Name, Stretches: stretches(h.gaps), Seconds: int64(h.total / time.Second), Still: still(h.gaps, f.To)})
		all = append(all, h.gaps...)
	}
	silences := maintenance.Merged(all)
	in.Gaps, in.Nobody = stretches(silences), stretches(f.nobody(heard, silences))
	slices.SortStableFunc(unheard, func(a, b day.Silence) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Server, b.Server))
	})
	n := min(len(unheard), day.MostNamed)
	in.Unheard, in.Omitted = unheard[:n], len(unheard)-n
	for _, at := range f.agents {
		if at.Before(instant.Later(f.To, f.Now).Add(-late)) {
			in.Late++
			if at = at.UTC(); in.LastAt == nil || at.Before(*in.LastAt) {
				in.LastAt = &at
			}
		}
	}
	return in
}

// stretches are spans in the form of the digest.
func stretches(spans []maintenance.Span) (out []day.Stretch) {
	for _, s := range spans {
		out = append(out, day.Stretch{From: s.From.UTC(), To: s.To.UTC()})
	}
	return out
}

// nobody is when no server was heard.
func (f *facts) nobody(heard map[uuid.UUID]hearing, within []maintenance.Span) []maintenance.Span {
	common := within
	for _, s := range f.Servers {
		var both []maintenance.Span
		gaps := heard[s.ID].gaps
		if s.CreatedAt.After(f.From) { // it says nothing of the time before
			before := maintenance.Span{From: f.From.UTC(), To: s.CreatedAt.UTC()}
			gaps = maintenance.Merged(append([]maintenance.Span{before}, gaps...))
		}
		for _, a := range common {
			for _, b := range gaps {
				if b = b.Cut(a); b.To.After(b.From) {
					both = append(both, b)
				}
			}
		}
		common = both
	}
	return common
}
