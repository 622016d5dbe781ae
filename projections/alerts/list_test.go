package alerts_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/projections/alerts"
)

// drawn is an organization with alerts, and the list that a complete knowledge of them gives.
type drawn struct {
	*rand.Rand
	organization uuid.UUID
	places       []alerts.NamedPlace // instances
	alerts       []alerts.Alert
	batches      []eventstore.Append
}

func (d *drawn) id() (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:8], d.Uint64())
	binary.BigEndian.PutUint64(id[8:], d.Uint64())
	return id
}

// at is a time within some hours of noon, on a grid so coarse that many are equal.
func (d *drawn) at() time.Time { return minute(20*d.IntN(18) - 180) }

// draw records an organization's fleet and alerts, and what is known beside the log.
func (s *scene) draw(seed uint64) *drawn {
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, 4))}
	d.organization = d.id()
	for _, name := range []string{"orders", "orders", "billing", "gone"} {
		p := alerts.NamedPlace{ID: d.id(), Name: name}
		facts := []any{fleet.InstanceRegistered{Name: name}}
		switch name {
		case "billing":
			facts = []any{fleet.InstanceRegistered{Name: "invoices"}, fleet.InstanceChanged{Name: name}}
		case "gone":
			facts = append(facts, fleet.InstanceRemoved{})
		}
		d.places = append(d.places, p)
		d.batches = append(d.batches, s.batch(d.organization, p.ID, fleet.InstanceStream, facts...))
	}
	for range d.IntN(50) {
		s.drawAlert(d)
	}
	d.Shuffle(len(d.batches), func(i, j int) { d.batches[i], d.batches[j] = d.batches[j], d.batches[i] })
	s.stage.Append(eventstore.Fleet, d.batches...)
	return d
}

func (s *scene) drawAlert(d *drawn) {
	a := alerts.Alert{
		ID: d.id(), Title: []string{"Disk is full", "disk is slow", "100% CPU", "Locks"}[d.IntN(4)], Occurrences: 1,
		Severity: domain.Severities()[d.IntN(3)], State: domain.Open, CreatedAt: d.at(), FirstTriggeredAt: d.at(), LastTriggeredAt: d.at(),
	}
	details := domain.Details{
		Title: a.Title, Severity: a.Severity, CreatedAt: a.CreatedAt, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt,
	}
	if n := d.IntN(len(d.places) + 1); n < len(d.places) {
		a.Instance = &d.places[n]
		details.InstanceID = a.Instance.ID
	}
	facts := []any{domain.Raised{Key: a.ID.String(), Details: details}}
	if d.IntN(4) == 0 {
		a.Muted = true
		facts = append(facts, domain.Muted{})
	}
	if d.IntN(4) == 0 {
		a.State = domain.AcknowledgedState
		facts = append(facts, domain.Acknowledged{})
	}
	switch last, seen := d.at(), d.at(); d.IntN(6) {
	case 0:
		a.State, a.ResolvedAt, a.LastTriggeredAt = domain.ResolvedState, &last, last
		facts = append(facts, domain.Resolved{ResolvedAt: last, LastTriggeredAt: last})
	case 1:
		a.State, a.ResolvedAt, a.LastTriggeredAt = domain.AutoResolvedState, &last, last
		facts = append(facts, domain.AutoResolved{ResolvedAt: last, LastTriggeredAt: last})
	case 2:
		a.LastTriggeredAt = last
		facts = append(facts, domain.StillFiring{LastTriggeredAt: last})
	case 3, 4:
		if seen.After(a.LastTriggeredAt) {
			a.LastTriggeredAt = seen
		}
		s.seen(d.organization, a.ID, seen)
	}
	d.alerts = append(d.alerts, a)
	d.batches = append(d.batches, s.batch(d.organization, a.ID, domain.StreamType, facts...))
}

// query draws what may be asked of the list.
func (d *drawn) query() alerts.Query {
	q := alerts.Query{
		Organization: d.organization, Size: 1 + d.IntN(8), Descending: d.IntN(2) == 0,
		Order: []alerts.Order{alerts.ByLastTriggered, alerts.ByLastTriggered, alerts.ByCreated, alerts.BySeverity, alerts.ByState}[d.IntN(5)],
	}
	yes, no := true, false
	q.Closed, q.Muted = []*bool{nil, nil, &yes, &no}[d.IntN(4)], []*bool{nil, nil, &yes, &no}[d.IntN(4)]
	if d.IntN(2) == 0 {
		q.From = d.at().Add(time.Duration(d.IntN(3)-1) * time.Minute)
	}
	if d.IntN(3) == 0 {
		q.To = d.at()
	}
	if d.IntN(3) == 0 {
		q.Scope.Filtered = true
		for _, p := range d.places {
			if d.IntN(2) == 0 {
				q.Scope.Instances = append(q.Scope.Instances, p.ID, p.ID) // twice is once
			}
		}
	}
	if d.IntN(4) == 0 {
		q.Severities = domain.Severities()[d.IntN(3):]
	}
	q.Search = []string{"", "", "", "DISK", "%", "nowhere", "RDERS", "invoices"}[d.IntN(8)]
	return q
}

// has says that a text is part of another, whatever the case.
func has(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// list is the plain reading of the contract: the matching alerts, sorted.
func (d *drawn) list(q alerts.Query) []alerts.Alert {
	matches := func(a alerts.Alert) bool {
		return (!q.Scope.Filtered || a.Instance != nil && slices.Contains(q.Scope.Instances, a.Instance.ID)) &&
			(q.From.IsZero() || !a.LastTriggeredAt.Before(q.From)) && (q.To.IsZero() || a.LastTriggeredAt.Before(q.To)) &&
			(q.Closed == nil || *q.Closed == a.State.Closed()) && (q.Muted == nil || *q.Muted == a.Muted) &&
			(len(q.Severities) == 0 || slices.Contains(q.Severities, a.Severity)) &&
			(has(a.Title, q.Search) || a.Instance != nil && has(a.Instance.Name, q.Search) || a.Database != nil && has(a.Database.Name, q.Search))
	}
	list := slices.DeleteFunc(append([]alerts.Alert{}, d.alerts...), func(a alerts.Alert) bool { return !matches(a) })
	slices.SortFunc(list, func(a, b alerts.Alert) int {
		newest := cmp.Or(b.LastTriggeredAt.Compare(a.LastTriggeredAt), bytes.Compare(b.ID[:], a.ID[:]))
		var by int
		switch q.Order {
		case alerts.ByCreated:
			by = a.CreatedAt.Compare(b.CreatedAt)
		case alerts.BySeverity:
			by = slices.Index(domain.Severities(), a.Severity) - slices.Index(domain.Severities(), b.Severity)
		case alerts.ByState:
			by = slices.Index(domain.States(), a.State) - slices.Index(domain.States(), b.State)
		default:
			by = -newest
		}
		if q.Descending {
			by = -by
		}
		return cmp.Or(by, newest)
	})
	return list
}

// TestPage holds what is drawn against the plain reading, page by page: every
// alert is on exactly one of them.
func TestPage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var organizations []*drawn
	for seed := range uint64(30) {
		organizations = append(organizations, s.draw(seed))
	}
	s.seen(organizations[0].organization, uuid.New(), noon) // of an alert that is not read yet
	s.stage.Settle()
	s.nothingIsParked()
	for seed, d := range organizations {
		for range 20 {
			q := d.query()
			want, got := d.list(q), []alerts.Alert{}
			for q.Page = 1; ; q.Page++ {
				page, total, err := s.reader.Page(t.Context(), q)
				if err != nil || total != int64(len(want)) {
					t.Fatalf("seed %d, %+v: %d in all, %v, want %d", seed, q, total, err, len(want))
				}
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %+v:\n%s", seed, q, diff)
			}
		}
	}
}

func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d := s.draw(1)
	s.stage.Settle()
	for name, q := range map[string]alerts.Query{
		"a filter that matches nothing": {Organization: d.organization, Scope: fleetScope(), Page: 1, Size: 10},
		"a stranger's instance":         {Organization: uuid.New(), Scope: fleetScope(d.places[0].ID), Page: 1, Size: 10},
		"a window turned around":        {Organization: d.organization, From: minute(1), To: minute(0), Page: 1, Size: 10},
		"a stranger":                    {Organization: uuid.New(), Page: 1, Size: 10},
	} {
		if got, total, err := s.reader.Page(t.Context(), q); err != nil || total != 0 || len(got) != 0 {
			t.Errorf("%s: %v of %d, %v", name, got, total, err)
		}
	}
}

func fleetScope(instances ...uuid.UUID) fleet.Scope {
	return fleet.Scope{Filtered: true, Instances: instances}
}

// TestPageAtTheDawnOfTime: an hour of the window's end that is Go's zero time is no
// open end.
func TestPageAtTheDawnOfTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, dawn := uuid.New(), time.Time{}
	for _, at := range []time.Time{dawn.Add(time.Minute), dawn.Add(90 * time.Minute), noon} {
		s.happens(acme, uuid.New(), domain.StreamType, domain.Raised{Details: domain.Details{CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at}})
	}
	s.stage.Settle()
	for name, c := range map[string]struct {
		from, to time.Time
		want     int
	}{
		"until its first half hour":      {time.Time{}, dawn.Add(30 * time.Minute), 1},
		"until its second hour has gone": {time.Time{}, dawn.Add(2 * time.Hour), 2},
		"from its first half hour":       {dawn.Add(30 * time.Minute), time.Time{}, 2},
		"from the hour before it":        {dawn.Add(-30 * time.Minute), time.Time{}, 3},
		"around it":                      {dawn.Add(-30 * time.Minute), dawn.Add(30 * time.Minute), 1},
	} {
		rows, total, err := s.reader.Page(t.Context(), alerts.Query{Organization: acme, From: c.from, To: c.to, Page: 1, Size: 10})
		if err != nil || total != int64(c.want) || len(rows) != c.want {
			t.Errorf("%s: %d alerts of %d, %v, want %d", name, len(rows), total, err, c.want)
		}
	}
}
