package alerts_test

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/projections/alerts"
)

// story is a fleet, its alerts and a window, drawn together so that many times are exactly at
// an edge or a microsecond beside it. Its events are passed to the specification, and as facts
// to the log.
type story struct {
	*rapid.T
	specification
	organization uuid.UUID
	now          time.Time
	from, to     time.Time
	size         timegrid.Size // of which from and to are some buckets apart
	moments      []time.Time
	ids          int
	facts, later []fact // in the order of the log; later: once alerts are there
	silently     []silentMove
}

type fact struct {
	streamType string
	stream     uuid.UUID
	event      any
}

// silentMove is a later time at which an alert was seen firing, beside the log.
type silentMove struct {
	alert uuid.UUID
	at    time.Time
}

func draw(t *rapid.T) *story {
	d := &story{T: t, organization: uuid.New()}
	d.window()
	for range rapid.IntRange(0, 4).Draw(t, "instances") {
		d.instance()
	}
	for range rapid.IntRange(0, 4).Draw(t, "databases") {
		d.database()
	}
	for range rapid.IntRange(0, 12).Draw(t, "alerts") {
		d.alert()
	}
	d.removals()
	return d
}

// id is new in the database, and sorts as the draw says.
func (d *story) id() (id uuid.UUID) {
	d.ids++
	id = d.organization
	id[0] = rapid.Byte().Draw(d.T, "id")
	binary.BigEndian.PutUint16(id[1:], uint16(d.ids))
	return id
}

func (d *story) maybe(what string) bool { return rapid.Bool().Draw(d.T, what) }

func (d *story) seldom(what string) bool { return rapid.IntRange(0, 4).Draw(d.T, what) == 4 }

// window draws now and a window with edges on the grid and beside it, and the
// moments at which things may happen.
func (d *story) window() {
	d.size = rapid.SampledFrom(timegrid.Sizes()).Draw(d.T, "size")
	width := d.size.Width()
	beside := rapid.SampledFrom([]time.Duration{0, time.Microsecond, -time.Microsecond, width / 3, width - width/7})
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	d.now = now.Add(time.Duration(rapid.Int64Range(0, int64(24*time.Hour/time.Microsecond)-1).Draw(d.T, "now")) * time.Microsecond)
	edge := bucketOf(d.size, d.now)
	ago := rapid.IntRange(0, 12).Draw(d.T, "buckets ago")
	d.from = edge.Add(-time.Duration(ago) * width).Add(beside.Draw(d.T, "from")).Truncate(time.Microsecond)
	long := rapid.IntRange(0, ago+1).Draw(d.T, "buckets")
	d.to = edge.Add(-time.Duration(ago-long) * width).Add(beside.Draw(d.T, "to")).Truncate(time.Microsecond)
	if !d.from.Before(d.to) {
		d.to = d.from.Add(time.Microsecond)
	}
	then := d.now.AddDate(0, 0, -7)
	d.moments = []time.Time{d.from, d.to, then, then, d.now}
	for i := -1; i <= min(long, 3)+1; i++ {
		d.moments = append(d.moments, edge.Add(time.Duration(i-ago)*width))
	}
}

// drawMoment is when something happens: at one of the moments, just beside it, or
// somewhere near the window.
func (d *story) drawMoment(what string) time.Time {
	at := rapid.SampledFrom(d.moments).Draw(d.T, what)
	switch rapid.IntRange(0, 3).Draw(d.T, "beside") {
	case 1:
		return at.Add(-time.Microsecond)
	case 2:
		return at.Add(time.Microsecond)
	case 3:
		return at.Add(time.Duration(rapid.Int64Range(-int64(d.size.Width()), int64(d.size.Width())).Draw(d.T, "by"))).Truncate(time.Microsecond)
	}
	return at
}

func (d *story) happens(streamType string, stream uuid.UUID, event any) {
	d.facts = append(d.facts, fact{streamType, stream, event})
}

// nameable are what instances are called; some names differ in case only.
var nameable = rapid.SampledFrom([]string{"orders", "Orders", "billing"})

func (d *story) instance() {
	i := &specInstance{id: d.id(), name: nameable.Draw(d.T, "name"), created: d.drawMoment("registered")}
	registered := fleet.InstanceRegistered{
		ExternalID: fmt.Sprint("i", d.ids), Name: i.name, Engine: fleet.PostgreSQL, Version: "18.1", Host: "db01", Active: true, CreatedAt: i.created,
	}
	d.happens(fleet.InstanceStream, i.id, registered)
	if d.seldom("inactive") { // and counted all the same
		d.happens(fleet.InstanceStream, i.id, fleet.InstanceDeactivated{})
	}
	if d.seldom("renamed") {
		i.name = nameable.Draw(d.T, "new name")
		d.happens(fleet.InstanceStream, i.id, fleet.InstanceChanged{Name: i.name, Engine: fleet.PostgreSQL, Version: "18.1", Host: "db01", CreatedAt: i.created})
	}
	d.instances = append(d.instances, i)
	if !d.seldom("removed") {
		return
	}
	i.removed = true
	d.later = append(d.later, fact{fleet.InstanceStream, i.id, fleet.InstanceRemoved{}})
	if d.maybe("registered again") { // it is another one
		again := &specInstance{id: d.id(), name: i.name, created: d.drawMoment("registered again")}
		registered.Name, registered.CreatedAt = again.name, again.created
		d.later = append(d.later, fact{fleet.InstanceStream, again.id, registered})
		d.instances = append(d.instances, again)
	}
}

// there are the instances that were there before anything was removed.
func (d *story) there() []*specInstance {
	var there []*specInstance
	for _, i := range d.instances {
		for _, f := range d.facts {
			if f.stream == i.id {
				there = append(there, i)
				break
			}
		}
	}
	return there
}

func (d *story) database() {
	there := d.there()
	if len(there) == 0 {
		return
	}
	b := &specDatabase{id: d.id(), name: nameable.Draw(d.T, "name"), instance: rapid.SampledFrom(there).Draw(d.T, "of"), created: d.drawMoment("registered")}
	d.happens(fleet.DatabaseStream, b.id, fleet.DatabaseRegistered{InstanceID: b.instance.id, ExternalID: fmt.Sprint("d", d.ids), Name: b.name, CreatedAt: b.created})
	if d.seldom("removed") {
		b.removed = true
		d.later = append(d.later, fact{fleet.DatabaseStream, b.id, fleet.DatabaseRemoved{InstanceID: b.instance.id}})
	}
	d.databases = append(d.databases, b)
}

var (
	titles     = rapid.SampledFrom([]string{"Disk full", "disk FULL at 90%", "CPU_hot", "Lock waits"})
	severities = rapid.SampledFrom(domain.Severities())
)

// removals happen once everything else has.
func (d *story) removals() {
	d.facts = append(d.facts, d.later...)
	d.later = nil
}

// alert tells the life of one.
func (d *story) alert() {
	a := &specAlert{
		id: d.id(), title: titles.Draw(d.T, "title"), severity: severities.Draw(d.T, "severity"), state: domain.Open,
		first: d.drawMoment("first"), last: d.drawMoment("last"), created: d.drawMoment("created"), occurrences: 1,
	}
	if a.last.Before(a.first) {
		a.first, a.last = a.last, a.first
	}
	if d.maybe("created as it fired") {
		a.created = a.first
	}
	there := d.there()
	switch where := rapid.IntRange(0, 3).Draw(d.T, "where"); {
	case where == 0 && len(d.databases) > 0:
		a.database = rapid.SampledFrom(d.databases).Draw(d.T, "database")
		a.instance = a.database.instance
	case where < 3 && len(there) > 0:
		a.instance = rapid.SampledFrom(there).Draw(d.T, "instance")
	}
	d.alerts = append(d.alerts, a)
	d.happens(domain.StreamType, a.id, domain.Raised{Key: fmt.Sprint("external/", d.ids), Details: a.details()})
	for range rapid.IntRange(0, 3).Draw(d.T, "steps") {
		d.step(a)
	}
	switch rapid.IntRange(0, 3).Draw(d.T, "closed") {
	case 0:
		at := d.drawMoment("resolved")
		a.state, a.resolved, a.last = "Resolved", &at, instant.Later(a.last, d.drawMoment("last"))
		d.happens(domain.StreamType, a.id, domain.Resolved{ResolvedAt: at, LastTriggeredAt: a.last})
	case 1:
		at := d.drawMoment("resolved")
		a.state, a.resolved, a.last = "AutoResolved", &at, instant.Later(a.last, d.drawMoment("last"))
		d.happens(domain.StreamType, a.id, domain.AutoResolved{ResolvedAt: at, LastTriggeredAt: a.last})
	case 2:
		a.seen = d.drawMoment("seen") // perhaps earlier than the log knows
		d.silently = append(d.silently, silentMove{a.id, a.seen})
	}
	if d.seldom("muted in the end") {
		d.mute(a)
	}
}

// step is something that happens to an open alert.
func (d *story) step(a *specAlert) {
	happens := func(event domain.Event) { d.happens(domain.StreamType, a.id, event) }
	switch rapid.IntRange(0, 4).Draw(d.T, "step") {
	case 0:
		a.last = instant.Later(a.last, d.drawMoment("still firing"))
		happens(domain.StillFiring{LastTriggeredAt: a.last})
	case 1:
		a.last = instant.Later(a.last, d.drawMoment("triggered again"))
		a.first = a.last
		a.occurrences++
		happens(domain.TriggeredAgain{FirstTriggeredAt: a.first, LastTriggeredAt: a.last})
	case 2:
		d.mute(a)
	case 3:
		if a.state == domain.Open {
			a.state = "Acknowledged"
			happens(domain.Acknowledged{})
		}
	case 4:
		a.title, a.severity, a.last = titles.Draw(d.T, "title"), severities.Draw(d.T, "severity"), instant.Later(a.last, d.drawMoment("last"))
		happens(domain.Changed{Details: a.details()})
	}
}

func (d *story) mute(a *specAlert) {
	next := []domain.Event{domain.Muted{}, domain.MutedUntil{Until: d.now}}
	if a.muted {
		next = []domain.Event{domain.Unmuted{}, domain.MuteEnded{Until: d.now}}
	}
	event := rapid.SampledFrom(next).Draw(d.T, "mute or unmute")
	a.muted, a.mutedUntil = !a.muted, nil
	if bounded, ok := event.(domain.MutedUntil); ok {
		a.mutedUntil = &bounded.Until
	}
	d.happens(domain.StreamType, a.id, event)
}

// details are what its sender says of an alert.
func (a *specAlert) details() domain.Details {
	details := domain.Details{Title: a.title, Severity: a.severity, CreatedAt: a.created, FirstTriggeredAt: a.first, LastTriggeredAt: a.last}
	if a.instance != nil {
		details.InstanceID = a.instance.id
	}
	if a.database != nil {
		details.DatabaseID = a.database.id
	}
	return details
}

// filter draws an instance filter: none, or ids or names, some of which are known, some
// removed, some of another organization and some unknown.
func (d *story) filter(foreign *story) (f filter) {
	switch rapid.IntRange(0, 4).Draw(d.T, "filter") {
	case 0, 1:
		ids := []uuid.UUID{d.id(), foreign.instances[0].id}
		for _, i := range d.instances {
			ids = append(ids, i.id)
		}
		f.ids = rapid.SliceOfN(rapid.SampledFrom(ids), 1, 4).Draw(d.T, "ids")
	case 2, 3:
		f.names = rapid.SliceOfN(rapid.SampledFrom([]string{"orders", "Orders", "billing", "theirs", "nobody's"}), 1, 3).Draw(d.T, "names")
	}
	return f
}

// query draws a page of the list, with any of its parameters.
func (d *story) query() alerts.Query {
	q := alerts.Query{
		Organization: d.organization,
		Search:       rapid.SampledFrom([]string{"", "", "disk", "DISK F", "%", "_", "nothing", "RDER"}).Draw(d.T, "q"),
		Order:        rapid.SampledFrom([]alerts.Order{alerts.ByLastTriggered, alerts.ByCreated, alerts.BySeverity, alerts.ByState}).Draw(d.T, "order"),
		Descending:   d.maybe("descending"),
		Page:         rapid.IntRange(1, 4).Draw(d.T, "page"),
		Size:         rapid.IntRange(1, 5).Draw(d.T, "page size"),
	}
	if d.maybe("with from") {
		q.From = d.bound("list from")
	}
	if d.maybe("with to") {
		q.To = d.bound("list to")
	}
	if d.seldom("by status") {
		closed := d.maybe("closed")
		q.Closed = &closed
	}
	if d.seldom("by mute flag") {
		muted := d.maybe("muted")
		q.Muted = &muted
	}
	if d.seldom("by severity") {
		q.Severities = rapid.SliceOfN(severities, 1, 2).Draw(d.T, "severities")
	}
	return q
}

// bound is an end of the list's window: often just when an alert was last triggered.
func (d *story) bound(what string) time.Time {
	if len(d.alerts) > 0 && d.maybe("of an alert") {
		return rapid.SampledFrom(d.alerts).Draw(d.T, what).lastTriggered()
	}
	return d.drawMoment(what)
}
