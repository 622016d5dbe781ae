package commands_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestAnyLifeOfAlerts draws actions of feeds, machines, people and the sweeps on a few keys.
// After each step, the data beside a key matches the events. A key has at most one open alert,
// and leads to it. Only an open alert has a row in alert_last_seen, with what the log does not
// have yet. alert_mutes has a row for each alert that is muted until a time, and for no other.
// The same message again adds nothing.
func TestAnyLifeOfAlerts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rapid.Check(t, func(t *rapid.T) {
		l := &alertLife{T: t, house: *h}
		l.org.ID = uuid.New()
		l.actor.OrganizationID = l.org.ID
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			l.clock.Advance(time.Duration(rapid.SampledFrom([]int{0, 1, 40, 3 * 60, 6 * 60, 61 * 60}).Draw(t, "pause")) * time.Second)
			switch rapid.IntRange(0, 7).Draw(t, "who") {
			case 0, 1:
				l.feed()
			case 2, 3, 4, 5:
				l.machine()
			case 6:
				l.person()
			default:
				_, _, err := h.EndFirings(h.Context(), 1000)
				l.must(err)
				l.comes()
				_, _, err = h.EndMutes(h.Context(), 1000)
				l.must(err)
			}
			l.holds()
		}
	})
}

type alertLife struct {
	*rapid.T
	house
	known []uuid.UUID
}

func (l *alertLife) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// twice does something and holds that it adds no event when it is done again.
func (l *alertLife) twice(do func() error) {
	l.Helper()
	l.must(do())
	once := l.events()
	l.must(do())
	if n := l.events(); n != once {
		l.Fatalf("%d events the second time", n-once)
	}
}

func (l *alertLife) events() int {
	return l.count("events WHERE stream_type = 'alert' AND organization_id = $1", l.org.ID)
}

// ago is a time within the last hours; now more often than not.
func (l *alertLife) ago(label string) time.Time {
	return l.clock.Now().Add(-time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 30, 150, 600, 4000}).Draw(l.T, label))*time.Second - 123*time.Nanosecond)
}

func (l *alertLife) feed() {
	var items []alerting.Item
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 1, 2, rapid.ID).Draw(l.T, "items") {
		first := l.ago("first")
		i := alerting.Item{
			ExternalID: id, Title: rapid.SampledFrom([]string{"<full> & übervoll", "slow"}).Draw(l.T, "title"),
			Severity: rapid.SampledFrom(alert.Severities()).Draw(l.T, "severity"), State: rapid.SampledFrom(alert.States()).Draw(l.T, "state"),
			CreatedAt: first, FirstTriggeredAt: first, LastTriggeredAt: first.Add(time.Duration(rapid.IntRange(0, 9).Draw(l.T, "lasts")) * 30 * time.Second),
		}
		if latest := l.clock.Now().Add(5 * time.Minute); i.LastTriggeredAt.After(latest) {
			i.LastTriggeredAt = latest
		}
		if i.State.Closed() {
			at := l.ago("resolved")
			i.ResolvedAt = &at
		}
		if rapid.Bool().Draw(l.T, "speaks of muting") {
			muted := rapid.Bool().Draw(l.T, "muted")
			i.Muted = &muted
		}
		items = append(items, i)
	}
	l.twice(func() error {
		ids, _, err := l.RecordAlerts(l.Context(), l.actor, items)
		for _, id := range ids {
			l.known = append(l.known, id.ID)
		}
		return err
	})
}

func (l *alertLife) machine() {
	var firings []alert.Firing
	for range rapid.IntRange(1, 3).Draw(l.T, "firings") {
		threshold := 0.1
		f := alert.Firing{
			Key: rapid.SampledFrom([]string{"alertmanager/c", "watch/d"}).Draw(l.T, "key"), Title: "full",
			Description: rapid.SampledFrom([]string{"", "91 %", "92 %"}).Draw(l.T, "description"),
			Severity:    rapid.SampledFrom(alert.Severities()).Draw(l.T, "severity"),
			InstanceID:  rapid.SampledFrom([]uuid.UUID{{}, {1}, {2}}).Draw(l.T, "instance"),
			DatabaseID:  rapid.SampledFrom([]uuid.UUID{{}, {3}}).Draw(l.T, "database"),
			Rule:        rapid.SampledFrom([]*alert.Rule{nil, {ID: "r"}, {ID: "r", Name: "R", Threshold: &threshold, Unit: "percent"}}).Draw(l.T, "rule"),
			StartsAt:    l.ago("starts"), SeenAt: l.clock.Now(), Resolved: rapid.IntRange(0, 4).Draw(l.T, "resolved") == 0,
		}
		switch {
		case f.Resolved:
			f.EndsAt = l.ago("ends")
		case rapid.Bool().Draw(l.T, "says until when"):
			f.EndsAt = l.clock.Now().Add(5 * time.Minute)
		}
		firings = append(firings, f)
	}
	actor := l.actor
	if rapid.IntRange(0, 2).Draw(l.T, "limited") == 0 {
		actor.Limit = []uuid.UUID{{1}}
	}
	record := func() error {
		_, _, err := l.RecordFirings(l.Context(), actor, firings)
		return err
	}
	keys := make(map[string]bool)
	for _, f := range firings {
		keys[f.Key] = true
	}
	if len(keys) < len(firings) { // a sender who contradicts itself in one message does so again
		l.must(record())
		return
	}
	l.twice(record)
}

func (l *alertLife) person() {
	if len(l.known) == 0 {
		return
	}
	id := rapid.SampledFrom(l.known).Draw(l.T, "alert")
	act := rapid.SampledFrom([]func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){
		l.AcknowledgeAlert, l.MuteAlert, l.UnmuteAlert, l.ResolveAlert, l.muteUntil,
	}).Draw(l.T, "action")
	_, err := act(l.Context(), l.actor, id)
	var refused *usecase.RuleError
	if !errors.As(err, &refused) {
		l.must(err)
	}
}

// holds is what TestAnyLifeOfAlerts says.
func (l *alertLife) holds() {
	l.Helper()
	var keys []struct {
		Key    string
		Stream uuid.UUID `db:"stream_id"`
		Digest []byte    `db:"state_digest"`
	}
	l.must(l.db.SelectContext(l.Context(), &keys, `SELECT key, stream_id, state_digest FROM stream_keys
		WHERE organization_id = $1 AND stream_type = 'alert' AND stream_id IS NOT NULL`, l.org.ID))
	leads := make(map[uuid.UUID]bool)
	for _, k := range keys {
		leads[k.Stream] = true
		kept, ok := alert.Recall(k.Key, k.Digest)
		if said := l.folded(k.Stream); !ok || !reflect.DeepEqual(kept, said) {
			l.Fatalf("beside %s stands %+v, and the events say %+v", k.Key, kept, said)
		}
	}
	var rows []struct {
		ID    uuid.UUID  `db:"stream_id"`
		Last  *time.Time `db:"last_triggered_at"`
		Until *time.Time `db:"until"`
	}
	l.must(l.db.SelectContext(l.Context(), &rows, `SELECT s.stream_id, l.last_triggered_at, m.until
		FROM streams s FULL JOIN alert_last_seen l ON l.alert_id = s.stream_id LEFT JOIN alert_mutes m ON m.alert_id = s.stream_id
		WHERE s.organization_id = $1 AND s.stream_type = 'alert' OR l.organization_id = $1`, l.org.ID))
	l.known = l.known[:0]
	for _, r := range rows {
		l.known = append(l.known, r.ID)
		a := l.folded(r.ID)
		if open := a.State() != "" && !a.State().Closed(); !open && r.Last != nil || open && !leads[r.ID] {
			l.Fatalf("alert %s of %s is %s; is the one that its key leads to: %t; beside the log: %v", r.ID, a.Key(), a.State(), leads[r.ID], r.Last)
		}
		if until := a.MutedUntil(); until.IsZero() != (r.Until == nil) || r.Until != nil && !r.Until.Equal(until) {
			l.Fatalf("alert %s is muted until %s, and beside the log until %v", r.ID, until, r.Until)
		}
	}
	slices.SortFunc(l.known, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// TestATokenOfAnInstanceThatIsRegisteredAgain raises alerts of the instance that is there
// now, whatever became of those of the one before.
func TestATokenOfAnInstanceThatIsRegisteredAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	removed, again := uuid.UUID{1}, uuid.UUID{2}
	token := h.actor
	token.Limit = []uuid.UUID{again}
	for minute, c := range []struct {
		name   string
		close  bool
		events int
	}{{"open", false, 2}, {"closed", true, 3}} { // which ends the other one
		f := alert.Firing{Key: "alertmanager/1", Title: "full", Severity: alert.Warning, InstanceID: removed, StartsAt: start, SeenAt: start}
		if _, _, err := h.RecordFirings(t.Context(), h.actor, []alert.Firing{f}); err != nil {
			t.Fatal(err)
		}
		if c.close {
			f.EndsAt, f.Resolved = start, true
			if _, _, err := h.RecordFirings(t.Context(), h.actor, []alert.Firing{f}); err != nil {
				t.Fatal(err)
			}
		}
		h.clock.Advance(time.Minute)
		at := start.Add(time.Duration(minute+1) * time.Minute)
		f = alert.Firing{Key: "alertmanager/1", Title: "full", Severity: alert.Warning, InstanceID: again, StartsAt: at, SeenAt: at}
		dropped, _, err := h.RecordFirings(t.Context(), token, []alert.Firing{f})
		if err != nil || dropped != 0 || h.alertEvents() != c.events {
			t.Errorf("%s: %d dropped, %d events, %v", c.name, dropped, h.alertEvents(), err)
		}
	}
}

// TestAFailingOrganizationDelaysNoOther when ends are swept.
func TestAFailingOrganizationDelaysNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const others = 8
	for i := range others + 1 {
		h.actor.OrganizationID = uuid.UUID{byte(i + 1)}
		_, _, err := h.RecordFirings(t.Context(), h.actor, []alert.Firing{{
			Key: "alertmanager/1", Title: "full", Severity: alert.Warning, StartsAt: start, SeenAt: start, EndsAt: start.Add(time.Minute),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	broken := h.actor.OrganizationID
	h.actor.OrganizationID = h.org.ID
	foreign := h.alerts(alertItem("a-1"))[0]
	for _, lead := range []string{
		`UPDATE stream_keys SET stream_id = $2 WHERE organization_id = $1`, `UPDATE alert_last_seen SET alert_id = $2 WHERE organization_id = $1`,
	} {
		if _, err := h.db.ExecContext(t.Context(), lead, broken, foreign); err != nil {
			t.Fatal(err)
		}
	}
	h.clock.Advance(time.Minute)
	ended, mark, err := h.EndFirings(t.Context(), 1000)
	if ended != others || mark.Position == 0 || err == nil || !strings.Contains(err.Error(), broken.String()) {
		t.Errorf("%d ended, %+v, %v", ended, mark, err)
	}
}

// deadlocks counts them, for a transaction that meets one is silently tried again.
type deadlocks struct{ atomic.Int64 }

func (*deadlocks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (d *deadlocks) TraceQueryEnd(_ context.Context, _ *pgx.Conn, end pgx.TraceQueryEndData) {
	var server *pgconn.PgError
	if errors.As(end.Err, &server) && server.Code == "40P01" {
		d.Add(1)
	}
}

// TestConcurrentWritersOfAlertsDoNotDeadlock: feeds, machines, people and two sweeps work on the same alerts.
func TestConcurrentWritersOfAlertsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var met deadlocks
	db, pool, err := postgres.Connect(t.Context(), pgtest.URL(t), postgres.PoolOptions{Name: "test", Max: 12, Tracer: &met})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	h.DB = db
	const alerts = 40
	items, firings := make([]alerting.Item, alerts), make([]alert.Firing, alerts)
	for i := range alerts {
		items[i] = alertItem(fmt.Sprintf("a-%02d", i))
		firings[i] = alert.Firing{
			Key: fmt.Sprintf("alertmanager/%02d", i), Title: "full", Severity: alert.Warning,
			StartsAt: start.Add(-time.Minute), SeenAt: start, EndsAt: start.Add(time.Duration(i) * time.Second),
		}
	}
	h.alerts(items...)
	if _, _, err := h.RecordFirings(t.Context(), h.actor, firings); err != nil {
		t.Fatal(err)
	}
	var ids []uuid.UUID
	if err := db.SelectContext(t.Context(), &ids, `SELECT stream_id FROM streams WHERE stream_type = 'alert' ORDER BY stream_id`); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(20 * time.Second) // half of what fires has come to its end
	together(10, func(n int) error {
		random := rand.New(rand.NewPCG(7, uint64(n)))
		for range 5 {
			if err := h.oneOfMany(n%5, random, items, firings, ids); err != nil {
				return err
			}
		}
		return nil
	}, t)
	if n := met.Load(); n > 0 {
		t.Errorf("%d deadlocks", n)
	}
	h.wantKeysTold()
	for _, id := range ids {
		if a := h.folded(id); a.State().Closed() && h.count("alert_last_seen WHERE alert_id = $1", id) > 0 {
			t.Errorf("%s is %s and has a row beside the log", a.Key(), a.State())
		}
	}
}

// oneOfMany does one thing of those that happen at once.
func (h *house) oneOfMany(what int, random *rand.Rand, items []alerting.Item, firings []alert.Firing, ids []uuid.UUID) (err error) {
	switch what {
	case 0:
		some := slices.Clone(items)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for i := range some[:25] {
			some[i].LastTriggeredAt = start.Add(time.Duration(random.IntN(20)) * time.Second)
		}
		_, _, err = h.RecordAlerts(h.Context(), h.actor, some[:25])
	case 1, 2:
		some := slices.Clone(firings)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for i := range some[:25] {
			some[i].SeenAt = start.Add(20 * time.Second)
			some[i].EndsAt = start.Add(time.Duration(random.IntN(60)) * time.Second)
		}
		_, _, err = h.RecordFirings(h.Context(), h.actor, some[:25])
	case 3:
		_, err = h.ResolveAlert(h.Context(), h.actor, ids[random.IntN(len(ids))])
		var refused *usecase.RuleError
		if errors.As(err, &refused) {
			return nil
		}
	default:
		_, _, err = h.EndFirings(h.Context(), 1000)
	}
	return err
}
