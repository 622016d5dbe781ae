package daily

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/handlers/gather/alertlog"
	"muster/internal/report/snapshot/day"
)

// readAlerts reads the alerts that were open at some time of the day, in the order of their raise.
func (r *Reader) readAlerts(ctx context.Context, f *facts) (err error) {
	f.alerts, err = alertlog.Reader{DB: r.DB, Events: r.Events, Decode: r.Decode}.OpenIn(ctx, f.Organization, f.From, f.To)
	f.alerts = slices.DeleteFunc(f.alerts, func(a *alertlog.Alert) bool {
		return !f.Whole && !slices.ContainsFunc(a.Servers, func(id uuid.UUID) bool { return f.named(id) != nil })
	})
	slices.SortStableFunc(f.alerts, func(a, b *alertlog.Alert) int { return a.RaisedAt.Compare(b.RaisedAt) })
	return err
}

// count adds an alert.
func count(n *day.BySeverity, s alert.Severity) {
	switch s {
	case alert.Critical:
		n.Critical++
	case alert.Warning:
		n.Warning++
	case alert.Info:
		n.Info++
	}
}

// balance counts the alerts of the day.
func (f *facts) balance() (b day.Alerts) {
	for _, a := range f.alerts {
		if a.OpenAt(f.From) {
			b.Start++
			if a.MutedAt(f.From) {
				b.MutedAtStart++
			}
		}
		if f.Within(&a.RaisedAt) {
			count(&b.Raised, a.Severity)
		}
		switch {
		case !f.Within(a.ClosedAt):
		case !a.ByItself:
			b.ByPeople++
		case a.Lapsed:
			b.Lapsed++
		default:
			b.ByThemselves++
		}
		if !a.OpenAt(f.To) {
			continue
		}
		b.End++
		count(&b.Open, a.Severity)
		if a.AcknowledgedAt != nil {
			b.Seen++
		}
		if a.MutedAt(f.To) {
			b.Muted++
		}
		if slices.ContainsFunc(a.Again, func(t time.Time) bool { return f.Within(&t) }) {
			b.Again++
		}
		if b.Oldest == nil { // they are in the order of their creation
			b.Oldest = &day.OldestAlert{Title: f.titleOf(a), Server: f.serverOf(a), Created: a.RaisedAt, Muted: a.MutedAt(f.To)}
		}
	}
	return b
}

// serverOf is the name of an alert's server; empty: it has none, or it was removed.
func (f *facts) serverOf(a *alertlog.Alert) string {
	for _, id := range a.Servers {
		if s := f.named(id); s != nil {
			return s.Name
		}
	}
	return ""
}

// titleOf is an alert's title without the name of its server before it, and without those of other
// servers, which may be of another team.
func (f *facts) titleOf(a *alertlog.Alert) string {
	title := a.Title
	if len(a.Servers) > 1 {
		title, _ = alert.WithoutServers(title, "")
	}
	name := f.serverOf(a)
	if rest, ok := strings.CutPrefix(title, name); ok && name != "" {
		if rest = strings.TrimLeft(rest, " :–-"); rest != "" {
			title = rest
		}
	}
	return title
}

// heldBack counts the alerts of which nobody was told because they were muted, or because their
// servers were in a maintenance window.
func (f *facts) heldBack() (h day.Held) {
	for _, a := range f.alerts {
		again := slices.ContainsFunc(a.Again, func(t time.Time) bool { return f.Within(&t) && a.OpenAt(t) && a.MutedAt(t) })
		switch {
		case again || slices.Contains(f.held, a.ID):
			h.Muted++
		case a.Maintenance != nil && f.Within(&a.RaisedAt):
			h.Maintenance++
		default:
			continue
		}
		if len(h.Listed) < day.MostNamed {
			h.Listed = append(h.Listed, on(f.titleOf(a), f.serverOf(a)))
		}
	}
	return h
}

// on is a thing and where it is.
func on(thing, server string) string {
	if server == "" {
		return thing
	}
	return thing + " on " + server
}
