package httpapi

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
)

// transactions asks what a server tells about itself in a window.
func (w *world) transactions(as person, instance uuid.UUID, from, to time.Time, size string) answer {
	w.t.Helper()
	window := url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "bucketSize": {size}}
	return w.get(as, "/api/v1/instances/"+instance.String()+"/transactions?"+window.Encode())
}

// shownTransactions is an answer, whose series have gaps.
type shownTransactions struct {
	Figures     []api.TransactionFigure
	Databases   []api.TemporaryBytesOfDatabase
	Unavailable []api.UnavailableFigure
	Series      map[string][]*float64
}

func (s shownTransactions) of(figure api.ServerFigure) api.TransactionFigure {
	return s.Figures[slices.IndexFunc(s.Figures, func(f api.TransactionFigure) bool { return f.Figure == figure })]
}

// TestTransactions: a figure that nobody tells is no zero, and says why.
func TestTransactions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.fleetOfThree(w.theirs)
	orders := w.databaseOf(w.ours, ids["orders"])
	start := w.hourAgo(1)
	told := func(of measurements.Figure, value int64, by *measurements.Holder) measurements.ServerFigure {
		f := measurements.ServerFigure{Figure: of, Telling: measurements.Told, Value: value, Holder: by}
		if of.Counts() {
			f.Interval = time.Minute
		}
		return f
	}
	held := func(session string) *measurements.Holder {
		return &measurements.Holder{Session: session, Database: orders, Doing: measurements.Doing{
			State: measurements.IdleInTransaction, Statement: "q1", User: "bi\x00ll", Application: "bil\x1bling", Client: "10.4.1.11",
		}}
	}
	ofOrders := told(measurements.TemporaryBytes, 6000, nil)
	ofOrders.Database = orders
	sample := func(minute int, figures ...measurements.ServerFigure) measurements.ServerSample {
		return measurements.ServerSample{Instance: ids["orders"], Engine: domain.PostgreSQL, At: start.Add(time.Duration(minute) * time.Minute), Figures: figures}
	}
	untold := func(of measurements.Figure, as measurements.Telling) measurements.ServerFigure {
		return measurements.ServerFigure{Figure: of, Telling: as}
	}
	w.measured(w.ours, measurements.Batch{Servers: []measurements.ServerSample{
		sample(0, told(measurements.OldestTransaction, 90_500, held("17")), told(measurements.TemporaryBytes, 6000, nil), ofOrders, told(measurements.CheckpointsTimed, 1, nil), untold(measurements.TemporaryUsed, measurements.NotTold)),
		sample(1, told(measurements.OldestTransaction, 2_000, held("18")), told(measurements.TemporaryBytes, 0, nil), told(measurements.NewConnections, 120, nil), untold(measurements.OldestIdle, measurements.Denied)),
		sample(2, untold(measurements.NewConnections, measurements.Denied)),
	}})
	read := func(as person, size string) (s shownTransactions) {
		t.Helper()
		w.transactions(as, ids["orders"], start, start.Add(time.Hour), size).is(200).decode(&s)
		if len(s.Figures) != len(measurements.WithoutReplication()) || len(s.Series) != len(s.Figures) || len(s.Unavailable) > 0 {
			t.Errorf("%+v", s)
		}
		return s
	}
	s := read(w.ours.admin, "1m")
	series := func(of string, want ...any) {
		t.Helper()
		for i, value := range want {
			if got := s.Series[of][i]; (got == nil) != (value == nil) || got != nil && *got != value {
				t.Errorf("%s in minute %d is %v, want %v", of, i, got, value)
			}
		}
	}
	series("oldestTransaction", 90.5, 2.0, nil)
	series("oldestIdleInTransaction", nil, nil)
	series("temporaryBytes", 100.0, 0.0, nil)
	series("checkpointsTimed", 1.0, nil)
	series("newConnections", nil, 2.0, nil)
	series("temporaryUsed", nil, nil)
	holder := func(session string) *api.TransactionHolder {
		return &api.TransactionHolder{
			Session: session, State: api.ActivityState("idleInTransaction"), Database: &api.ContributingDatabase{Id: orders, Name: "d"},
			User: to("bill"), Application: to("bil\ufffdling"), Client: to("10.4.1.11"),
			Statement: &api.ContributingStatement{Id: measurements.StatementID(ids["orders"], measurements.HashStatement(orders, "q1"))},
		}
	}
	is := func(figure string, want api.TransactionFigure) {
		t.Helper()
		want.Figure = api.ServerFigure(figure)
		if diff := cmp.Diff(want, s.of(want.Figure)); diff != "" {
			t.Error(diff)
		}
	}
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute).UTC() }
	is("oldestTransaction", api.TransactionFigure{
		State: "ok", Latest: &api.TransactionMoment{At: at(1), Value: 2, Holder: holder("18")}, Greatest: &api.TransactionMoment{At: at(0), Value: 90.5, Holder: holder("17")},
	})
	is("oldestIdleInTransaction", api.TransactionFigure{State: "denied", Sentence: to("Muster's account may not read the time that sessions are idle in a transaction.")})
	is("temporaryUsed", api.TransactionFigure{State: "notTold", Sentence: to("PostgreSQL does not report the temporary space in use.")})
	is("checkpointSyncMs", api.TransactionFigure{State: "notMeasured", Sentence: to("No sample in this window has the sync time of checkpoints.")})
	second := at(2)
	is("newConnections", api.TransactionFigure{
		State: "denied", Since: &second, Sentence: to("Muster's account may not read new connections."),
		Latest: &api.TransactionMoment{At: at(1), Value: 2}, Greatest: &api.TransactionMoment{At: at(1), Value: 2},
	})
	if len(s.Databases) != 1 || s.Databases[0].Database.Id != orders || s.Databases[0].Average != 50 {
		t.Errorf("by database: %+v", s.Databases)
	}
	s = read(w.ours.admin, "1h")
	series("oldestTransaction", 90.5)
	series("checkpointsTimed", 1.0)
	series("temporaryBytes", 50.0)
	hidden := read(w.ours.viewer, "1m").of("oldestTransaction").Greatest.Holder
	if hidden.Session != "17" || hidden.User != nil || hidden.Application != nil || hidden.Client != nil || hidden.Database == nil {
		t.Errorf("a viewer sees %+v", hidden)
	}
	var none shownTransactions
	w.transactions(w.ours.admin, ids["billing"], start, start.Add(time.Hour), "1m").is(200).decode(&none)
	if f := none.of("oldestTransaction"); f.State != "notMeasured" || f.Latest != nil || none.Series["newConnections"][0] != nil {
		t.Errorf("nothing was measured: %+v", f)
	}
	w.transactions(w.theirs.admin, ids["orders"], start, start.Add(time.Hour), "1m").problem(404, "not_found")
	w.transactions(w.ours.admin, uuid.New(), start, start.Add(time.Hour), "1m").problem(404, "not_found")
	for size, days := range map[string]int{"1m": 4, "1h": 36} {
		from := start.AddDate(0, 0, -days)
		w.transactions(w.ours.admin, ids["orders"], from, from.Add(2*time.Hour), size).is(200)
	}
	w.transactions(w.ours.admin, ids["orders"], start.AddDate(-2, 0, 0), start, "1w").problem(422, "detail_not_kept")
}

// TestAnAgentSendsFiguresOfServers, and a sample that breaks a rule is not taken. Of an organization that keeps
// no people, only sessions stay that belong to nobody.
func TestAnAgentSendsFiguresOfServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	start := w.hourAgo(1)
	send := func(minute int, figures ...members) answer {
		return in.send(samplesPath, members{"servers": []members{{"instance": "orders", "at": start.Add(time.Duration(minute) * time.Minute), "figures": figures}}})
	}
	oldest := func(change members) members {
		return members{"figure": "oldestTransaction", "value": 90000, "holder": members{
			"session": "17", "state": "idleInTransaction", "database": "d", "user": "bill", "client": "10.4.1.11", "statement": "q1",
		}.with(change)}
	}
	written := members{"figure": "temporaryBytes", "value": 600, "intervalSeconds": 60}
	send(0, oldest(nil), written, written.with(members{"database": "d", "value": 300}), members{"figure": "temporaryUsed", "state": "notTold"}).is(202)
	w.roll()
	read := func(minute int) (s shownTransactions) {
		t.Helper()
		from := start.Add(time.Duration(minute) * time.Minute)
		w.transactions(w.ours.admin, ids["orders"], from, from.Add(time.Minute), "1m").is(200).decode(&s)
		return s
	}
	s := read(0)
	if h := s.of("oldestTransaction").Latest.Holder; h == nil || *h.User != "bill" || h.Application != nil || h.Database.Name != "d" || h.Statement == nil {
		t.Errorf("held by %+v", h)
	}
	if *s.Series["temporaryBytes"][0] != 10 || s.Databases[0].Average != 5 || s.of("temporaryUsed").State != "notTold" {
		t.Errorf("%+v", s)
	}
	for name, c := range map[string]struct {
		figures  []members
		at, code string
	}{
		"a database of another figure": {[]members{{"figure": "newConnections", "value": 1, "intervalSeconds": 60, "database": "d"}}, "/database", "out_of_range"},
		"an unknown database":          {[]members{written.with(members{"database": "x"})}, "/database", "unknown_database"},
		"no interval":                  {[]members{{"figure": "newConnections", "value": 1}}, "/intervalSeconds", "out_of_range"},
		"below zero":                   {[]members{{"figure": "temporaryUsed", "value": -1}}, "/value", "out_of_range"},
		"told by nobody":               {[]members{{"figure": "temporaryUsed", "state": "notMeasured"}}, "/state", "out_of_range"},
		"no session":                   {[]members{oldest(members{"session": ""})}, "/holder/session", "out_of_range"},
	} {
		if got := send(1, c.figures...).problem(422, c.code).places(); !slices.Equal(got, bodyPlaces("", "#/servers/0/figures/0"+c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := send(1, written, written).problem(422, "duplicate_key").places(); len(got) == 0 {
		t.Error("a figure twice is taken")
	}
	in.send(samplesPath, members{"servers": []members{{"instance": "nobody", "at": start, "figures": []members{}}}}).problem(422, "unknown_instance")
	w.change(w.ours.admin, w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag"), map[string]any{"sessionDetail": "off"}).is(200)
	send(2, oldest(members{"session": "18", "user": "eve"})).is(202)
	w.roll()
	if h := read(2).of("oldestTransaction").Latest.Holder; h == nil || h.Session != "18" || h.User != nil || h.Client != nil || h.Database == nil {
		t.Errorf("without people it is held by %+v", h)
	}
}
