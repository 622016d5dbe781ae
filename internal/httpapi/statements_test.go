package httpapi

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
)

const statementsPath = "/api/v1/statements"

// executed asks for the statements of a window.
func (w *world) executed(as person, from, to time.Time, query string) answer {
	w.t.Helper()
	window := url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}
	return w.get(as, statementsPath+"?"+strings.Trim(window.Encode()+"&"+query, "&"))
}

func (a answer) statements() (p api.StatementPage) {
	a.t.Helper()
	a.is(200).decode(&p)
	return p
}

// keys are what the statements of a page are known by.
func (a answer) keys() string {
	a.t.Helper()
	var keys []string
	for _, s := range a.statements().Items {
		keys = append(keys, *s.Key)
	}
	return strings.Join(keys, " ")
}

func (w *world) keepTexts(what string) {
	w.t.Helper()
	w.change(w.ours.admin, w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag"), map[string]any{"statementTexts": what}).is(200)
}

// statementsOfAWorld has an hour of statements of three servers, and the hour before.
func (w *world) statementsOfAWorld() (start time.Time, ids, databases map[string]uuid.UUID) {
	w.t.Helper()
	ids, databases = w.fleetOfThree(w.ours), make(map[string]uuid.UUID)
	start = w.hourAgo(5)
	for _, name := range []string{"orders", "billing", "ledger"} {
		databases[name] = ids[name+"/d"]
	}
	ran := func(name string, engine domain.Engine, minute int, statements ...measurements.Statement) measurements.StatementSample {
		return measurements.StatementSample{Instance: ids[name], Engine: engine, Database: databases[name], At: start.Add(time.Duration(minute) * time.Minute), Interval: time.Minute, Statements: statements}
	}
	one := func(key string, calls int64, totalMs float64) measurements.Statement {
		return measurements.Statement{Key: key, Calls: calls, TotalMs: totalMs, Text: "SELECT 100% FROM " + key}
	}
	w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{
		ran("orders", domain.PostgreSQL, -30, one("same", 10, 100), one("slow", 10, 10), one("gone", 1, 1)),
		ran("orders", domain.PostgreSQL, 5, one("same", 10, 199), one("slow", 10, 20), one("new", 2, 3)),
		ran("orders", domain.PostgreSQL, 6, one("new", 1, 3)),
		ran("billing", domain.SQLServer, 5, measurements.Statement{Key: "sql", Calls: 4, TotalMs: 40, MaxMs: to(450.0)}),
		ran("ledger", domain.Oracle, 5, one("once", 1000, 100000)),
	}})
	w.measuredNow(w.theirs, uuid.New(), uuid.New())
	return start, ids, databases
}

// TestStatements: what was executed in a window, where, and what it did in the window
// before; filtered, searched, in order, page by page.
func TestStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepTexts("normalized")
	start, ids, databases := w.statementsOfAWorld()
	list := func(query string) answer { return w.executed(w.ours.member, start, start.Add(time.Hour), query) }

	got := list("pageSize=2").statements()
	orders, billing := api.ContributingInstance{Id: ids["orders"], Name: "orders", Engine: api.Postgresql}, api.ContributingInstance{Id: ids["billing"], Name: "billing", Engine: api.Sqlserver}
	id := func(name, key string) uuid.UUID {
		return measurements.StatementID(ids[name], measurements.HashStatement(databases[name], key))
	}
	half, six := start.Add(-30*time.Minute), start.Add(5*time.Minute)
	want := api.StatementPage{
		From: start, To: start.Add(time.Hour), PreviousFrom: to(start.Add(-time.Hour)), Page: api.Page{Number: 1, Size: 2, TotalItems: 4, TotalPages: 2},
		Engines: []api.Engine{api.Postgresql, api.Sqlserver, api.Oracle}, PartialEngines: []api.Engine{}, OwnStatements: to(0), Unavailable: []api.UnavailableFigure{},
		Items: []api.Statement{
			{Id: id("orders", "same"), Instance: orders, Database: api.ContributingDatabase{Id: databases["orders"], Name: "d"}, Key: to("same"), Text: to("SELECT 100% FROM same"),
				Calls: 10, TotalMs: 199, MeanMs: to(19.9), MaxMs: to(19.9), Share: to(0.750943), FirstSeenAt: &half, LastSeenAt: &six, WatchedSince: to(half.Add(-time.Minute)), New: to(false), RanBefore: to(false),
				Previous: &api.PreviousExecutions{Calls: 10, TotalMs: 100, MeanMs: 10}},
			{Id: id("billing", "sql"), Instance: billing, Database: api.ContributingDatabase{Id: databases["billing"], Name: "d"}, Key: to("sql"),
				Calls: 4, TotalMs: 40, MeanMs: to(10.0), MaxMs: to(450.0), Share: to(0.150943), FirstSeenAt: &six, LastSeenAt: &six, WatchedSince: to(six.Add(-time.Minute)), New: to(false), RanBefore: to(false)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ query, keys string }{
		{"", "same sql slow new"}, {"sort=totalMs", "new slow sql same"}, {"sort=-calls", "same slow sql new"}, {"sort=meanMs", "slow new sql same"},
		{"sort=-maxMs", "sql same slow new"}, {"pageSize=3&page=2", "new"}, {"pageSize=3&page=3", ""},
		{"only=new", "new"}, {"only=slower", "slow"},
		{"q=100%25", "same slow new"}, {"q=FROM+NEW", "new"}, {"q=BILL", "sql"}, {"q=_", ""}, {"q=same&only=slower", ""},
		{"instanceId=" + ids["billing"].String(), "sql"}, {"instanceId=" + ids["ledger"].String(), ""},
		{"databaseId=" + databases["billing"].String(), "sql"}, {"databaseId=" + uuid.NewString(), ""}, {"databaseId=" + databases["billing"].String() + "&instanceId=" + ids["orders"].String(), ""},
	} {
		if keys := list(c.query).keys(); keys != c.keys {
			t.Errorf("%s: %s, want %s", c.query, keys, c.keys)
		}
	}
	if share := list("instanceId=" + ids["billing"].String()).statements().Items[0].Share; *share != 1 {
		t.Errorf("the only statement of a server has %v of it", *share)
	}
	path := statementsPath + "?" + url.Values{"from": {start.Format(time.RFC3339)}, "to": {start.Add(time.Hour).Format(time.RFC3339)}}.Encode()
	w.do(request{method: "GET", path: path, as: w.ours.member, header: map[string]string{"If-None-Match": w.get(w.ours.member, path).Header().Get("ETag")}}).is(304)
}

// TestNewStatementsAreMarked, F4: a statement is new only where its server was watched before it and had
// counted no execution. "Not before" is said only of times in which the server was watched.
func TestNewStatementsAreMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	start := w.hourAgo(5)
	ran := func(name string, minute int, statements ...measurements.Statement) {
		w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{{
			Instance: ids[name], Engine: domain.PostgreSQL, Database: ids[name+"/d"], At: start.Add(time.Duration(minute) * time.Minute), Interval: time.Minute, Statements: statements,
		}}})
	}
	one := func(key string, before bool) measurements.Statement {
		return measurements.Statement{Key: key, Calls: 1, TotalMs: 1, RanBefore: before}
	}
	ran("orders", -70, one("always", true))
	ran("orders", -10, one("always", true), one("paused", false))
	ran("orders", 5, one("always", true), one("fresh", false), one("rare", true))
	ran("orders", 6, one("fresh", true)) // by then its server has counted it
	ran("billing", 5, one("first", false), one("nightly", true))
	for query, want := range map[string]map[string]string{
		"":         {"always": "known", "fresh": "new, not before", "rare": "not before", "first": "watched since 4", "nightly": "watched since 4"},
		"only=new": {"fresh": "new, not before"},
	} {
		page, got := w.executed(w.ours.member, start, start.Add(time.Hour), query).statements(), map[string]string{}
		for _, s := range page.Items {
			since := s.WatchedSince.Sub(start)
			switch {
			case s.Previous != nil:
				got[*s.Key] = "known"
			case s.WatchedSince.After(*page.PreviousFrom):
				got[*s.Key] = fmt.Sprintf("watched since %d", int(since.Minutes()))
			default:
				got[*s.Key] = "not before"
			}
			if *s.New {
				got[*s.Key] = "new, " + got[*s.Key]
			}
			var detail api.StatementDetail
			w.get(w.ours.member, statementsPath+"/"+s.Id.String()+windowed(start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339), "1m")).is(200).decode(&detail)
			if one := detail.Statement; *one.New != *s.New || !one.WatchedSince.Equal(*s.WatchedSince) || *one.RanBefore != *s.RanBefore {
				t.Errorf("%s: its page says %+v, the list %+v", *s.Key, one, s)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	// A server of which nothing is known in the window before, though it was watched once.
	ran("ledger", -70, one("always", false))
	later := w.executed(w.ours.member, start.Add(2*time.Minute), start.Add(10*time.Minute), "instanceId="+ids["orders"].String()).statements()
	for _, s := range later.Items {
		if *s.Key == "rare" && !s.WatchedSince.Equal(later.From) {
			t.Errorf("not sampled from %s on, and watched since %s", later.PreviousFrom, s.WatchedSince)
		}
	}
}

// TestMustersOwnStatementsAreListedSeparately, F25.
func TestMustersOwnStatementsAreListedSeparately(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	start := w.hourAgo(5)
	w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{{
		Instance: ids["orders"], Engine: domain.PostgreSQL, Database: ids["orders/d"], At: start.Add(time.Minute), Interval: time.Minute,
		Statements: []measurements.Statement{{Key: "watching", Calls: 1, TotalMs: 30, Own: true}, {Key: "work", Calls: 1, TotalMs: 10}},
	}}})
	list := func(query string) api.StatementPage {
		return w.executed(w.ours.member, start, start.Add(time.Hour), query).statements()
	}
	if page := list(""); len(page.Items) != 1 || *page.Items[0].Key != "work" || *page.OwnStatements != 1 || page.Page.TotalItems != 1 || *page.Items[0].Share != 0.25 {
		t.Errorf("listed are %+v, %d left out", page.Items, page.OwnStatements)
	}
	if page := list("own=include"); len(page.Items) != 2 || *page.OwnStatements != 0 {
		t.Errorf("with our own: %+v, %d left out", page.Items, page.OwnStatements)
	}
}

// TestTextsOfStatements: who may see them does, here and behind a latency; viewers do
// not, and cannot ask for them; turned off they are gone, and nobody looks for any.
func TestTextsOfStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepTexts("normalized")
	start, _, _ := w.statementsOfAWorld()
	const behind = "series=average&by=statement&limit=1"
	text := func(as person) (listed, contributing, detail *string) {
		t.Helper()
		item := w.executed(as, start, start.Add(time.Hour), "").statements().Items[0]
		contributor := w.behind(as, "query-performance", start, start.Add(time.Hour), behind).shares().Items[0]
		var one api.StatementDetail
		w.get(as, statementsPath+"/"+item.Id.String()+windowed(start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339), "1h")).is(200).decode(&one)
		return item.Text, contributor.Statement.Text, one.Statement.Text
	}
	for _, as := range []person{w.ours.member, w.ours.auditor, w.ours.admin} {
		a, b, c := text(as)
		if diff := cmp.Diff([]*string{to("SELECT 100% FROM same"), to("SELECT 100% FROM same"), to("SELECT 100% FROM same")}, []*string{a, b, c}); diff != "" {
			t.Error(diff)
		}
	}
	if a, b, c := text(w.ours.viewer); a != nil || b != nil || c != nil {
		t.Errorf("a viewer sees %v, %v, %v", a, b, c)
	}
	seen := w.executed(w.ours.viewer, start, start.Add(time.Hour), "q=from").statements()
	if named := w.executed(w.ours.viewer, start, start.Add(time.Hour), "q=ORD").statements(); len(seen.Items) > 0 || len(named.Items) != 3 || named.Items[0].Key != nil {
		t.Errorf("a viewer finds %d statements by text and %d by name", len(seen.Items), len(named.Items))
	}
	w.keepTexts("off")
	if a, b, c := text(w.ours.admin); a != nil || b != nil || c != nil {
		t.Errorf("turned off there are still %v, %v, %v", a, b, c)
	}
	w.executed(w.ours.admin, start, start.Add(time.Hour), "q=from").problem(422, "texts_off")
}

// TestStatement: its figures over whole buckets and bucket by bucket; what nobody sampled
// is a gap, what did not run is none.
func TestStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start, ids, databases := w.statementsOfAWorld()
	id := measurements.StatementID(ids["orders"], measurements.HashStatement(databases["orders"], "new"))
	get := func(from, to time.Time, size string) answer {
		return w.get(w.ours.member, statementsPath+"/"+id.String()+windowed(from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano), size))
	}
	a := get(start.Add(3*time.Minute+time.Second), start.Add(6*time.Minute+time.Second), "1m").is(200)
	for name, want := range map[string]string{"calls": "- - 2 1", "totalMs": "- - 3 3", "meanMs": "- - 1.5 3", "maxMs": "- - 1.5 3"} {
		if got := a.line(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	var one api.StatementDetail
	a.decode(&one)
	if s := one.Statement; s.Calls != 3 || s.TotalMs != 6 || *s.MeanMs != 2 || *s.Share != 0.026667 || s.Previous != nil || *s.Key != "new" || s.Text != nil ||
		!one.From.Equal(start.Add(3*time.Minute)) || !one.To.Equal(start.Add(7*time.Minute)) || !one.PreviousFrom.Equal(start.Add(-time.Minute)) || one.LastBucketPartial {
		t.Errorf("%+v", one)
	}
	for _, c := range []struct {
		from, to    time.Time
		size, calls string
	}{
		{start.Add(-time.Hour), start.Add(time.Hour), "1h", "0 3"}, {start.Truncate(day), start.Add(time.Hour), "1d", "3"}, {start.Add(-time.Second), start.Add(time.Hour), "1w", "3"},
		{start.Add(2 * time.Hour), start.Add(3 * time.Hour), "1h", "-"},
	} {
		if got := get(c.from, c.to, c.size).line("calls"); !strings.HasSuffix(got, c.calls) {
			t.Errorf("by %s: %s, want %s", c.size, got, c.calls)
		}
	}
	get(start.Add(2*time.Hour), start.Add(3*time.Hour), "1h").is(200).decode(&one)
	if s := one.Statement; s.Calls != 0 || s.MeanMs != nil || s.MaxMs != nil || s.Share != nil {
		t.Errorf("a statement that was not executed: %+v", s)
	}
	path := statementsPath + "/" + id.String() + windowed(start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339), "1h")
	tag := w.get(w.ours.member, path).Header().Get("ETag")
	w.clock.Advance(2 * time.Second)
	w.do(request{method: "GET", path: path, as: w.ours.member, header: map[string]string{"If-None-Match": tag}}).is(304)
}

// TestInvalidRequestsForStatements: every rule that is broken is said, and what is not kept.
func TestInvalidRequestsForStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now()
	id := uuid.NewString()
	p := w.executed(w.ours.member, now.Add(2*time.Hour), now.Add(time.Hour), "q=x").problem(422, "invalid_window")
	if len(p.Errors) != 3 {
		t.Errorf("%+v", p.Errors)
	}
	for query, code := range map[string]string{"sort=text": "invalid_parameter", "only=old": "invalid_parameter", "pageSize=101": "invalid_parameter", "page=0": "invalid_parameter", "databaseId=x": "invalid_parameter", "by=database": "unknown_parameter", "q=": "invalid_parameter"} {
		w.executed(w.ours.member, now.Add(-time.Hour), now, query).problem(400, code)
	}
	w.get(w.ours.member, statementsPath).problem(400, "missing_parameter")
	w.executed(w.ours.member, now.Add(-401*day), now, "").problem(422, "detail_not_kept")
	w.executed(w.ours.member, now.Add(-390*day), now, "only=slower").problem(422, "detail_not_kept")
	if far := w.executed(w.ours.member, now.Add(-390*day), now, "").statements(); far.PreviousFrom != nil || far.From.Truncate(day) != far.From {
		t.Errorf("%+v", far)
	}
	at := func(from time.Time, size string) string {
		return windowed(from.Format(time.RFC3339), now.Format(time.RFC3339), size)
	}
	w.get(w.ours.member, statementsPath+"/"+id+at(now.Add(-time.Hour), "1h")).problem(404, "not_found")
	w.get(w.ours.member, statementsPath+"/"+id+at(now.Add(-time.Hour), "2h")).problem(400, "invalid_bucket_size")
	w.get(w.ours.member, statementsPath+"/x"+at(now.Add(-time.Hour), "1h")).problem(400, "invalid_parameter")
	_, ids, databases := w.statementsOfAWorld()
	known := measurements.StatementID(ids["orders"], measurements.HashStatement(databases["orders"], "new")).String()
	for size, since := range map[string]time.Duration{"1m": 72 * time.Hour, "1h": 35 * day, "1d": 400 * day, "1w": 400 * day} {
		w.get(w.ours.member, statementsPath+"/"+known+at(now.Add(-since-time.Hour), size)).problem(422, "detail_not_kept")
	}
	w.get(w.ours.member, statementsPath+"/"+known+at(now.Add(-71*time.Hour), "1m")).is(200)
}

// TestTenThousandStatementsOfAMinute are listed, and each is found.
func TestTenThousandStatementsOfAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.hourAgo(2)
	ids := w.fleetOfThree(w.ours)
	sample := measurements.StatementSample{Instance: ids["orders"], Engine: domain.PostgreSQL, Database: uuid.New(), At: start, Interval: time.Minute}
	for i := range 10_000 {
		sample.Statements = append(sample.Statements, measurements.Statement{Key: fmt.Sprint(i), Calls: int64(i + 1), TotalMs: 1})
	}
	w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{sample}})
	got := w.executed(w.ours.member, start, start.Add(time.Minute), "sort=calls&pageSize=100&page=100").statements()
	if got.Page.TotalItems != 10_000 || len(got.Items) != 100 || got.Items[99].Calls != 10_000 || *got.Items[99].Key != "9999" {
		t.Errorf("%+v", got.Page)
	}
}

// TestTheRoleOfAStatement: queryid and role of PostgreSQL are answered apart from the key, which stays what the statement
// is told apart by; what was noted without a role, and what a viewer sees, has none (F24).
func TestTheRoleOfAStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	start := w.hourAgo(5)
	one := func(key, role string, calls int64) measurements.Statement {
		return measurements.Statement{Key: key, Role: role, Calls: calls, TotalMs: float64(calls)}
	}
	write := func(minute int, statements ...measurements.Statement) {
		w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{
			{Instance: ids["orders"], Engine: domain.PostgreSQL, Database: ids["orders/d"], At: start.Add(time.Duration(minute) * time.Minute), Interval: time.Minute, Statements: statements},
		}})
	}
	write(5, one("-2933/10", "postgres", 9), one("17/16384/nested", "app owner", 8), one("old/1", "", 7), one("18/10", "", 6))
	write(6, one("-2933/10", "renamed", 9), one("18/10", "postgres", 6))
	show := func(p *string) string {
		if p == nil {
			return "-"
		}
		return *p
	}
	seen := func(as person) (lines []string) {
		for _, s := range w.executed(as, start, start.Add(time.Hour), "").statements().Items {
			lines = append(lines, strings.Join([]string{show(s.Key), show(s.QueryId), show(s.Role)}, "|"))
		}
		return lines
	}
	want := []string{"-2933/10|-2933|postgres", "18/10|18|-", "17/16384/nested|17|app owner", "old/1|-|-"}
	if diff := cmp.Diff(want, seen(w.ours.member)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"-|-|-", "-|-|-", "-|-|-", "-|-|-"}, seen(w.ours.viewer)); diff != "" {
		t.Error(diff)
	}
}
