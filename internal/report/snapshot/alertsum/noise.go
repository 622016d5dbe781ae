package alertsum

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// Noise is what a rule or a server raised in the window.
type Noise struct {
	Name         string
	Others       int // servers of the rule, or rules of the server
	Raised       int
	ByItself     int // of those that were resolved in the window
	Acknowledged int
	Reopened     int // raised again within FlapsWithin of the end before, or fired again while open
	Never        int // of Raised: never acknowledged, and open for at least NoticedAfter
}

// FlapsWithin is how soon after its end a condition holds again that flaps.
const FlapsWithin = time.Hour

// NoticedAfter is how long an alert has to be open to count as never acknowledged.
const NoticedAfter = 15 * time.Minute

// Rules and Servers are the noisiest first.
func Rules(doc snapshot.Document) []Noise {
	names := namesOf(doc)
	return noise(doc, func(a *snapshot.AlertRecord) string { return a.Rule }, func(a *snapshot.AlertRecord) string { return names[a.InstanceID] })
}

// Servers are likewise by server.
func Servers(doc snapshot.Document) []Noise {
	names := namesOf(doc)
	return noise(doc, func(a *snapshot.AlertRecord) string { return names[a.InstanceID] }, func(a *snapshot.AlertRecord) string { return a.Rule })
}

func namesOf(doc snapshot.Document) map[uuid.UUID]string {
	if doc.AlertRecords == nil {
		return nil
	}
	return serverNames(doc)
}

func noise(doc snapshot.Document, of, other func(*snapshot.AlertRecord) string) []Noise {
	if doc.AlertRecords == nil || doc.Window == nil {
		return nil
	}
	found, others := map[string]*Noise{}, map[[2]string]bool{}
	again := flapping(doc.AlertRecords)
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		raised := doc.Window.Within(&a.RaisedAt)
		if !raised && a.Reopened == 0 {
			continue
		}
		n := found[of(a)]
		if n == nil {
			n = &Noise{Name: of(a)}
			found[of(a)] = n
		}
		n.Reopened += a.Reopened
		if !raised {
			continue
		}
		n.Raised++
		if pair := [2]string{of(a), other(a)}; !others[pair] {
			others[pair] = true
			n.Others++
		}
		if again[a.ID] {
			n.Reopened++
		}
		if a.ClosedAt != nil && a.ByItself {
			n.ByItself++
		}
		if a.AcknowledgedAt != nil {
			n.Acknowledged++
		} else if openFor(a, *doc.Window) >= NoticedAfter {
			n.Never++
		}
	}
	var all []Noise
	for _, n := range found {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Noise) int {
		return cmp.Or(cmp.Compare(b.Raised, a.Raised), cmp.Compare(b.Reopened, a.Reopened), strings.Compare(a.Name, b.Name))
	})
	return all
}

// openFor is how long an alert was open by the window's end.
func openFor(a *snapshot.AlertRecord, w snapshot.Window) time.Duration {
	if a.ClosedAt != nil {
		return a.ClosedAt.Sub(a.RaisedAt)
	}
	return w.To.Sub(a.RaisedAt)
}

// flapping are the alerts that were raised within FlapsWithin of the end of one of the same rule on the same server.
func flapping(r *snapshot.AlertRecords) map[uuid.UUID]bool {
	type place struct {
		rule   string
		server uuid.UUID
	}
	ends, again := map[place][]time.Time{}, map[uuid.UUID]bool{}
	for i := range r.Listed {
		if a := &r.Listed[i]; a.ClosedAt != nil {
			at := place{a.Rule, a.InstanceID}
			ends[at] = append(ends[at], *a.ClosedAt)
		}
	}
	for i := range r.Listed {
		a := &r.Listed[i]
		for _, end := range ends[place{a.Rule, a.InstanceID}] {
			if since := a.RaisedAt.Sub(end); since >= 0 && since <= FlapsWithin && (a.ClosedAt == nil || !a.ClosedAt.Equal(end)) {
				again[a.ID] = true
				break
			}
		}
	}
	return again
}
