package alerts_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	domain "muster/domain/alert"
	domainfleet "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

// lanes is how often as many cases are drawn as TestMain says. They share the database, so each
// page of the log has events of several organizations.
const lanes = 5

// mostBuckets is the contract's bound of a series.
const mostBuckets = 11_000

// TestAgainstTheSpecification holds overview, list and history of drawn fleets,
// alerts, filters and windows against what the specification says of them.
func TestAgainstTheSpecification(t *testing.T) {
	t.Parallel()
	s := newFleetScene(t)
	them := theirs(t, s)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					d := draw(t)
					c := &comparison{story: d, ctx: t.Context(), alerts: s.reader, fleet: fleet.NewReader(s.db)}
					if err := s.tell(t.Context(), d); err != nil {
						t.Fatal(err)
					}
					for range 2 {
						c.compare(d.filter(them))
					}
				})
			})
		}
	})
}

// newFleetScene is a scene with both read models. What is appended is applied.
func newFleetScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: registry(t)}
	s.reader = alerts.NewReader(s.db, eventstore.New(s.db), s.registry.Decode)
	s.stage = projectionstest.Run(t, s.db, url, fleet.Projection(s.registry.Decode), alerts.Projection(s.registry.Decode))
	t.Cleanup(func() {
		var parked int
		if err := s.db.Get(&parked, `SELECT count(*) FROM dead_letters`); err != nil || parked > 0 {
			t.Errorf("%d events are parked, %v", parked, err)
		}
	})
	return s
}

// theirs is another organization, whose data no other organization may see.
func theirs(t *testing.T, s *scene) *story {
	t.Helper()
	d := &story{organization: uuid.New()}
	i := &specInstance{id: uuid.New()}
	d.instances = append(d.instances, i)
	d.happens(domainfleet.InstanceStream, i.id, domainfleet.InstanceRegistered{ExternalID: "i1", Name: "theirs", Engine: domainfleet.PostgreSQL, CreatedAt: noon.AddDate(-1, 0, 0)})
	d.happens(domain.StreamType, uuid.New(), domain.Raised{Key: "external/1", Details: domain.Details{
		Title: "Disk full", InstanceID: i.id, Severity: domain.Critical,
		CreatedAt: noon.AddDate(-1, 0, 0), FirstTriggeredAt: noon.AddDate(-1, 0, 0), LastTriggeredAt: noon.AddDate(0, 0, 7),
	}})
	if err := s.tell(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// tell records what was drawn, and waits until it shows. What is said of one
// stream in a row is one batch.
func (s *scene) tell(ctx context.Context, d *story) error {
	var batches []eventstore.Append
	for _, f := range d.facts {
		e, err := s.registry.Encode(f.event)
		if err != nil {
			return err
		}
		if n := len(batches); n == 0 || batches[n-1].Stream != f.stream {
			batches = append(batches, eventstore.Append{
				Organization: d.organization, StreamType: f.streamType, Stream: f.stream, Expected: eventstore.AnyVersion,
			})
		}
		last := &batches[len(batches)-1]
		last.Events = append(last.Events, e)
	}
	for _, move := range d.silently {
		_, err := s.db.ExecContext(ctx, `INSERT INTO alert_last_seen (alert_id, organization_id, last_triggered_at) VALUES ($1, $2, $3)`,
			move.alert, d.organization, move.at)
		if err != nil {
			return err
		}
	}
	if len(batches) == 0 {
		return nil
	}
	position, err := eventstore.New(s.db).Append(ctx, eventstore.Fleet, batches...)
	if err != nil {
		return err
	}
	return s.shows(ctx, position)
}

// shows waits until the read models have passed a position.
func (s *scene) shows(ctx context.Context, position int64) error {
	for !s.stage.Wait(ctx, eventstore.Fleet, position) {
		if ctx.Err() != nil {
			return fmt.Errorf("position %d does not show: %w", position, ctx.Err())
		}
	}
	return nil
}

// comparison asks the readers and the specification the same.
type comparison struct {
	*story
	ctx    context.Context
	alerts *alerts.Reader
	fleet  *fleet.Reader
}

func (c *comparison) compare(f filter) {
	c.Helper()
	within, err := c.fleet.Scope(c.ctx, c.organization, f.ids, f.names, nil)
	byID := cmpopts.SortSlices(func(a, b uuid.UUID) bool { return a.String() < b.String() })
	if diff := cmp.Diff(c.scope(f), within, byID, cmpopts.EquateEmpty()); err != nil || diff != "" {
		c.Fatalf("scope of %+v: %v (-want +got)\n%s", f, err, diff)
	}
	c.overview(f, within)
	for _, size := range timegrid.Sizes() {
		if w := (timegrid.Window{From: c.from, To: c.to, Size: size}); w.Len() <= mostBuckets {
			c.history(f, within, w)
		}
	}
	for range 2 {
		c.list(f, within)
	}
}

func (c *comparison) overview(f filter, within domainfleet.Scope) {
	c.Helper()
	then := c.now.AddDate(0, 0, -7)
	counts, open, openThen := c.specification.overview(f, then)
	got, err := c.fleet.Counts(c.ctx, c.organization, within, then)
	if err != nil || got != counts {
		c.Fatalf("counts %+v, %v, want %+v", got, err, counts)
	}
	gotOpen, gotThen, err := c.alerts.Open(c.ctx, c.organization, within, then)
	if err != nil || gotOpen != open || gotThen != openThen {
		c.Fatalf("%d alerts, before %d, %v, want %d, before %d", gotOpen, gotThen, err, open, openThen)
	}
}

func (c *comparison) history(f filter, within domainfleet.Scope, w timegrid.Window) {
	c.Helper()
	active, resolved := c.specification.history(f, w.From, w.To, w.Size)
	gotActive, gotResolved, err := c.alerts.History(c.ctx, c.organization, within, w)
	if err != nil || !slices.Equal(gotActive, active) || !slices.Equal(gotResolved, resolved) {
		c.Fatalf("history by %s from %s to %s: %v\nactive %v, want %v\nresolved %v, want %v", w.Size, stamp(w.From), stamp(w.To), err,
			short(gotActive), short(active), short(gotResolved), short(resolved))
	}
	started := c.monitoringStarted(f)
	gotStarted, err := c.fleet.MonitoringStartedIn(c.ctx, c.organization, within)
	if err != nil || !cmp.Equal(gotStarted, started) {
		c.Fatalf("monitored since %v, %v, want %v", gotStarted, err, started)
	}
}

func (c *comparison) list(f filter, within domainfleet.Scope) {
	c.Helper()
	q := c.query()
	rows, total := c.page(f, q)
	q.Scope = within
	got, gotTotal, err := c.alerts.Page(c.ctx, q)
	if diff := cmp.Diff(rows, got); err != nil || gotTotal != total || diff != "" {
		c.Fatalf("page of %+v: %d alerts, %v, want %d (-want +got):\n%s", q, gotTotal, err, total, diff)
	}
}

func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }

// short leaves out what a person would not read.
func short(counts []int64) string {
	if len(counts) <= 30 {
		return fmt.Sprint(counts)
	}
	return fmt.Sprint(counts[:30], " and ", len(counts)-30, " more")
}
