package alerts_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/commands"
	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/alert"
	domainfleet "muster/domain/fleet"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/projections/fleet"
)

// TestFeedsAndActionsFollowTheSpecification is TestAgainstTheSpecification for feeds and people: batches of
// fleet and alerts under external ids that come again, and actions.
func TestFeedsAndActionsFollowTheSpecification(t *testing.T) {
	t.Parallel()
	s := newFleetScene(t)
	them := theirs(t, s)
	rapid.Check(t, func(t *rapid.T) {
		d := &doors{story: &story{T: t, organization: uuid.New()}, newest: map[string]*specAlert{}}
		d.window()
		d.service = commands.New(usecase.Base{DB: s.db, Events: eventstore.New(s.db), Now: func() time.Time { return d.clock }}, commands.Needs{})
		d.sendFleet()
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			switch rapid.IntRange(0, 6).Draw(t, "call") {
			case 0, 1, 2:
				d.sendAlerts()
			case 3:
				d.sendFleet()
			default:
				d.act()
			}
		}
		if err := s.shows(t.Context(), d.mark.Position); err != nil {
			t.Fatal(err)
		}
		c := &comparison{story: d.story, ctx: t.Context(), alerts: s.reader, fleet: fleet.NewReader(s.db)}
		for range 2 {
			c.compare(d.filter(them))
		}
	})
}

// doors is a story that its senders and people tell themselves.
type doors struct {
	*story
	service *commands.Service
	clock   time.Time
	mark    usecase.Mark
	newest  map[string]*specAlert // by key
	servers [3]*specInstance      // by external id, i0 to i2; nil: not there
	bases   [3][2]*specDatabase   // on each, d0 and d1
}

// feed is who sends batches, so late that no time of a story lies ahead.
func (d *doors) feed() usecase.Actor {
	d.clock = d.now.AddDate(1, 0, 0)
	return usecase.Actor{OrganizationID: d.organization, Component: "ingest"}
}

func (d *doors) wrote(mark usecase.Mark, err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
	d.mark.Position = max(d.mark.Position, mark.Position)
}

// sendFleet sends some servers, known or not, some of them to be removed.
func (d *doors) sendFleet() {
	var items []inventory.Item
	for n := range d.servers {
		if d.seldom("left out") {
			continue
		}
		item := inventory.Item{
			ExternalID: fmt.Sprint("i", n), Name: nameable.Draw(d.T, "name"), Engine: domainfleet.PostgreSQL,
			CreatedAt: d.drawMoment("registered"), Removed: d.seldom("removed"),
		}
		for m := range d.bases[n] {
			if d.maybe("with database") {
				item.Databases = append(item.Databases, inventory.Database{
					ExternalID: fmt.Sprint("d", m), Name: nameable.Draw(d.T, "name"), CreatedAt: d.drawMoment("registered"), Removed: d.seldom("removed"),
				})
			}
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return
	}
	ids, mark, err := d.service.RecordFleet(d.Context(), d.feed(), items)
	d.wrote(mark, err)
	for i, item := range items {
		d.hasServer(item, ids[i])
	}
}

// hasServer is what the specification makes of an item.
func (d *doors) hasServer(item inventory.Item, ids inventory.IDs) {
	n := int(item.ExternalID[1] - '0')
	was := d.servers[n]
	switch {
	case item.Removed:
		if was != nil {
			was.removed = true
		}
		d.servers[n], d.bases[n] = nil, [2]*specDatabase{}
		return
	case was == nil:
		d.servers[n] = &specInstance{id: ids.ID, name: item.Name, created: item.CreatedAt}
		d.instances = append(d.instances, d.servers[n])
	default:
		was.name, was.created = item.Name, item.CreatedAt
	}
	if d.servers[n].id != ids.ID {
		d.Fatalf("%s is %s, and not %s", item.ExternalID, ids.ID, d.servers[n].id)
	}
	for i, b := range item.Databases {
		d.hasDatabase(n, b, ids.Databases[i].ID)
	}
}

func (d *doors) hasDatabase(n int, item inventory.Database, id uuid.UUID) {
	base := &d.bases[n][item.ExternalID[1]-'0']
	switch {
	case item.Removed:
		if *base != nil {
			(*base).removed = true
		}
		*base = nil
	case *base == nil:
		*base = &specDatabase{id: id, name: item.Name, instance: d.servers[n], created: item.CreatedAt}
		d.databases = append(d.databases, *base)
	default:
		(*base).name, (*base).created = item.Name, item.CreatedAt
	}
}

// sendAlerts sends some alerts, new or known, open or closed, and sends some of
// them again: that changes nothing.
func (d *doors) sendAlerts() {
	var items []alerting.Item
	for n := range 5 {
		if d.maybe("sent") {
			items = append(items, d.item(n))
		}
	}
	if len(items) == 0 {
		return
	}
	ids, mark, err := d.service.RecordAlerts(d.Context(), d.feed(), items)
	d.wrote(mark, err)
	for i, item := range items {
		d.hasAlert(item, ids[i].ID)
	}
	if !d.seldom("twice") {
		return
	}
	for _, item := range items {
		if a := d.newest[d.key(item)]; !a.open() && item.ResolvedAt == nil {
			return // an open state for a closed alert is another one each time
		}
	}
	again, mark, err := d.service.RecordAlerts(d.Context(), d.feed(), items)
	if d.wrote(mark, err); mark.Position != 0 {
		d.Fatalf("the same again was written at %d", mark.Position)
	}
	for i := range ids {
		if again[i] != ids[i] {
			d.Fatalf("the same again is %+v, and was %+v", again[i], ids[i])
		}
	}
}

// key is what tells an alert from others: its external id at its instance.
func (d *doors) key(item alerting.Item) string {
	if item.Instance == nil {
		return item.ExternalID
	}
	return item.ExternalID + " " + d.servers[(*item.Instance)[1]-'0'].id.String()
}

// item is an alert of a server that is there, or one of the organization, under other
// external ids: the end of one may leave its instance out.
func (d *doors) item(number int) alerting.Item {
	item := alerting.Item{
		ExternalID: fmt.Sprint("o", number), Title: titles.Draw(d.T, "title"), Severity: severities.Draw(d.T, "severity"),
		State: rapid.SampledFrom(domain.States()).Draw(d.T, "state"), CreatedAt: d.drawMoment("created"),
		FirstTriggeredAt: d.drawMoment("first"), LastTriggeredAt: d.drawMoment("last"),
	}
	if n := rapid.IntRange(0, len(d.servers)-1).Draw(d.T, "server"); d.servers[n] != nil {
		server := fmt.Sprint("i", n)
		item.ExternalID, item.Instance = fmt.Sprint("a", number), &server
		m := rapid.IntRange(0, len(d.bases[n])-1).Draw(d.T, "database")
		if d.bases[n][m] != nil && d.maybe("of a database") {
			base := fmt.Sprint("d", m)
			item.Database = &base
		}
	}
	if known := d.newest[d.key(item)]; known != nil && d.maybe("only seen again") {
		item.Title, item.Severity, item.State = known.title, known.severity, known.state
		item.CreatedAt, item.FirstTriggeredAt = known.created, known.first
	}
	if item.LastTriggeredAt.Before(item.FirstTriggeredAt) {
		item.LastTriggeredAt = item.FirstTriggeredAt
	}
	if item.State.Closed() {
		at := d.drawMoment("resolved")
		item.ResolvedAt = &at
	}
	if d.seldom("says whether it is muted") {
		muted := d.maybe("muted")
		item.Muted = &muted
	}
	return item
}

// hasAlert is what the specification makes of an item (http-contract, §18.2, and
// reading 33).
func (d *doors) hasAlert(item alerting.Item, id uuid.UUID) {
	a := d.newest[d.key(item)]
	closed := item.ResolvedAt != nil
	switch {
	case a == nil, !a.open() && (!closed || item.FirstTriggeredAt.After(instant.Later(a.first, *a.resolved))):
		a = &specAlert{id: id, state: domain.Open, last: item.LastTriggeredAt, occurrences: 1}
		d.newest[d.key(item)] = a
		d.alerts = append(d.alerts, a)
	case a.id != id:
		d.Fatalf("%s is %s, and not %s", item.ExternalID, id, a.id)
	case !a.open():
		return // final
	case item.FirstTriggeredAt.After(a.last):
		a.occurrences++
	}
	a.title, a.severity, a.created, a.first = item.Title, item.Severity, item.CreatedAt, item.FirstTriggeredAt
	a.last = instant.Later(a.last, item.LastTriggeredAt)
	a.instance, a.database = nil, nil
	if item.Instance != nil {
		n := (*item.Instance)[1] - '0'
		a.instance = d.servers[n]
		if item.Database != nil {
			a.database = d.bases[n][(*item.Database)[1]-'0']
		}
	}
	if item.Muted != nil {
		a.muted = *item.Muted
	}
	if closed || item.State == domain.AcknowledgedState {
		a.state, a.resolved = item.State, item.ResolvedAt
	}
}

// act is a person's action on an alert, also on an older one of its key.
func (d *doors) act() {
	if len(d.alerts) == 0 {
		return
	}
	a := rapid.SampledFrom(d.alerts).Draw(d.T, "of")
	d.clock = d.drawMoment("acted")
	member := usecase.Actor{OrganizationID: d.organization, MemberID: d.organization}
	action := rapid.IntRange(0, 2).Draw(d.T, "action")
	switch {
	case action == 0 && a.state == domain.Open:
		a.state = domain.AcknowledgedState
		d.wrote(d.service.AcknowledgeAlert(d.Context(), member, a.id))
	case action == 1 && a.open():
		at := d.clock
		a.state, a.resolved = domain.ResolvedState, &at
		d.wrote(d.service.ResolveAlert(d.Context(), member, a.id))
	case a.muted:
		a.muted = false
		d.wrote(d.service.UnmuteAlert(d.Context(), member, a.id))
	default:
		a.muted = true
		d.wrote(d.service.MuteAlert(d.Context(), member, a.id))
	}
}
