package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/marks"
	"muster/domain/fleet"
	domain "muster/domain/mark"
	"muster/domain/organization"
	"muster/internal/assessment/changes"
	"muster/internal/httpapi/api"
	"muster/internal/servers"
)

const marksPath = "/api/v1/marks"

// mark sets one and returns its id.
func (w *world) mark(as person, text string, at time.Time, tags map[string]string) (id string) {
	w.t.Helper()
	if tags == nil {
		tags = map[string]string{}
	}
	made := w.post(as, marksPath, map[string]any{"text": text, "at": at, "tags": tags}).is(201)
	id = made.object()["id"].(string)
	if got := made.Header().Get("Location"); got != marksPath+"/"+id {
		w.t.Errorf("the location of a mark is %s", got)
	}
	return id
}

// marks are the marks of the last hours that somebody sees, the newest first.
func (w *world) marks(as person, filter string) (list api.MarkList) {
	w.t.Helper()
	window := url.Values{"from": {w.ago(26 * time.Hour).Format(time.RFC3339Nano)}, "to": {w.clock.Now().Add(time.Minute).Format(time.RFC3339Nano)}}
	w.get(as, marksPath+"?"+strings.Trim(window.Encode()+"&"+filter, "&")).is(200).decode(&list)
	return list
}

// said are the texts of marks of one kind, or of all but registrations where the kind is empty, each with its server.
func said(list api.MarkList, kind string) string {
	var texts []string
	for _, m := range list.Items {
		text := m.Text
		if m.Instance != nil {
			text = m.Instance.Name + ": " + text
		}
		if m.Kind == kind || kind == "" && m.Kind != "registered" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// TestMarks: a mark that is set shows to all of its organization with who set it, and is gone when it is removed.
func TestMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"app": "orders", "env": "prod"}).is(200)
	w.tag(w.ours.admin, ids["billing"], map[string]string{"app": "billing", "env": "prod"}).is(200)
	w.instance(w.theirs, "theirs")
	w.mark(w.theirs.member, "theirs", w.ago(time.Minute), nil)
	now := w.clock.Now()
	for text, c := range map[string]struct {
		at   time.Time
		tags map[string]string
	}{
		"deploy orders 1.0":  {w.ago(time.Hour), map[string]string{"app": "orders", "env": "prod"}},
		"deploy billing 4.2": {w.ago(2 * time.Hour), map[string]string{"app": "billing"}},
		"new firewall":       {w.ago(3 * time.Hour), nil},
		"deploy nothing":     {w.ago(4 * time.Hour), map[string]string{"app": "orders", "env": "test"}},
		"last week":          {w.ago(7 * day), nil},
		"in three minutes":   {now.Add(3 * time.Minute), nil},
	} {
		w.mark(w.ours.member, text, c.at, c.tags)
	}
	all := w.marks(w.ours.viewer, "")
	if got := said(all, ""); got != "deploy orders 1.0; deploy billing 4.2; new firewall" || !all.Complete || len(all.Unavailable) > 0 {
		t.Errorf("all marks: %s, %+v", got, all)
	}
	if m := all.Items[0]; m.Kind != "deploy" || !m.At.Equal(w.ago(time.Hour)) || m.By == nil || m.By.Name != "MEMBER" && m.By.Id != w.ours.member.ID || m.Token != nil || m.Instance != nil ||
		m.InstanceCount == nil || *m.InstanceCount != 1 || !maps.Equal(m.Tags, map[string]string{"app": "orders", "env": "prod"}) || m.MayRemove {
		t.Errorf("a mark is %+v", m)
	}
	payments := w.team(w.ours, "Payments", map[string][]string{"app": {"billing"}}, w.ours.viewer, organization.Viewer)
	for filter, want := range map[string]string{
		"instanceId=" + ids["orders"].String():                   "deploy orders 1.0; new firewall",
		"instanceId=" + ids["ledger"].String():                   "new firewall",
		"tag=app:billing":                                        "deploy billing 4.2; new firewall",
		"tag=env:prod&instanceId=" + ids["billing"].String():     "deploy billing 4.2; new firewall",
		"tag=env:test":                                           "",
		"instanceId=" + uuid.NewString():                         "",
		"instanceId=" + w.instance(w.theirs, "further").String(): "",
		"owner=" + payments:                                      "deploy billing 4.2; new firewall",
		"owner=" + uuid.NewString():                              "",
	} {
		if got := said(w.marks(w.ours.viewer, filter), ""); got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
	// A mark at the end of the window is not in it, and one at its beginning is.
	at := func(from, to time.Time) string {
		var list api.MarkList
		w.get(w.ours.viewer, marksPath+"?"+url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}.Encode()).is(200).decode(&list)
		return said(list, "deploy")
	}
	if before, after := at(w.ago(2*time.Hour), w.ago(time.Hour)), at(w.ago(time.Hour), now); before != "deploy billing 4.2" || after != "deploy orders 1.0" {
		t.Errorf("the windows have %q and %q", before, after)
	}
	first := marksPath + "/" + all.Items[0].Id.String()
	remove := func(as person, path string) answer { return w.do(request{method: "DELETE", path: path, as: as}) }
	remove(w.ours.viewer, first).problem(403, "forbidden")
	remove(w.theirs.admin, first).problem(404, "not_found")
	remove(w.ours.admin, first).is(204)
	remove(w.ours.admin, first).problem(404, "not_found")
	if got := said(w.marks(w.ours.viewer, ""), ""); got != "deploy billing 4.2; new firewall" {
		t.Errorf("after the removal: %s", got)
	}
	if n := w.count(`SELECT count(*) FROM chart_marks WHERE text = ''`); n != 1 {
		t.Errorf("%d texts were erased", n)
	}
	if set, removed := len(w.trail("markSet")), len(w.trail("markRemoved")); set != 6 || removed != 1 {
		t.Errorf("the audit list has %d and %d entries of marks", set, removed)
	}
	if text := w.get(w.ours.auditor, "/api/v1/audit-events?type=markSet").Body.String(); strings.Contains(text, `"data":{"text"`) || !strings.Contains(text, `"app":"billing"`) || !strings.Contains(text, "new firewall") {
		t.Errorf("the entries are %s", text)
	}
	w.clock.Advance(394 * day)
	if n, err := marks.Prune(t.Context(), w.deps.DB, w.clock.Now()); n != 1 || err != nil { // that of last week
		t.Errorf("%d marks are too old: %v", n, err)
	}
}

// TestBoundsOfMarks: a request that breaks several rules is told all of them, and nothing of it is kept.
func TestBoundsOfMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	tooMany := map[string]string{}
	for n := range fleet.MaxTags + 1 {
		tooMany[fmt.Sprintf("k%d", n)] = "v"
	}
	for name, c := range map[string]struct {
		body   map[string]any
		status int
		want   []string
	}{
		"all at once": {map[string]any{"text": "", "at": w.clock.Now().Add(6 * time.Minute), "tags": map[string]string{"App": "x", "env": ""}}, 422,
			[]string{"body #/at time_in_future", "body #/text out_of_range", "body #/tags/App invalid_name", "body #/tags/env invalid_parameter"}},
		"before what is kept": {map[string]any{"text": "x", "at": w.ago(400*day + time.Hour)}, 422, []string{"body #/at out_of_range"}},
		"a longer text":       {map[string]any{"text": strings.Repeat("ü", 201)}, 422, []string{"body #/text out_of_range"}},
		"blanks":              {map[string]any{"text": "   "}, 422, []string{"body #/text out_of_range"}},
		"a line break":        {map[string]any{"text": "deploy\nforged"}, 422, []string{"body #/text invalid_text"}},
		"a hidden turn":       {map[string]any{"text": "deploy \u202ex"}, 422, []string{"body #/text invalid_text"}},
		"many tags":           {map[string]any{"text": "x", "tags": tooMany}, 422, []string{"body #/tags too_many_items"}},
		"no text":             {map[string]any{}, 400, []string{"body #/text missing_parameter"}},
		"no time":             {map[string]any{"text": "x", "at": "yesterday"}, 400, []string{"body #/at invalid_parameter"}},
		"several values":      {map[string]any{"text": "x", "tags": map[string]any{"env": []string{"prod"}}}, 400, []string{"body #/tags/env invalid_parameter"}},
		"another member":      {map[string]any{"text": "x", "kind": "failover"}, 400, []string{"body #/kind unknown_field"}},
	} {
		a := w.post(w.ours.member, marksPath, c.body)
		var p shownProblem
		if a.decode(&p); a.Code != c.status || !slices.Equal(p.places(), c.want) {
			t.Errorf("%s: %d %v, want %d %v", name, a.Code, p.places(), c.status, c.want)
		}
	}
	if n := w.count(`SELECT count(*) FROM chart_marks`); n != 0 {
		t.Errorf("%d marks are kept", n)
	}
	w.mark(w.ours.member, strings.Repeat("ü", 200), w.ago(399*day), nil)
	trimmed := w.post(w.ours.member, marksPath, map[string]any{"text": " now "}).is(201).object()
	if at, err := time.Parse(time.RFC3339, trimmed["at"].(string)); err != nil || !at.Equal(w.clock.Now()) || trimmed["text"] != "now" {
		t.Errorf("without a time: %v", trimmed)
	}
	for query, code := range map[string]string{
		"?from=2026-11-20T00:00:00Z": "missing_parameter", "?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z": "invalid_window",
		"?from=" + w.clock.Now().Add(time.Hour).Format(time.RFC3339) + "&to=" + w.clock.Now().Add(2*time.Hour).Format(time.RFC3339): "window_in_future",
		"?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&kind=deploy":                                                            "unknown_parameter",
	} {
		if a := w.get(w.ours.viewer, marksPath+query); !strings.Contains(a.Body.String(), `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

// TestMarksOfADay: an organization sets so many marks within a day, counting those that it removed. The answer says when
// there is room again, and marks of others do not count.
func TestMarksOfADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	fill := func(organization uuid.UUID, n int, at time.Time) {
		w.exec(`INSERT INTO chart_marks (id, organization_id, at, text, tags, created_at, removed_at)
			SELECT gen_random_uuid(), $1, $2, '', '{}', $2::timestamptz + n * interval '1 microsecond', $2 FROM generate_series(1, $3::int) AS n`, organization, at, n)
	}
	fill(w.theirs.organization.ID, domain.MaxADay, w.ago(time.Hour))
	fill(w.ours.organization.ID, 10, w.ago(25*time.Hour))
	fill(w.ours.organization.ID, domain.MaxADay-1, w.ago(23*time.Hour))
	last := w.mark(w.ours.member, "the last", w.clock.Now(), nil)
	w.do(request{method: "DELETE", path: marksPath + "/" + last, as: w.ours.member}).is(204)
	refused := w.post(w.ours.member, marksPath, map[string]any{"text": "one more"})
	refused.problem(429, "too_many_marks")
	if got := refused.Header().Get("Retry-After"); got != "3601" && got != "3600" {
		t.Errorf("there is room in %s s", got)
	}
	w.clock.Advance(time.Hour + time.Second)
	w.mark(w.ours.member, "one more", w.clock.Now(), nil)
}

// TestAMarkIsSetOnce: a request that is sent again with its key finds the mark that it made, and by another key or none it
// makes another.
func TestAMarkIsSetOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(w.ours.member, organization.ScopeMarksWrite)
	send := func(key, text string) answer {
		return w.do(request{method: "POST", path: marksPath, token: token, json: map[string]any{"text": text, "tags": map[string]string{"app": "billing"}}, header: map[string]string{"Idempotency-Key": key}})
	}
	first, again := send("run-1", "deploy").is(201), send("run-1", "deploy").is(201)
	if first.Body.String() != again.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Errorf("sent again: %s, first %s", again.Body, first.Body)
	}
	send("run-1", "another").problem(422, "idempotency_key_reused")
	if other := send("run-2", "deploy").is(201); other.object()["id"] == first.object()["id"] {
		t.Error("another request made the same mark")
	}
	// The holder of the key died after it had made the mark: the same request finds it.
	w.exec(`UPDATE idempotency_keys SET status = NULL, headers = NULL, body = NULL, claimed_at = claimed_at - interval '1 hour'`)
	if taken := send("run-1", "deploy").is(201); taken.object()["id"] != first.object()["id"] {
		t.Errorf("after a death: %s", taken.Body)
	}
	if n := w.count(`SELECT count(*) FROM chart_marks`); n != 2 {
		t.Errorf("%d marks are kept", n)
	}
	// It died, and somebody removed the mark before the request came again: the request makes another.
	w.exec(`UPDATE idempotency_keys SET status = NULL, headers = NULL, body = NULL, claimed_at = claimed_at - interval '1 hour'`)
	w.do(request{method: "DELETE", path: marksPath + "/" + first.object()["id"].(string), as: w.ours.admin}).is(204)
	anew := send("run-1", "deploy").is(201)
	if id := anew.object()["id"]; id == first.object()["id"] || anew.object()["text"] != "deploy" || anew.Header().Get("Location") != marksPath+"/"+id.(string) {
		t.Errorf("after a death and a removal: %s", anew.Body)
	}
	if replayed := send("run-1", "deploy").is(201); replayed.Body.String() != anew.Body.String() {
		t.Errorf("and again: %s", replayed.Body)
	}
}

// TestMarksByToken: a token with the scope for it, and nothing else, sets marks, and they name it. It reads none.
func TestMarksByToken(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ci, reads := w.token(w.ours.member, organization.ScopeMarksWrite), w.token(w.ours.member, organization.ScopeMetricsRead, organization.ScopeAlertsWrite)
	w.do(request{method: "POST", path: marksPath, token: reads, json: map[string]any{"text": "x"}}).problem(403, "forbidden")
	made := w.do(request{method: "POST", path: marksPath, token: ci, json: map[string]any{"text": "deploy"}}).is(201).object()
	if token, _ := made["token"].(map[string]any); token["name"] != "t" || made["by"].(map[string]any)["id"] != w.ours.member.ID.String() || made["mayRemove"] != true {
		t.Errorf("it is set by %v", made)
	}
	w.do(request{method: "GET", path: marksPath + "?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z", token: ci}).problem(403, "forbidden")
	w.do(request{method: "DELETE", path: marksPath + "/" + made["id"].(string), token: ci}).is(204)
}

// TestATeamMarksItsServers: somebody with the role team sets marks whose tags lie within the selector of a team in which
// they act, and sees those of the servers that they see, and those of the whole organization.
func TestATeamMarksItsServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	set := func(tags map[string]string) answer {
		return w.post(somebody, marksPath, map[string]any{"text": "mine", "tags": tags})
	}
	mine := set(map[string]string{"team": "acts", "app": "no server yet"}).is(201).object()
	if mine["mayRemove"] != true || mine["instanceCount"] != 0.0 {
		t.Errorf("a mark of mine is %v", mine)
	}
	for name, tags := range map[string]map[string]string{
		"the whole organization": {}, "servers that they only see": {"team": "sees"}, "others' servers": {"team": "others"},
		"servers of several teams": {"env": "prod"}, "no servers": {"team": "nobody's"},
	} {
		if got := set(tags); got.Code != 403 {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	made := map[string]string{}
	for text, tags := range map[string]map[string]string{
		"acts": {"team": "acts"}, "sees": {"team": "sees", "env": "prod"}, "others": {"team": "others"}, "all": nil, "prod": {"env": "prod"},
	} {
		made[text] = w.mark(w.ours.admin, text, w.ago(time.Minute), tags)
	}
	texts := strings.Split(said(w.marks(somebody, ""), ""), "; ")
	if slices.Sort(texts); !slices.Equal(texts, []string{"acts", "all", "prod", "sees"}) {
		t.Errorf("they see %v", texts)
	}
	for _, m := range w.marks(somebody, "").Items {
		if m.Text == "prod" && *m.InstanceCount != 2 { // of three
			t.Errorf("the mark is at %d servers", *m.InstanceCount)
		}
		if m.MayRemove != (m.Text == "acts") {
			t.Errorf("may remove %s: %t", m.Text, m.MayRemove)
		}
	}
	remove := func(id string) answer {
		return w.do(request{method: "DELETE", path: marksPath + "/" + id, as: somebody})
	}
	remove(made["acts"]).is(204)
	remove(mine["id"].(string)).is(204)
	for _, seen := range []string{"all", "prod", "sees"} {
		remove(made[seen]).problem(403, "forbidden")
	}
	remove(made["others"]).problem(404, "not_found")
	// A team that names its servers by id gives no right to set marks by tags.
	w.post(w.ours.admin, teamsPath, map[string]any{"name": "by id", "selector": map[string]any{"tags": map[string]any{}, "instanceIds": []any{ids["ledger"]}},
		"members": []any{map[string]any{"memberId": somebody.ID, "role": "member"}}}).is(201)
	set(map[string]string{"team": "others"}).problem(403, "forbidden")
	set(map[string]string{}).problem(403, "forbidden")
	// A viewer in a team sets none.
	viewer := w.person(w.ours.organization, organization.Team, w.ours.address("viewing"))
	w.team(w.ours, "viewing", map[string][]string{"team": {"acts"}}, viewer, organization.Viewer)
	w.post(viewer, marksPath, map[string]any{"text": "x", "tags": map[string]string{"team": "acts"}}).problem(403, "forbidden")
}

// TestAMarkOfAnErasedMember stays, and names nobody.
func TestAMarkOfAnErasedMember(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	w.instance(w.ours, "orders")
	zoe := w.person(w.ours.organization, organization.Member, w.ours.address("zoe"))
	w.mark(zoe, "deploy", w.ago(time.Minute), nil)
	w.do(request{method: "DELETE", path: memberPath(zoe), as: w.ours.admin}).is(204)
	for _, m := range w.marks(w.ours.viewer, "").Items {
		if m.Kind == "deploy" && (m.Text != "deploy" || m.By != nil) {
			t.Errorf("it is %+v", m)
		}
	}
}

// lived is a state of a server: settings, its version, its role in replication and an extension.
func lived(settings map[string]string, version, role, extension string) changes.State {
	var s changes.State
	var items []changes.Item
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		items = append(items, changes.Item{Name: name, Value: settings[name], Secret: changes.SecretSetting(name)})
	}
	s.See(fleet.ChangedSetting, items, true)
	s.See(fleet.ChangedVersion, []changes.Item{{Name: "PostgreSQL", Value: version}}, true)
	s.See(fleet.ChangedExtension, []changes.Item{{Name: "pg_trgm", Value: extension}}, true)
	s.See(fleet.ChangedRole, []changes.Item{{Name: "dana", Value: extension}}, true)
	s.Answered(servers.Identity{Engine: fleet.PostgreSQL, Role: role})
	return s
}

// TestMarksThatMusterKnows: what assessments find to have changed, when servers were registered, and when they were
// switched off and removed are marks; what of it a viewer may not read elsewhere, they do not read here.
func TestMarksThatMusterKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	orders, billing, theirs := w.instance(w.ours, "orders"), w.instance(w.ours, "billing"), w.instance(w.theirs, "theirs")
	before := map[string]string{"work_mem": "4MB", "fsync": "on", "archive_command": "a", "a": "1", "b": "1", "c": "1", "d": "1"}
	after := map[string]string{"work_mem": "8MB", "fsync": "off", "archive_command": "b", "a": "2", "b": "2", "c": "2", "d": "2"}
	w.lookedAt(w.ours, orders, w.ago(20*time.Hour), w.ago(30*time.Hour), lived(before, "15.4", "primary", "1.5"))
	w.lookedAt(w.theirs, theirs, w.ago(20*time.Hour), w.ago(30*time.Hour), lived(before, "15.4", "primary", "1.5"))
	// The same, but for the start, which was computed from another clock.
	w.lookedAt(w.ours, orders, w.ago(14*time.Hour), w.ago(30*time.Hour).Add(-2*time.Second), lived(before, "15.4", "primary", "1.5"))
	w.lookedAt(w.ours, orders, w.ago(8*time.Hour), w.ago(9*time.Hour), lived(after, "15.6", "standby", "1.6"))
	w.lookedAt(w.theirs, theirs, w.ago(8*time.Hour), w.ago(9*time.Hour), lived(after, "15.6", "standby", "1.6"))
	all := w.marks(w.ours.member, "instanceId="+orders.String())
	for kind, want := range map[string]string{
		"setting":  "orders: a: 1 → 2; archive_command changed; b: 1 → 2; c: 1 → 2; d: 1 → 2; and 2 more",
		"version":  "orders: PostgreSQL: 15.4 → 15.6; pg_trgm: 1.5 → 1.6",
		"failover": "", // its role in replication was not looked at
		"restart":  "orders: Restarted",
	} {
		if got := said(all, kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	for _, m := range all.Items {
		want := w.ago(8 * time.Hour)
		if m.Kind == "restart" {
			want = w.ago(9 * time.Hour) // and not when it was found
		}
		if m.Kind != "registered" && !m.At.Equal(want) || m.By != nil || m.Token != nil || m.MayRemove || m.InstanceCount != nil || len(m.Tags) > 0 || m.Instance.Id != orders {
			t.Errorf("a mark is %+v", m)
		}
	}
	if again := w.marks(w.ours.member, "instanceId="+orders.String()); !slices.Equal(markIDs(again), markIDs(all)) {
		t.Error("ids are others at the next request")
	}
	viewed := w.marks(w.ours.viewer, "instanceId="+orders.String())
	if settings, versions := said(viewed, "setting"), said(viewed, "version"); settings != "orders: 7 settings changed" || versions != "orders: PostgreSQL: 15.4 → 15.6; 1 extension changed" {
		t.Errorf("a viewer reads %q and %q", settings, versions)
	}
	var byToken api.MarkList
	reads := w.token(w.ours.member, organization.ScopeMetricsRead)
	window := url.Values{"from": {w.ago(day).Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}}
	w.do(request{method: "GET", path: marksPath + "?" + window.Encode(), token: reads}).is(200).decode(&byToken)
	if got := said(byToken, "setting"); got != "orders: 7 settings changed" {
		t.Errorf("a token that may not read the health of servers reads %q", got)
	}
	// Values that are kept no longer leave the fact.
	w.exec(`DELETE FROM instance_change_values`)
	if got := said(w.marks(w.ours.member, ""), ""); got != "orders: Restarted; orders: 7 settings changed; orders: 1 extension changed; 1 version changed" {
		t.Errorf("without values: %q", got)
	}
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + orders.String(), as: w.ours.admin, json: map[string]any{"active": false}}).is(200)
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + orders.String(), as: w.ours.admin, json: map[string]any{"active": true}}).is(200)
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + billing.String(), as: w.ours.admin}).is(204)
	w.clock.Advance(time.Minute)
	texts := strings.Split(said(w.marks(w.ours.viewer, ""), "retired"), "; ")
	if slices.Sort(texts); !slices.Equal(texts, []string{"billing: Removed", "orders: Deactivated"}) {
		t.Errorf("retired are %v", texts)
	}
	texts = strings.Split(said(w.marks(w.ours.viewer, ""), "registered"), "; ")
	if slices.Sort(texts); !slices.Equal(texts, []string{"orders: Activated", "orders: Registered"}) {
		t.Errorf("registered are %v", texts)
	}
	if got := said(w.marks(w.ours.viewer, "instanceId="+orders.String()), "retired"); got != "orders: Deactivated" {
		t.Errorf("of one server: %s", got)
	}
	w.do(request{method: "DELETE", path: marksPath + "/" + all.Items[0].Id.String(), as: w.ours.admin}).problem(404, "not_found")
}

func markIDs(list api.MarkList) (all []uuid.UUID) {
	for _, m := range list.Items {
		all = append(all, m.Id)
	}
	return all
}

// TestMoreMarksThanAnAnswerHas: the newest are answered, and the answer says that there are more.
func TestMoreMarksThanAnAnswerHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance(w.ours, "orders")
	w.exec(`INSERT INTO chart_marks (id, organization_id, at, text, tags, created_at)
		SELECT gen_random_uuid(), $1, $2::timestamptz - n * interval '1 second', 'mark ' || n, '{}', $2 FROM generate_series(1, 1001) AS n`, w.ours.organization.ID, w.clock.Now())
	list := w.marks(w.ours.viewer, "")
	if n := len(list.Items); n != 1000 || list.Complete || !strings.HasPrefix(said(list, "deploy"), "mark 1; mark 2; ") {
		text, _ := json.Marshal(list.Items[0])
		t.Errorf("%d marks, complete: %t, first %s", n, list.Complete, text)
	}
}

// TestMarksBehindManyOfOthers: marks and retired servers of a filter are answered however many newer ones there are that it
// leaves out. The answer has all of them.
func TestMarksBehindManyOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ids, somebody := w.withTeams()
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "acts", "app": "billing"}).is(200)
	w.exec(`INSERT INTO chart_marks (id, organization_id, at, text, tags, created_at)
		SELECT gen_random_uuid(), $1, $2::timestamptz - n / 3 * interval '1 second', 'other ' || n, '{"team": "others"}', $2::timestamptz - interval '2 days' FROM generate_series(1, 2500) AS n`,
		w.ours.organization.ID, w.clock.Now())
	w.mark(w.ours.admin, "deploy billing", w.ago(4*time.Hour), map[string]string{"app": "billing"})
	w.mark(w.ours.admin, "everywhere", w.ago(5*time.Hour), nil)
	for name, list := range map[string]api.MarkList{
		"a tag": w.marks(w.ours.viewer, "tag=app:billing"), "a server": w.marks(w.ours.viewer, "instanceId="+ids["orders"].String()), "a team": w.marks(somebody, ""),
	} {
		if got := said(list, "deploy"); got != "deploy billing; everywhere" || !list.Complete {
			t.Errorf("%s: %s, complete: %t", name, got, list.Complete)
		}
	}
	if all := w.marks(w.ours.viewer, ""); len(all.Items) != 1000 || all.Complete {
		t.Errorf("without a filter: %d, complete: %t", len(all.Items), all.Complete)
	}
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + ids["orders"].String(), as: w.ours.admin, json: map[string]any{"active": false}}).is(200)
	w.exec(`INSERT INTO audit_v3.entries SELECT (jsonb_populate_record(e, jsonb_build_object('position', -n, 'at', e.at + interval '1 second', 'subject', $1::text))).*
		FROM audit_v3.entries AS e, generate_series(1, 1100) AS n WHERE e.type = 'instanceDeactivated'`, ids["ledger"])
	w.clock.Advance(time.Minute)
	if list := w.marks(w.ours.viewer, "instanceId="+ids["orders"].String()); said(list, "retired") != "orders: Deactivated" || !list.Complete {
		t.Errorf("the retired server: %q, complete: %t", said(list, "retired"), list.Complete)
	}
}

// TestFailoversAreMarks: a change of roles is a mark at the time of the look that saw it, and the assessment that finds the
// other role makes none.
func TestFailoversAreMarks(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited) // who does not see ledger
	ids, somebody := w.withTeams()
	in := sender{w, w.ingestToken(w.ours.admin)}
	send := func(all ...members) { in.send(samplesPath, members{"replication": all}).is(202) }
	send(w.leads("orders", 3*time.Hour, nil), w.follows("billing", 3*time.Hour, nil), w.follows("ledger", 3*time.Hour, members{"systems": []string{"7302"}}))
	send(w.follows("orders", 2*time.Hour, members{"timeline": 2}), w.leads("billing", 2*time.Hour, members{"timeline": 2}), w.leads("ledger", 2*time.Hour, members{"systems": []string{"7302"}, "timeline": 7}))
	w.lookedAt(w.ours, ids["orders"], w.ago(4*time.Hour), w.ago(30*time.Hour), lived(nil, "15.4", "primary", "1.5"))
	w.lookedAt(w.ours, ids["orders"], w.ago(time.Hour), w.ago(30*time.Hour), lived(nil, "15.4", "standby", "1.5"))
	const own = "billing: From standby to primary, timeline 2; orders: From primary to standby, timeline 2"
	for name, c := range map[string]struct {
		list api.MarkList
		want string
	}{
		"all":    {w.marks(w.ours.viewer, ""), own + "; ledger: From standby to primary, timeline 7"},
		"one":    {w.marks(w.ours.viewer, "instanceId="+ids["ledger"].String()), "ledger: From standby to primary, timeline 7"},
		"a team": {w.marks(somebody, ""), own},
		"others": {w.marks(w.theirs.admin, ""), ""},
	} {
		texts := strings.Split(said(c.list, "failover"), "; ")
		want := strings.Split(c.want, "; ")
		if slices.Sort(texts); !slices.Equal(texts, slices.Sorted(slices.Values(want))) || !c.list.Complete || len(c.list.Unavailable) > 0 {
			t.Errorf("%s: %v, want %v", name, texts, want)
		}
		for _, m := range c.list.Items {
			if m.Kind == "failover" && !m.At.Equal(w.ago(2*time.Hour)) {
				t.Errorf("%s: %s at %s", name, m.Text, m.At)
			}
		}
	}
}

// TestReleasesAreMarks: several new statements of a database at once are a mark. Statements of the first day, those that the
// server had counted before, and Muster's own are not new.
func TestReleasesAreMarks(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited) // who does not see ledger
	ids, somebody := w.withTeams()
	in := sender{w, w.ingestToken(w.ours.admin)}
	sent := func(instance string, ago time.Duration, n int, of string, more members) members {
		var all []members
		for i := range n {
			all = append(all, members{"key": fmt.Sprint(of, i), "calls": 1, "totalMs": 1}.with(more))
		}
		return w.ofStatements(members{"instance": instance, "at": w.ago(ago), "statements": all})
	}
	var all []members
	for _, instance := range []string{"orders", "billing", "ledger"} {
		all = append(all, sent(instance, 30*time.Hour, 3, "old", nil), sent(instance, 29*time.Hour, 9, "of the first day", nil), sent(instance, time.Hour, 9, "of the first day", nil))
	}
	all = append(all, sent("orders", 2*time.Hour, 6, "new", nil), sent("orders", 2*time.Hour-time.Minute, 7, "newer", nil), sent("orders", 30*time.Minute, 4, "few", nil),
		sent("billing", 3*time.Hour, 9, "ran", members{"ranBefore": true}), sent("billing", 2*time.Hour, 9, "ours", members{"own": true}), sent("ledger", 4*time.Hour, 12, "new", nil))
	in.send(samplesPath, members{"statements": all}).is(202)
	const ledger = "ledger: 12 new statements in database"
	for name, c := range map[string]struct {
		list api.MarkList
		want string
	}{
		"all":    {w.marks(w.ours.viewer, ""), "orders: 13 new statements in database; " + ledger},
		"one":    {w.marks(w.ours.viewer, "instanceId="+ids["ledger"].String()), ledger},
		"none":   {w.marks(w.ours.viewer, "instanceId="+ids["billing"].String()), ""},
		"a team": {w.marks(somebody, ""), "orders: 13 new statements in database"},
		"others": {w.marks(w.theirs.admin, ""), ""},
	} {
		got := regexp.MustCompile(`(in database) [a-z]+`).ReplaceAllString(said(c.list, "release"), "$1")
		if got != c.want || len(c.list.Unavailable) > 0 {
			t.Errorf("%s: %q, want %q; unavailable %+v", name, got, c.want, c.list.Unavailable)
		}
		for _, m := range c.list.Items {
			if m.Kind == "release" && m.Instance.Name == "orders" && !m.At.Equal(w.ago(2*time.Hour)) {
				t.Errorf("%s: %s at %s", name, m.Text, m.At)
			}
		}
	}
}

// TestMarksWithoutTheirSources: what cannot be read is named, and the rest is answered.
func TestMarksWithoutTheirSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance(w.ours, "orders")
	w.mark(w.ours.member, "deploy", w.ago(time.Minute), nil)
	w.stopProjections()
	for source, figure := range map[string]string{"health_v1.": "items.changes", "audit_v3.": "items.retired", "tokens": "items.token", "replication_roles": "items.failovers", "measured_statements": "items.releases", "maintenance_windows": "items.maintenance"} {
		w.without(source, func() {
			list := w.marks(w.ours.viewer, "")
			if got := said(list, "deploy"); got != "deploy" || len(list.Unavailable) != 1 || list.Unavailable[0].Figure != figure {
				t.Errorf("without %s: %s, unavailable %+v", source, got, list.Unavailable)
			}
		})
	}
}
