package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/alerting/people"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/measurements/blocking"
)

const blockingPath = "/api/v1/blocking"

// blocked has a session of a server wait for one of billing's at a time, and returns the episode.
func (w *world) blocked(of tenant, instance uuid.UUID, at time.Time) uuid.UUID {
	w.t.Helper()
	since := at.Add(-20 * time.Second)
	must(w.t, blocking.Record(w.t.Context(), w.deps.DB, of.organization.ID, w.clock.Now(), []blocking.Sample{{
		Instance: instance, At: at, Interval: 10 * time.Second, Nodes: []blocking.Node{
			{Session: "24749", Kind: blocking.Client, Began: to(since.Add(-time.Hour)), User: "bill", Application: "billing", Client: "10.4.2.17", Database: "shop",
				State: "idle in transaction", Idle: true, Statement: "UPDATE orders SET status = ?", StatementID: "77"},
			{Session: "24911", Kind: blocking.Client, User: "deploy", Application: "migrate", Waits: &since, For: []string{"24749"}, Lock: "relation",
				Mode: "AccessExclusiveLock", Object: "table public.orders"},
		},
	}}))
	var id uuid.UUID
	must(w.t, w.deps.DB.Get(&id, `SELECT id FROM blocking_episodes WHERE organization_id = $1 AND instance_id = $2 ORDER BY first_at DESC LIMIT 1`, of.organization.ID, instance))
	return id
}

func (w *world) episodes(as person, query url.Values) (p api.BlockingPage) {
	w.t.Helper()
	if query.Get("from") == "" {
		query.Set("from", w.ago(day).Format(time.RFC3339))
		query.Set("to", w.clock.Now().Format(time.RFC3339))
	}
	w.get(as, blockingPath+"?"+query.Encode()).is(200).decode(&p)
	return p
}

// TestBlocking: a list by window, server and tag, a page at a time, and one episode with the tree
// of a time.
func TestBlocking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["billing"], map[string]string{"env": "prod"}).is(200)
	var made []uuid.UUID
	for i, name := range []string{"orders", "billing", "orders"} {
		made = append(made, w.blocked(w.ours, ids[name], w.ago(time.Duration(3-i)*time.Hour)))
	}
	w.blocked(w.theirs, w.instance(w.theirs, "theirs"), w.ago(time.Hour))
	listed := func(query url.Values) (out []string) {
		for _, e := range w.episodes(w.ours.member, query).Items {
			out = append(out, fmt.Sprint(slices.Index(made, e.Id), " ", e.Instance.Name))
		}
		return out
	}
	for name, c := range map[string]struct {
		query url.Values
		want  []string
	}{
		"all, the newest first": {url.Values{}, []string{"2 orders", "1 billing", "0 orders"}},
		"of a server":           {url.Values{"instanceId": {ids["orders"].String()}}, []string{"2 orders", "0 orders"}},
		"of a tag":              {url.Values{"tag": {"env:prod"}}, []string{"1 billing"}},
		"of no server":          {url.Values{"tag": {"env:none"}}, nil},
		"of a time":             {url.Values{"from": {w.ago(130 * time.Minute).Format(time.RFC3339)}, "to": {w.ago(90 * time.Minute).Format(time.RFC3339)}}, []string{"1 billing"}},
		"a page":                {url.Values{"pageSize": {"2"}, "page": {"2"}}, []string{"0 orders"}},
		"beyond the last page":  {url.Values{"pageSize": {"2"}, "page": {"3"}}, nil},
	} {
		if got := listed(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if p := w.episodes(w.ours.member, url.Values{"pageSize": {"2"}, "page": {"3"}}); p.Page.TotalItems != 3 {
		t.Errorf("%+v", p.Page)
	}
	if e := w.episodes(w.ours.member, url.Values{}).Items[0]; e.To == nil || e.EndSeen || e.MaxBlocked != 1 || e.BlockedSeconds != 10 || e.Database == nil || *e.Database != "shop" ||
		*e.Object != "table public.orders" || *e.Mode != "AccessExclusiveLock" || e.Advisory || *e.Root.User != "bill" || !e.Root.IdleInTransaction || e.Behind != 1 {
		t.Errorf("%+v", e)
	}
	lasting := w.blocked(w.ours, ids["ledger"], w.ago(time.Minute))
	if e := w.episodes(w.ours.member, url.Values{}).Items[0]; e.Id != lasting || e.To != nil {
		t.Errorf("%+v", e)
	}
	var one api.BlockingDetail
	w.get(w.ours.member, blockingPath+"/"+lasting.String()).is(200).decode(&one)
	if len(one.Samples) != 1 || !one.Samples[0].TreeKept || one.Samples[0].Tree == nil || len(one.Samples[0].Tree.Sessions) != 2 || one.Samples[0].Session != "24749" || one.Tree == nil || len(one.Tree.Sessions) != 2 || len(one.Tree.Roots) != 1 ||
		one.Tree.Roots[0].Session != "24749" || !slices.Equal(one.Tree.Sessions[1].WaitsFor, []string{"24749"}) || one.Tree.Sessions[1].WaitsSince == nil {
		t.Errorf("%+v", one)
	}
	w.get(w.ours.member, blockingPath+"/"+lasting.String()+"?at="+url.QueryEscape(w.ago(time.Hour).Format(time.RFC3339))).is(200).decode(&one)
	if one.Tree == nil || one.Tree.At.After(w.ago(time.Minute)) {
		t.Errorf("a time before the first sample: %+v", one.Tree)
	}
	w.exec(`DELETE FROM blocking_samples`)
	w.get(w.ours.member, blockingPath+"/"+lasting.String()).is(200).decode(&one)
	if one.Tree != nil || len(one.Samples) != 0 || one.Episode.Root.Session != "24749" {
		t.Errorf("the samples are gone: %+v", one)
	}
	w.get(w.ours.member, blockingPath+"?from=2026-11-20T10:00:00Z&to=2026-11-20T09:00:00Z").problem(422, "invalid_window")
}

// TestViewersSeeNoPerson in who waits for whom, nor what they execute; they see that it is hidden.
func TestViewersSeeNoPerson(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.keepTexts("normalized")
	id := w.blocked(w.ours, ids["orders"], w.ago(time.Minute))
	somebody := w.person(w.ours.organization, organization.Team, w.ours.address("team"))
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "a"}).is(200)
	w.team(w.ours, "a", map[string][]string{"team": {"a"}}, somebody, organization.Viewer)
	window := url.Values{"from": {w.ago(time.Hour).Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}}.Encode()
	for name, c := range map[string]struct {
		who   person
		hides bool
	}{"viewer": {w.ours.viewer, true}, "viewer in a team": {somebody, true}, "member": {w.ours.member, false}, "auditor": {w.ours.auditor, false}} {
		for _, path := range []string{blockingPath + "?" + window, blockingPath + "/" + id.String()} {
			body := w.get(c.who, path).is(200).Body.String()
			for _, secret := range []string{"bill", "billing", "10.4.2.17", "UPDATE", `"77"`} {
				if strings.Contains(body, `"`+secret) == c.hides && secret != `"77"` || strings.Contains(body, secret) && c.hides {
					t.Errorf("%s, %s: %q is there: %t", name, path, secret, !c.hides)
				}
			}
			if strings.Contains(body, `"hidden":true`) != c.hides || strings.Contains(body, `"hidden":false`) == c.hides || !strings.Contains(body, "24749") {
				t.Errorf("%s, %s: %s", name, path, body)
			}
		}
	}
}

// TestAnAgentSendsBlockedSessions: texts are kept only where the organization keeps some, without their
// literals. A session that Muster measures itself, or that a token may not write, is refused.
func TestAnAgentSendsBlockedSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	sample := func(minutes int, change members) members {
		at := w.ago(time.Duration(minutes) * time.Minute)
		return members{"instance": "orders", "at": at, "intervalSeconds": 10, "sessions": []members{
			{"session": "1", "kind": "client", "startedAt": w.ago(time.Hour), "user": "bill", "application": "bil\u202eling", "idleInTransaction": true, "statement": "UPDATE orders SET status = 'secret'"},
			{"session": "2", "kind": "client", "waitsSince": at.Add(-time.Minute), "waitsFor": []string{"1"}, "lock": "tuple", "object": "table public.orders"},
		}}.with(change)
	}
	send := func(b members) answer { return in.send(samplesPath, members{"blocking": []members{b}}) }
	send(sample(30, nil)).is(202)
	send(sample(30, nil)).is(202)
	send(sample(26, members{"sessions": []members{}, "endedBy": "transactionEnded"})).is(202)
	w.keepTexts("normalized")
	send(sample(10, nil)).is(202)
	items := w.episodes(w.ours.member, url.Values{}).Items
	if len(items) != 2 || items[0].EndedBy != nil || items[1].EndedBy == nil || *items[1].EndedBy != api.TransactionEnded || *items[1].Root.Application != "bil�ling" || items[1].Root.Statement != nil || items[0].Root.Statement == nil || *items[0].Root.Statement != "UPDATE orders SET status = ?" {
		t.Fatalf("%+v", items)
	}
	in.send(samplesPath, members{"blocking": []members{sample(9, nil), sample(8, nil)}}).is(202) // two looks at one server
	for name, c := range map[string]struct {
		sample members
		at     string
		code   string
	}{
		"an unknown instance":   {sample(1, members{"instance": "nobody"}), "#/blocking/0/instance", "unknown_instance"},
		"of the future":         {sample(-6, nil), "#/blocking/0/at", "time_in_future"},
		"twice":                 {sample(1, members{"sessions": []members{{"session": "1", "kind": "client"}, {"session": "1", "kind": "client"}}}), "#/blocking/0/sessions/1/session", "duplicate_key"},
		"nobody":                {sample(1, members{"sessions": []members{{"session": "", "kind": "client"}}}), "#/blocking/0/sessions/0/session", "out_of_range"},
		"waiting since no time": {sample(1, members{"sessions": []members{{"session": "1", "kind": "client", "waitsFor": []string{"2"}}}}), "#/blocking/0/sessions/0/waitsSince", "out_of_range"},
		"looked at never":       {sample(1, members{"intervalSeconds": 0}), "#/blocking/0/intervalSeconds", "out_of_range"},
	} {
		if got := send(c.sample).problem(422, c.code).places(); !slices.Equal(got, bodyPlaces("", c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	send(sample(5, members{"deadlock": members{"database": "shop", "victims": []string{"2"}, "seen": true}})).is(202)
	send(sample(5, members{"deadlock": members{"count": 3}, "sessions": []members{}})).is(202)
	send(sample(5, members{"deadlock": members{"count": 0}})).problem(400, "invalid_parameter")
	newest, err := blocking.NewestDeadlocks(t.Context(), w.deps.DB, w.ours.organization.ID, fleet.Scope{}, w.ago(time.Hour), w.clock.Now())
	if err != nil || len(newest) != 1 || newest[0].Database != "shop" || newest[0].Reported || newest[0].Tree.Victims[0] != "2" || newest[0].Tree.Nodes[0].Statement != "UPDATE orders SET status = ?" {
		t.Errorf("%+v, %v", newest, err)
	}
	bare, err := blocking.BareDeadlocks(t.Context(), w.deps.DB, w.ours.organization.ID, fleet.Scope{}, w.ago(time.Hour), w.clock.Now())
	if err != nil || len(bare) != 1 || bare[0].Count != 3 || bare[0].Instance != ids["orders"] {
		t.Errorf("%+v, %v", bare, err)
	}
	limited := sender{w, w.ingestToken(w.ours.admin, ids["billing"])}
	if got := limited.send(samplesPath, members{"blocking": []members{sample(1, nil)}}).problem(403, "outside_token").places(); !slices.Equal(got, bodyPlaces("", "#/blocking/0/instance", "outside_token")) {
		t.Errorf("%v", got)
	}
	if n := len(w.episodes(w.ours.member, url.Values{}).Items); n != 2 {
		t.Errorf("%d episodes", n)
	}
}

// TestAnAlertShowsTheTreeOfItsRaise, with the people that are kept beside the log and not for viewers, and the statements for
// as long as the episode keeps them; a session that has the id of another one lends it no statement.
func TestAnAlertShowsTheTreeOfItsRaise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	at := w.ago(time.Minute)
	w.keepTexts("normalized")
	episode := w.blocked(w.ours, ids["orders"], at)
	began, other := at.Add(-20*time.Second-time.Hour), w.ago(time.Second)
	const title = "session 24749, idle in transaction for 4 min, blocks 12 sessions on table public.orders"
	raise := func(key, server string, began *time.Time) string {
		_, mark, err := w.deps.Commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "watch"}, []alert.Firing{{
			Key: "watch/lock_wait/" + key, Title: server + ": " + title, Severity: alert.Warning, InstanceID: ids["orders"], StartsAt: at, SeenAt: w.clock.Now(),
			People: []alert.Person{{Session: "24749", Began: began, User: "bill", Application: "billing", Client: "10.4.2.17"}},
			Blocking: &alert.Blocking{EpisodeID: episode, At: at, Omitted: 3, Sessions: []alert.BlockedSession{
				{Session: "24749", Kind: "client", Began: began, Idle: true}, {Session: "24911", Kind: "client", Waits: &at, For: []string{"24749"}},
			}},
		}})
		must(t, err)
		w.settle(mark)
		for _, a := range w.listed(w.ours.viewer, "") {
			if strings.HasPrefix(a.Title, server+":") {
				return a.ID.String()
			}
		}
		t.Fatal("there is no alert ", key)
		return ""
	}
	shown := func(as person, id string) (d api.AlertDetail) {
		w.get(as, alertsPath+"/"+id).is(200).decode(&d)
		return d
	}
	one, reused := raise("one", "orders", &began), raise("another with that id", "other", &other)
	titles := func(as person) (out []string) {
		for _, a := range w.listed(as, "") {
			out = append(out, a.Title)
		}
		var behind api.Contributors
		window := url.Values{"from": {w.ago(time.Hour).Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}, "by": {"alert"}, "series": {"active"}}
		w.get(as, "/api/v1/alerts/raised-resolved-history/contributors?"+window.Encode()).is(200).decode(&behind)
		for _, i := range behind.Items {
			out = append(out, i.Alert.Title)
		}
		out = append(out, shown(as, one).Title)
		slices.Sort(out)
		return out
	}
	said := func(title string) []string {
		return []string{"orders: " + title, "orders: " + title, "orders: " + title, "other: " + title, "other: " + title}
	}
	const named = "app billing (user bill, idle in transaction for 4 min) blocks 12 sessions on table public.orders"
	if got := titles(w.ours.member); !slices.Equal(got, said(named)) {
		t.Errorf("titles %q", got)
	}
	if got := titles(w.ours.viewer); !slices.Equal(got, said(title)) {
		t.Errorf("a viewer reads the titles %q", got)
	}
	b := shown(w.ours.member, one).Blocking
	if b == nil || b.EpisodeId != episode || b.Tree.Omitted != 3 || len(b.Tree.Sessions) != 2 || *b.Tree.Sessions[0].User != "bill" || *b.Tree.Sessions[0].Client != "10.4.2.17" ||
		b.Tree.Sessions[0].Statement == nil || b.Tree.Sessions[1].User != nil || b.Tree.Roots[0].Behind != 1 {
		t.Fatalf("%+v", b)
	}
	if root := shown(w.ours.viewer, one).Blocking.Tree.Sessions[0]; root.User != nil || root.Application != nil || root.Client != nil || root.Statement != nil || !root.Hidden {
		t.Errorf("a viewer sees %+v", root)
	}
	if root := shown(w.ours.member, reused).Blocking.Tree.Sessions[0]; root.Statement != nil || root.Hidden {
		t.Errorf("another session: %+v", root)
	}
	w.exec(`DELETE FROM blocking_samples`)
	w.exec(`DELETE FROM blocking_episodes`)
	if b := shown(w.ours.member, one).Blocking; b == nil || len(b.Tree.Sessions) != 2 || *b.Tree.Sessions[0].User != "bill" || b.Tree.Sessions[0].Statement != nil {
		t.Errorf("once the episode is gone: %+v", b)
	}
	// Their time is over, and the read model is filled again: nothing has a name, and the tree is still there.
	w.exec(`UPDATE alert_people SET kept_at = now() - interval '401 days'`)
	if _, err := people.Prune(t.Context(), w.deps.DB); err != nil {
		t.Fatal(err)
	}
	w.post(w.ours.admin, "/api/v1/ops/projections/alerts/rebuild", nil).is(202)
	eventually(t, "the rebuild", func() bool { return w.get(w.ours.auditor, "/api/v1/ops/projections/alerts/diff").Code == 200 })
	if got := titles(w.ours.member); !slices.Equal(got, said(title)) {
		t.Errorf("titles once people are erased: %q", got)
	}
	if b := shown(w.ours.member, one).Blocking; b == nil || len(b.Tree.Sessions) != 2 || b.Tree.Sessions[0].User != nil || b.Tree.Sessions[0].Application != nil || b.Tree.Sessions[0].Client != nil {
		t.Errorf("once people are erased: %+v", b)
	}
	// An organization that keeps no people erases them at once, and keeps none any more.
	id := w.blocked(w.ours, ids["orders"], w.ago(time.Second))
	three := raise("three", "third", &began)
	names := func() (n int) {
		for _, path := range []string{alertsPath + "/" + three, blockingPath + "/" + id.String(), blockingPath + "?from=" + url.QueryEscape(w.ago(time.Hour).Format(time.RFC3339)) + "&to=" + url.QueryEscape(w.clock.Now().Format(time.RFC3339))} {
			body := w.get(w.ours.member, path).is(200).Body.String()
			for _, secret := range []string{`"bill"`, `"billing"`, "user bill", "10.4.2.17"} {
				n += strings.Count(body, secret)
			}
		}
		return n
	}
	if n := names(); n < 8 {
		t.Errorf("%d names while people are kept", n)
	}
	w.change(w.ours.admin, w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag"), map[string]any{"sessionDetail": "off"}).is(200)
	if n := names(); n != 0 {
		t.Errorf("%d names once people are turned off", n)
	}
	id, three = w.blocked(w.ours, ids["ledger"], w.ago(time.Second)), raise("four", "fourth", &began)
	if n := names(); n != 0 {
		t.Errorf("%d names are kept where people are turned off", n)
	}
	raised := w.raised(w.ours, alerting.Item{ExternalID: "disk", CreatedAt: w.ago(time.Hour)})["disk"]
	if d := shown(w.ours.member, raised.String()); d.Blocking != nil || len(d.Unavailable) != 0 {
		t.Errorf("%+v", d)
	}
}
