package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
	"muster/internal/watch"
)

var (
	now                 = time.Date(2026, 11, 20, 15, 10, 0, 0, time.UTC)
	mine, other, adrift = uuid.New(), uuid.New(), uuid.New()
	limited             = intake.Caller{OrganizationID: uuid.New(), Limit: fleet.Limit{mine, adrift}}
	unlimited           = intake.Caller{OrganizationID: limited.OrganizationID}
)

// house is what the door stands on: the servers "mine" and "other", each with a
// database "d", and hosts that are known to run them.
type house struct {
	kept    []measurements.Batch
	engines []map[uuid.UUID]fleet.Engine // one after the other, and the last one from then on
	lags    bool
	fails   error
	texts   bool
	asked   []string
}

func (h *house) doors() *feed.Doors {
	r := &resolve.Resolver{Keys: h, Fleet: h, Hosts: h, CatchUp: func(context.Context) (bool, error) {
		h.asked = append(h.asked, "catch up")
		return !h.lags, nil
	}}
	return &feed.Doors{Places: r, Store: h, Texts: h, Now: func() time.Time { return now }}
}

func (h *house) FindPlaces(_ context.Context, _ uuid.UUID, names []inventory.PlaceName) ([]inventory.Place, error) {
	h.asked = append(h.asked, fmt.Sprint("places of ", len(names)))
	found := make([]inventory.Place, len(names))
	for i, n := range names {
		found[i].Instance = map[string]uuid.UUID{"mine": mine, "other": other, "adrift": adrift}[*n.Instance]
		if n.Database != nil && *n.Database == "d" && found[i].Instance != uuid.Nil {
			found[i].Database = uuid.NewSHA1(found[i].Instance, []byte("d"))
		}
	}
	return found, nil
}

func (h *house) Engines(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Engine, error) {
	h.asked = append(h.asked, "engines")
	if len(h.engines) > 1 {
		defer func() { h.engines = h.engines[1:] }()
	}
	if len(h.engines) > 0 {
		return h.engines[0], nil
	}
	return map[uuid.UUID]fleet.Engine{mine: fleet.PostgreSQL, other: fleet.Oracle}, nil
}

func (h *house) DatabaseNames(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	panic("samples have no names")
}

func (h *house) KeepsTexts(context.Context, uuid.UUID) (bool, error) {
	h.asked = append(h.asked, "texts")
	return h.texts, nil
}

func (h *house) HostsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return map[uuid.UUID]string{mine: "db01", other: "db02", adrift: "10.0.0.7"}, nil
}

func (h *house) Called(context.Context, uuid.UUID, []string) ([]fleet.CalledInstance, error) {
	panic("a feed has no labels")
}

func (h *house) DatabasesCalled(context.Context, uuid.UUID, []uuid.UUID, []string) ([]fleet.CalledDatabase, error) {
	panic("a feed has no labels")
}

func (h *house) KnownOn(context.Context, uuid.UUID, []string) (map[string][]uuid.UUID, error) {
	return map[string][]uuid.UUID{"db01": {mine}, "db02": {other}, "both": {mine, other}, "removed": {uuid.New()}}, nil
}

func (h *house) Record(_ context.Context, b measurements.Batch, _ ...watch.Sign) (measurements.Receipt, error) {
	if h.fails != nil {
		return measurements.Receipt{}, h.fails
	}
	h.kept = append(h.kept, b)
	return measurements.Receipt{Accepted: measurements.SampleCounts{Hosts: len(b.Hosts), Sessions: len(b.Sessions), Statements: len(b.Statements) - 1}, TooLate: measurements.SampleCounts{Statements: 1}}, nil
}

func host(name string, instances ...string) feed.HostItem {
	half := json.Number("50")
	return feed.HostItem{Host: name, Instances: instances, At: now, CPUPercent: &half}
}

func sessions(instance, database string) feed.SessionItem {
	return feed.SessionItem{Instance: instance, Database: database, At: now, Active: "1", Idle: "0", Waiting: "0", IdleInTransaction: "0", Other: "0"}
}

func statements(instance, database string) feed.StatementItem {
	return feed.StatementItem{Instance: instance, Database: database, At: now, IntervalSeconds: "60", Statements: []feed.DeltaItem{{Key: "q", Calls: "1", TotalMs: "2"}}}
}

// TestSamplesOfALimitedToken: every case of the rule. A call with anything beyond the
// token is refused whole, before any other rule, and every item of it is named.
func TestSamplesOfALimitedToken(t *testing.T) {
	t.Parallel()
	bad := sessions("other", "d")
	bad.Active = "-1"
	for name, c := range map[string]struct {
		items feed.Items
		want  []string // pointers; none: taken
	}{
		"its own":                     {feed.Items{Hosts: []feed.HostItem{host("db01", "mine")}, Sessions: []feed.SessionItem{sessions("mine", "d")}, Statements: []feed.StatementItem{statements("mine", "d")}}, nil},
		"sessions of another's":       {feed.Items{Sessions: []feed.SessionItem{sessions("mine", "d"), sessions("other", "d")}}, []string{"#/sessions/1/instance"}},
		"statements of nobody's":      {feed.Items{Statements: []feed.StatementItem{statements("nobody", "d")}}, []string{"#/statements/0/instance"}},
		"another's, and bad":          {feed.Items{Sessions: []feed.SessionItem{bad}}, []string{"#/sessions/0/instance"}},
		"a host of both":              {feed.Items{Hosts: []feed.HostItem{host("new", "mine", "other")}}, []string{"#/hosts/0/instances/1"}},
		"a host that both run on":     {feed.Items{Hosts: []feed.HostItem{host("both", "mine")}}, []string{"#/hosts/0/host"}},
		"another's host":              {feed.Items{Hosts: []feed.HostItem{host("db02", "mine")}}, []string{"#/hosts/0/host"}},
		"a host that nobody knows":    {feed.Items{Hosts: []feed.HostItem{host("new", "mine"), host("db01", "mine"), host("removed", "mine")}}, []string{"#/hosts/0/host", "#/hosts/2/host"}},
		"the first host of its own":   {feed.Items{Hosts: []feed.HostItem{host("new", "adrift"), host("removed", "adrift")}}, nil},
		"the first host of both":      {feed.Items{Hosts: []feed.HostItem{host("new", "adrift", "mine")}}, []string{"#/hosts/0/host"}},
		"unnamed, known as its own":   {feed.Items{Hosts: []feed.HostItem{host("db01")}}, nil},
		"unnamed, known as another's": {feed.Items{Hosts: []feed.HostItem{host("db02")}}, []string{"#/hosts/0/instances"}},
		"unnamed, known as both's":    {feed.Items{Hosts: []feed.HostItem{host("both")}}, []string{"#/hosts/0/instances"}},
		"unnamed, known as nobody's":  {feed.Items{Hosts: []feed.HostItem{host("new"), host("removed")}}, []string{"#/hosts/0/instances", "#/hosts/1/instances"}},
		"everything at once": {feed.Items{
			Hosts:      []feed.HostItem{host("db01", "other", "mine", "nobody"), host("db01", "mine"), host("db02", "mine")},
			Sessions:   []feed.SessionItem{sessions("other", "x"), sessions("mine", "d")},
			Statements: []feed.StatementItem{statements("mine", "d"), statements("nobody", "d")},
		}, []string{"#/hosts/0/instances/0", "#/hosts/0/instances/2", "#/hosts/2/host", "#/sessions/0/instance", "#/statements/1/instance"}},
	} {
		h := &house{}
		_, err := h.doors().TakeSamples(t.Context(), limited, c.items)
		var rule *usecase.RuleError
		var got []string
		if errors.As(err, &rule) {
			for _, f := range rule.Fields {
				got = append(got, f.Pointer)
			}
		}
		if (err == nil) != (c.want == nil) || err != nil && rule.Code != "outside_token" || !cmp.Equal(c.want, got) || (len(h.kept) == 1) != (c.want == nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestSamples: names are looked up at once, stored samples have their place and their engine,
// and the caller waits for a read model that lags.
func TestSamples(t *testing.T) {
	t.Parallel()
	items := feed.Items{Hosts: []feed.HostItem{host("db01", "mine", "other", "mine")}, Sessions: []feed.SessionItem{sessions("other", "d")},
		Statements: []feed.StatementItem{statements("mine", "d"), statements("other", "d")}}
	h := &house{engines: []map[uuid.UUID]fleet.Engine{{}, {mine: fleet.SQLServer, other: fleet.Oracle}}}
	got, err := h.doors().TakeSamples(t.Context(), unlimited, items)
	want := intake.Receipt{
		Dropped:  map[intake.Reason]int{intake.TooLate: 1},
		Recorded: map[intake.Sort]int{intake.HostSample: 1, intake.SessionSample: 1, intake.StatementSample: 1},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"places of 6", "engines", "catch up", "engines"}, h.asked); diff != "" {
		t.Error(diff)
	}
	b := h.kept[0]
	type at struct {
		instance, database uuid.UUID
		engine             fleet.Engine
	}
	places := []at{{b.Sessions[0].Instance, b.Sessions[0].Database, b.Sessions[0].Engine}}
	for _, s := range b.Statements {
		places = append(places, at{s.Instance, s.Database, s.Engine})
	}
	d := func(of uuid.UUID) uuid.UUID { return uuid.NewSHA1(of, []byte("d")) }
	if diff := cmp.Diff([]at{{other, d(other), fleet.Oracle}, {mine, d(mine), fleet.SQLServer}, {other, d(other), fleet.Oracle}}, places, cmp.AllowUnexported(at{})); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(b.Hosts[0].Instances, []uuid.UUID{mine, other}) || b.Organization != unlimited.OrganizationID {
		t.Errorf("%+v", b)
	}

	h = &house{engines: []map[uuid.UUID]fleet.Engine{{mine: fleet.PostgreSQL}}, lags: true}
	var lagging *intake.LaggingError
	if _, err := h.doors().TakeSamples(t.Context(), unlimited, items); !errors.As(err, &lagging) || len(h.kept) != 0 {
		t.Errorf("with a read model that lags: %v, and %d batches", err, len(h.kept))
	}
	h = &house{}
	if _, err := h.doors().TakeSamples(t.Context(), unlimited, feed.Items{Hosts: items.Hosts}); err != nil || !cmp.Equal(h.asked, []string{"places of 3"}) {
		t.Errorf("of hosts %q are asked, %v", h.asked, err)
	}
	unknown := feed.Items{Hosts: []feed.HostItem{host("db01", "nobody")}, Sessions: []feed.SessionItem{sessions("nobody", "d")}, Statements: []feed.StatementItem{statements("mine", "x")}}
	var rule *usecase.RuleError
	var told []string
	if _, err := h.doors().TakeSamples(t.Context(), unlimited, unknown); errors.As(err, &rule) {
		for _, f := range rule.Fields {
			told = append(told, f.Pointer+" "+f.Code)
		}
	}
	if diff := cmp.Diff([]string{"#/hosts/0/instances/0 unknown_instance", "#/sessions/0/instance unknown_instance", "#/statements/0/database unknown_database"}, told); diff != "" {
		t.Error(diff)
	}
}

// TestTextsOfStatements: they are kept by the lexer of their instance's engine where the
// organization asked for them, and nowhere as they were sent.
func TestTextsOfStatements(t *testing.T) {
	t.Parallel()
	texts := func(h *house, items feed.Items) (texts []string, err error) {
		_, err = h.doors().TakeSamples(t.Context(), unlimited, items)
		for _, b := range h.kept {
			for _, s := range b.Statements {
				for _, one := range s.Statements {
					texts = append(texts, one.Text)
				}
			}
		}
		return texts, err
	}
	sent := func(text *string, in ...string) (items feed.Items) {
		for _, instance := range in {
			s := statements(instance, "d")
			s.Statements[0].Text = text
			items.Statements = append(items.Statements, s)
		}
		return items
	}
	text := "SELECT q'[it's secret]', 'x'"
	for _, c := range []struct {
		name  string
		keeps bool
		items feed.Items
		want  []string
		asked int
	}{
		{"kept, of Oracle and of PostgreSQL", true, sent(&text, "other", "mine"), []string{"SELECT ?, ?", "SELECT"}, 1},
		{"dropped", false, sent(&text, "other", "mine"), []string{"", ""}, 1},
		{"none", true, sent(nil, "other"), []string{""}, 0},
	} {
		h := &house{texts: c.keeps}
		got, err := texts(h, c.items)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
		if n := len(h.asked) - len(slices.DeleteFunc(h.asked, func(s string) bool { return s == "texts" })); n != c.asked {
			t.Errorf("%s: asked %d times whether texts are kept", c.name, n)
		}
	}

	busy, tooBusy := json.Number("140.5"), json.Number("1e16")
	items := sent(&text, "mine")
	items.Statements[0].BusyMs = &busy
	h := &house{}
	if _, err := texts(h, items); err != nil || *h.kept[0].Statements[0].BusyMs != 140.5 {
		t.Errorf("%v, %+v", err, h.kept)
	}
	items.Statements[0].BusyMs, items.Statements[0].Statements[0].Key = &tooBusy, ""
	h = &house{texts: true}
	var rule *usecase.RuleError
	if _, err := texts(h, items); !errors.As(err, &rule) || len(rule.Fields) != 2 || rule.Fields[0].Pointer != "#/statements/0/busyMs" || len(h.kept) != 0 {
		t.Errorf("%v, %+v", err, h.kept)
	} else if strings.Contains(fmt.Sprintf("%v %+v", err, rule), "secret") {
		t.Errorf("an error tells a text: %v", err)
	}
}

// TestSendersAndRefusalsArePassedOn: the sender is passed on, whoever it is, and a refusal by the store is
// reported for each item concerned.
func TestSendersAndRefusalsArePassedOn(t *testing.T) {
	t.Parallel()
	items := feed.Items{Sessions: []feed.SessionItem{sessions("other", "d"), sessions("mine", "d")},
		Statements: []feed.StatementItem{statements("mine", "d"), statements("other", "d"), statements("mine", "d")}}
	for _, sender := range []string{"", "one"} {
		items.Sender = sender
		h := &house{}
		if _, err := h.doors().TakeSamples(t.Context(), unlimited, items); err != nil || *h.kept[0].Sender != sender || h.kept[0].Guard == nil {
			t.Errorf("%q: %+v, %v", sender, h.kept, err)
		}
	}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{&measurements.HeldError{Instances: []uuid.UUID{mine}}, []string{"#/statements/0/instance instance_held", "#/statements/2/instance instance_held"}},
		{&assessment.CollectedError{Instances: []uuid.UUID{other}}, []string{"#/sessions/0/instance assessed_by_collector", "#/statements/1/instance assessed_by_collector"}},
		{errors.New("the database is away"), nil},
	} {
		h := &house{fails: c.err}
		_, err := h.doors().TakeSamples(t.Context(), unlimited, items)
		var rule *usecase.RuleError
		var told []string
		if errors.As(err, &rule) {
			for _, f := range rule.Fields {
				told = append(told, f.Pointer+" "+f.Code)
			}
		}
		if diff := cmp.Diff(c.want, told); diff != "" || err == nil {
			t.Errorf("%v: %v\n%s", c.err, err, diff)
		}
	}
}

// TestLargeBoundsOfSamples: how many statements one sample has, and how long the text of one is.
func TestLargeBoundsOfSamples(t *testing.T) {
	t.Parallel()
	of := func(deltas ...feed.DeltaItem) feed.Items {
		return feed.Items{Statements: []feed.StatementItem{{At: now, Instance: "mine", Database: "d", IntervalSeconds: "60", Statements: deltas}}}
	}
	long := strings.Repeat("x", 1<<20+1)
	for pointer, items := range map[string]feed.Items{
		"#/statements/0/statements":        of(make([]feed.DeltaItem, 100_001)...),
		"#/statements/0/statements/0/text": of(feed.DeltaItem{Key: "q", Calls: "1", TotalMs: "1", Text: &long}),
	} {
		h := &house{}
		_, err := h.doors().TakeSamples(t.Context(), unlimited, items)
		broken := new(usecase.RuleError)
		if !errors.As(err, &broken) || len(broken.Fields) != 1 || broken.Fields[0].Pointer != pointer || broken.Code != "out_of_range" || len(h.kept) > 0 {
			t.Errorf("%s: %.200v", pointer, err)
		}
	}
}
