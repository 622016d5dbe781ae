package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
)

// activity asks what sessions did in a window.
func (w *world) activity(as person, from, to time.Time, size, query string) answer {
	w.t.Helper()
	window := url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "bucketSize": {size}}
	return w.get(as, "/api/v1/activity?"+window.Encode()+"&"+query)
}

// shownActivity is an answer, whose series have gaps.
type shownActivity struct {
	Items       []api.ActivityItem
	Average     *float64
	Cores       *int
	CoreHosts   int
	Incomplete  bool
	Unavailable []api.UnavailableFigure
	Series      map[string][]*float64
}

// databaseOf is the only database of a server.
func (w *world) databaseOf(in tenant, instance uuid.UUID) uuid.UUID {
	w.t.Helper()
	var page struct{ Items []struct{ ID uuid.UUID } }
	w.get(in.viewer, "/api/v1/instances/"+instance.String()+"/databases").is(200).decode(&page)
	return page.Items[0].ID
}

// busySessions are samples of two servers, one of which says whose its sessions are.
func busySessions(ids map[string]uuid.UUID, orders, billing uuid.UUID, start time.Time) measurements.Batch {
	at := func(second int, waits map[string]int64, active int64, doing ...measurements.Doing) measurements.SessionSample {
		return measurements.SessionSample{
			Instance: ids["orders"], Engine: domain.PostgreSQL, Database: orders, At: start.Add(time.Duration(second) * time.Second), Interval: 10 * time.Second,
			Active: active, Waiting: 3, Waits: waits, Doing: doing,
		}
	}
	doing := func(state measurements.State, wait, event, statement, user, application, client string, n int64) measurements.Doing {
		return measurements.Doing{State: state, Wait: wait, Event: event, Statement: statement, User: user, Application: application, Client: client, Sessions: n}
	}
	return measurements.Batch{
		Hosts: []measurements.HostSample{{Host: "db01", Instances: []uuid.UUID{ids["orders"]}, At: start, CPU: []measurements.CPUCounter{{Code: 3, Seconds: 1}, {Code: 19, Seconds: 1}}}},
		Sessions: []measurements.SessionSample{
			at(0, map[string]int64{"Lock": 3, "Client": 5}, 2,
				doing(measurements.Waits, "Lock", "transactionid", "q1", "bill", "billing", "10.4.1.11", 2), doing(measurements.Waits, "Lock", "relation", "q2", "shop", "others", `10.4."1".12`, 1),
				doing(measurements.Idle, "Client", "ClientRead", "", "sh\x00op", "un\x1bknown", "10.4.1.12", 5), doing(measurements.OnCPU, "", "", "q1", "bill", "billing", "10.4.1.11", 1)),
			at(10, nil, 1, doing(measurements.OnCPU, "", "", "q1", "bill", "billing", "10.4.1.11", 1)),
			{Instance: ids["billing"], Engine: domain.SQLServer, Database: billing, At: start, Interval: 30 * time.Second, Waits: map[string]int64{"LCK_M_X": 4}, Part: measurements.OnlyWaits},
			{Instance: ids["billing"], Engine: domain.SQLServer, Database: billing, At: start.Add(5 * time.Minute), Interval: 30 * time.Second, Waits: map[string]int64{"LCK_M_X": 4}, Part: measurements.OnlyWaits},
		},
	}
}

// TestActivity is by each dimension, together always the tile of wait events and what is on the CPU.
func TestActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.fleetOfThree(w.theirs)
	start := w.hourAgo(5)
	orders, billing := w.databaseOf(w.ours, ids["orders"]), w.databaseOf(w.ours, ids["billing"])
	w.measured(w.ours, busySessions(ids, orders, billing, start))
	read := func(as person, size, query string) (a shownActivity) {
		t.Helper()
		w.activity(as, start, start.Add(time.Hour), size, query).is(200).decode(&a)
		return a
	}
	q1 := measurements.StatementID(ids["orders"], measurements.HashStatement(orders, "q1")).String()
	q2 := measurements.StatementID(ids["orders"], measurements.HashStatement(orders, "q2")).String()
	for query, want := range map[string]map[string]float64{ // CPU: 3 in 2 samples
		"by=state":                      {"cpu": 1.5, "waiting": 7, "idle": 5},
		"by=waitClass":                  {"cpu": 1.5, "locks": 7, "clientNetwork": 5},
		"by=waitEvent":                  {"cpu": 1.5, "transactionid": 2, "relation": 1, "ClientRead": 5, "locks": 4},
		"by=statement":                  {q1: 3, q2: 1, "unknown": 9.5},
		"by=user":                       {"bill": 3, "shop": 6, "unknown": 4.5},
		"by=application":                {"billing": 3, "others (2)": 1, "un\ufffdknown": 5, "unknown": 4.5},
		"by=client":                     {"10.4.1.11": 3, "10.4.1.12": 5, `10.4."1".12`: 1, "unknown": 4.5},
		"by=database":                   {orders.String(): 9.5, billing.String(): 4},
		"by=instance":                   {ids["orders"].String(): 9.5, ids["billing"].String(): 4},
		"by=user&limit=1":               {"shop": 6, "others": 7.5},
		"by=user&state=waiting":         {"bill": 2, "shop": 1, "unknown": 4},
		"by=state&state=cpu&state=idle": {"cpu": 1.5, "idle": 5},
		"by=state&user=bill":            {"cpu": 1, "waiting": 2},
		"by=client&user=bill&user=shop": {"10.4.1.11": 3, "10.4.1.12": 5, `10.4."1".12`: 1},
		"by=waitClass&user=shop&application=others&state=waiting":     {"locks": 1},
		"by=user&client=10.4.1.12&limit=1":                            {"shop": 5},
		"by=user&application=nobody":                                  {},
		"by=instance&user=bill&instanceId=" + ids["billing"].String(): {},
		"by=instance&instanceId=" + ids["billing"].String():           {ids["billing"].String(): 4},
		"by=instance&instanceId=" + uuid.NewString():                  {},
		"by=waitClass&limit=2&instanceId=" + ids["orders"].String():   {"clientNetwork": 5, "locks": 3, "others": 1.5},
	} {
		a := read(w.ours.admin, "1h", query)
		got := map[string]float64{}
		for key, values := range a.Series {
			got[key] = *values[0]
		}
		if diff := cmp.Diff(want, got); diff != "" || a.Incomplete || len(a.Unavailable) > 0 {
			t.Errorf("%s: %s", query, diff)
		}
		for i, item := range a.Items {
			if a.Series[item.Key] == nil || i > 0 && item.Average > a.Items[i-1].Average || item.Known == (item.Key == "unknown" || item.Key == "locks" && item.Name == nil && strings.Contains(query, "waitEvent")) {
				t.Errorf("%s: item %+v", query, item)
			}
		}
	}
	w.exec(`DELETE FROM measured_names WHERE dimension = 'application'`)
	w.build() // forgets the tiles that it keeps
	if a := read(w.ours.admin, "1h", "by=application&limit=1"); len(a.Items) != 1 || a.Items[0].Known || *a.Series["unknown"][0] != 13.5 {
		t.Errorf("without their names, applications are one line: %+v", a)
	}
	a := read(w.ours.admin, "1m", "by=waitClass&instanceId="+ids["orders"].String())
	if len(a.Series["cpu"]) != 60 || a.Series["cpu"][1] != nil || *a.Series["cpu"][0] != 1.5 || *a.Cores != 2 || a.CoreHosts != 1 || *a.Average != 9.5 {
		t.Errorf("by the minute: %+v", a)
	}
	if a := read(w.ours.admin, "1m", "by=waitClass"); *a.Series["cpu"][0] != 1.5 || *a.Series["locks"][5] != 4 || a.Series["cpu"][5] != nil {
		t.Errorf("who tells nothing of the CPU has nothing on it: %+v", a.Series["cpu"])
	}
	for query, want := range map[string]string{"by=user&instanceId=" + ids["orders"].String(): "map[cpu:1 locks:2]", "by=user&client=10.4.1.11&state=cpu": "map[cpu:1]"} {
		a := read(w.ours.admin, "1h", query)
		at := slices.IndexFunc(a.Items, func(i api.ActivityItem) bool { return i.Key == "bill" })
		if got := a.Items[at].ByClass; got == nil || fmt.Sprint(*got) != want {
			t.Errorf("%s: bill's sessions by class are %v, want %s", query, got, want)
		}
	}
	if none := read(w.theirs.admin, "1h", "by=state&user=bill"); len(none.Items) > 0 {
		t.Errorf("another organization has ours: %+v", none)
	}
	if none := read(w.theirs.admin, "1h", "by=user"); len(none.Items) > 0 || none.Cores != nil || none.Average != nil {
		t.Errorf("another organization: %+v", none)
	}
	if a := read(w.ours.viewer, "1h", "by=statement"); slices.ContainsFunc(a.Items, func(i api.ActivityItem) bool { return i.Statement != nil && i.Statement.Text != nil }) {
		t.Errorf("a viewer sees texts: %+v", a.Items)
	}
	for _, by := range []string{"user", "application", "client"} {
		w.activity(w.ours.viewer, start, start.Add(time.Hour), "1h", "by="+by).problem(403, "forbidden")
		w.activity(w.ours.viewer, start, start.Add(time.Hour), "1h", "by=state&"+by+"=bill").problem(403, "forbidden")
		w.behind(w.ours.viewer, "wait-events", start, start.Add(time.Hour), "series=all&by="+by).problem(403, "forbidden")
	}
	w.activity(w.ours.admin, start, start.Add(time.Hour), "1h", "by=mood").problem(400, "invalid_parameter")
	w.activity(w.ours.admin, start, start.Add(time.Hour), "1h", "by=user&state=asleep").problem(400, "invalid_parameter")
	w.activity(w.ours.admin, start, start.Add(time.Hour), "1h", "by=state&user=").problem(400, "invalid_parameter")
	w.activity(w.ours.admin, start.AddDate(-2, 0, 0), start, "1w", "by=user").problem(422, "detail_not_kept")
}

// TestContributorsToWaits are also users, applications, clients, events and statements.
func TestContributorsToWaits(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	start := w.hourAgo(5)
	orders, billing := w.databaseOf(w.ours, ids["orders"]), w.databaseOf(w.ours, ids["billing"])
	w.measured(w.ours, busySessions(ids, orders, billing, start))
	for query, want := range map[string][]string{
		"series=locks&by=user":           {" 4", "bill 2", "shop 1"},
		"series=locks&by=user&limit=1":   {" 4", "others 3"},
		"series=all&by=application":      {"un\ufffdknown 5", " 4", "billing 2", "others 1"},
		"series=clientNetwork&by=client": {"10.4.1.12 5"},
		"series=all&by=event":            {"ClientRead 5", " 4", "transactionid 2", "relation 1"},
		"series=io&by=user":              nil,
	} {
		got := w.behind(w.ours.admin, "wait-events", start, start.Add(time.Hour), query).shares()
		var lines []string
		for _, item := range got.Items {
			name := ""
			if item.Name != nil {
				name = *item.Name
			}
			lines = append(lines, fmt.Sprint(name, " ", item.Value))
		}
		if got.Others.Count > 0 {
			lines = append(lines, fmt.Sprint("others ", *got.Others.Value))
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	by := w.behind(w.ours.admin, "wait-events", start, start.Add(time.Hour), "series=locks&by=statement").shares()
	if len(by.Items) != 3 || by.Items[0].Statement != nil || by.Items[1].Statement.Id != measurements.StatementID(ids["orders"], measurements.HashStatement(orders, "q1")) {
		t.Errorf("by statement: %+v", by.Items)
	}
}

// TestAnAgentSendsSessionActivity: what it says of more sessions than it counts is left out, sessions of
// which it says nothing are counted, and a sample that breaks a rule is not taken.
func TestAnAgentSendsSessionActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	start := w.hourAgo(1)
	sample := func(change members) members {
		return members{"instance": "orders", "database": "d", "at": start, "active": 3, "idle": 0, "waiting": 2, "idleInTransaction": 0, "other": 0, "waits": members{"Lock": 2}}.with(change)
	}
	send := func(s members) answer { return in.send(samplesPath, members{"sessions": []members{s}}) }
	does := func(state string, change members) members { return members{"state": state, "sessions": 1}.with(change) }
	send(sample(members{"activity": []members{
		does("cpu", members{"user": "shop", "client": "10.4.1.\u202e11"}), does("cpu", members{"user": "shop", "sessions": 7}),
		does("waiting", members{"wait": "Lock", "event": "relation", "user": "bill", "statement": "q1"}), does("waiting", members{"wait": "IO", "user": "nobody"}),
	}})).is(202)
	send(sample(members{"at": start.Add(time.Minute)})).is(202)
	w.roll()
	for query, want := range map[string]map[string]float64{ // 6 on the CPU, and 4 wait, in 2 samples
		"by=user":      {"shop": 1.5, "bill": 0.5, "unknown": 3},
		"by=client":    {"10.4.1.\ufffd11": 0.5, "unknown": 4.5},
		"by=waitEvent": {"cpu": 3, "relation": 0.5, "locks": 1.5},
	} {
		var a shownActivity
		w.activity(w.ours.admin, start, start.Add(time.Hour), "1h", query+"&instanceId="+ids["orders"].String()).is(200).decode(&a)
		got := map[string]float64{}
		for key, values := range a.Series {
			got[key] = *values[0]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	for name, c := range map[string]struct {
		activity any
		at, code string
	}{
		"on the CPU, and waiting": {[]members{does("cpu", members{"wait": "Lock"})}, "#/sessions/0/activity/0/wait", "out_of_range"},
		"waiting for nothing":     {[]members{does("waiting", nil)}, "#/sessions/0/activity/0/wait", "out_of_range"},
		"fewer than none":         {[]members{does("cpu", members{"sessions": -1})}, "#/sessions/0/activity/0/sessions", "out_of_range"},
	} {
		if got := send(sample(members{"at": start.Add(2 * time.Minute), "activity": c.activity})).problem(422, c.code).places(); !slices.Equal(got, bodyPlaces("", c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	send(sample(members{"activity": []members{does("asleep", nil)}})).problem(400, "invalid_parameter")
	send(sample(members{"activity": slices.Repeat([]members{does("cpu", nil)}, 1001)})).problem(422, "out_of_range")
}

// TestDeadlocks are counted by database and bucket. That nobody counts is no zero.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	orders, billing := w.databaseOf(w.ours, ids["orders"]), w.databaseOf(w.ours, ids["billing"])
	start := w.hourAgo(1)
	sample := func(server string, engine domain.Engine, database uuid.UUID, minute int, deadlocks *int64) measurements.SessionSample {
		return measurements.SessionSample{Instance: ids[server], Engine: engine, Database: database, At: start.Add(time.Duration(minute) * time.Minute), Interval: time.Minute, Deadlocks: deadlocks}
	}
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{
		sample("orders", domain.PostgreSQL, orders, 0, to(int64(2))), sample("orders", domain.PostgreSQL, orders, 1, to(int64(0))), sample("orders", domain.PostgreSQL, orders, 2, nil),
		sample("orders", domain.PostgreSQL, uuid.New(), 0, to(int64(0))), // a database without a deadlock
		sample("billing", domain.SQLServer, billing, 0, nil),
	}})
	read := func(as person, size, query string) (d struct {
		Items []struct {
			Instance, Database struct{ Name string }
			Count              float64
			Values             []*float64
			Statements         []any
			Sessions           []any
		}
		Engines []string
		Series  map[string][]*float64
	}) {
		t.Helper()
		window := url.Values{"from": {start.Format(time.RFC3339)}, "to": {start.Add(time.Hour).Format(time.RFC3339)}, "bucketSize": {size}}
		w.get(as, "/api/v1/activity/deadlocks?"+window.Encode()+query).is(200).decode(&d)
		return d
	}
	all := read(w.ours.viewer, "1m", "")
	if line := all.Series["deadlocks"]; len(line) != 60 || *line[0] != 2 || *line[1] != 0 || line[2] != nil || len(all.Items) != 1 || all.Items[0].Instance.Name != "orders" ||
		all.Items[0].Count != 2 || *all.Items[0].Values[0] != 2 || all.Items[0].Statements == nil || all.Items[0].Sessions == nil || !slices.Equal(all.Engines, []string{"postgresql"}) {
		t.Errorf("%+v", all)
	}
	if hour := read(w.ours.viewer, "1h", ""); *hour.Series["deadlocks"][0] != 2 {
		t.Errorf("by the hour: %+v", hour)
	}
	for query, as := range map[string]person{"": w.theirs.admin, "&instanceId=" + ids["billing"].String(): w.ours.admin} {
		if none := read(as, "1h", query); none.Series["deadlocks"][0] != nil || len(none.Items) > 0 || len(none.Engines) > 0 {
			t.Errorf("%q: %+v", query, none)
		}
	}
}

// TestBothSidesOfTheNewestDeadlock are told where they are known, to viewers without people and statements; deadlocks
// without a database count, and those of other servers and organizations do not.
func TestBothSidesOfTheNewestDeadlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	orders, billing := w.databaseOf(w.ours, ids["orders"]), w.databaseOf(w.ours, ids["billing"])
	names, err := w.deps.Fleet.Names(t.Context(), w.ours.organization.ID, []uuid.UUID{orders})
	if err != nil {
		t.Fatal(err)
	}
	start := w.hourAgo(1)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	counted := func(server string, engine domain.Engine, database uuid.UUID, minute int) measurements.SessionSample {
		return measurements.SessionSample{Instance: ids[server], Engine: engine, Database: database, At: at(minute), Interval: time.Minute, Deadlocks: to(int64(1))}
	}
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{
		counted("orders", domain.PostgreSQL, orders, 1), counted("billing", domain.SQLServer, billing, 2),
	}})
	circle := func(server string, minute int, d blocking.Deadlock) blocking.Sample {
		since := at(minute).Add(-time.Second)
		s := blocking.Sample{Instance: ids[server], At: at(minute), Interval: time.Minute, Deadlock: &d}
		for i, session := range []string{"51", "52"} {
			s.Nodes = append(s.Nodes, blocking.Node{Session: session, Kind: blocking.Client, User: "bill", Application: "shop", Client: "web01", Statement: "UPDATE t" + session,
				Waits: &since, For: []string{[]string{"52", "51"}[i]}, Object: "table public.orders"})
		}
		return s
	}
	bare := circle("billing", 3, blocking.Deadlock{Count: 4})
	bare.Nodes = nil
	w.exec("UPDATE organizations SET statement_texts = 'normalized'")
	err = blocking.Record(t.Context(), w.deps.DB, w.ours.organization.ID, w.clock.Now(), []blocking.Sample{
		circle("orders", 1, blocking.Deadlock{Database: names[orders].Name, Seen: true}), bare,
		circle("billing", 3, blocking.Deadlock{Victims: []string{"52"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	type side struct {
		Session, User, Statement string
		Hidden                   bool
	}
	read := func(as person) (d struct {
		Items []struct {
			Instance   struct{ Name string }
			Database   *struct{ Name string }
			Count      float64
			Values     []*float64
			Statements []string
			NewestAt   *time.Time
			Source     string
			Sessions   []side
			Victims    []string
		}
		Engines []string
		Series  map[string][]*float64
	}) {
		t.Helper()
		window := url.Values{"from": {start.Format(time.RFC3339)}, "to": {start.Add(time.Hour).Format(time.RFC3339)}, "bucketSize": {"1m"}}
		w.get(as, "/api/v1/activity/deadlocks?"+window.Encode()).is(200).decode(&d)
		return d
	}
	for _, as := range []person{w.ours.admin, w.ours.viewer} { // the second one must not get the first one's answer
		d := read(as)
		if len(d.Items) != 3 || *d.Series["deadlocks"][1] != 1 || *d.Series["deadlocks"][2] != 1 || *d.Series["deadlocks"][3] != 4 || d.Series["deadlocks"][4] != nil {
			t.Fatalf("%+v", d)
		}
		unplaced, of := d.Items[0], d.Items[2]
		if unplaced.Database != nil || unplaced.Instance.Name != "billing" || unplaced.Count != 4 || *unplaced.Values[3] != 4 || unplaced.Source != "server" ||
			!slices.Equal(unplaced.Victims, []string{"52"}) || len(unplaced.Sessions) != 2 {
			t.Errorf("without a database: %+v", unplaced)
		}
		if none := d.Items[1]; none.Instance.Name != "billing" || none.NewestAt != nil || len(none.Sessions) > 0 || none.Source != "" || none.Statements == nil {
			t.Errorf("without sides: %+v", none)
		}
		want, texts := side{"51", "bill", "UPDATE t51", false}, []string{"UPDATE t51", "UPDATE t52"}
		if as.ID == w.ours.viewer.ID {
			want, texts = side{"51", "", "", true}, []string{}
		}
		if of.Instance.Name != "orders" || of.Source != "sample" || !of.NewestAt.Equal(at(1)) || of.Sessions[0] != want || !slices.Equal(of.Statements, texts) || len(of.Victims) > 0 {
			t.Errorf("seen in a sample: %+v", of)
		}
	}
	if theirs := read(w.theirs.admin); len(theirs.Items) > 0 {
		t.Errorf("%+v", theirs)
	}
}
