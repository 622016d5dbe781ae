package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/testing/longtest"
)

const assessmentsPath = "/ingest/v1/assessments"

// failing is a check that fails with objects, each "database/object".
func failing(check string, objects ...string) members {
	list := []members{}
	for _, o := range objects {
		database, name, _ := strings.Cut(o, "/")
		object := members{"database": nil, "object": name, "evidence": "seen"}
		if database != "" {
			object["database"] = database
		}
		list = append(list, object)
	}
	return members{"id": check, "outcome": "fail", "objects": list, "measured": "something"}
}

func passing(check string) members { return members{"id": check, "outcome": "pass"} }

// blind is a check that could not look into databases.
func blind(check members, databases ...string) members {
	var list []members
	for _, d := range databases {
		list = append(list, members{"database": d, "reason": "Sign-in was refused."})
	}
	return check.with(members{"notAssessedIn": list})
}

// of is an assessment of an instance, so long ago.
func (w *world) of(instance string, ago time.Duration, checks ...members) members {
	return members{"instance": instance, "at": w.ago(ago), "checks": append([]members{}, checks...)}
}

func sentBatch(all ...members) members { return members{"assessments": all} }

// keptOfFeeds is everything that assessments leave behind.
func (w *world) keptOfFeeds() string {
	w.t.Helper()
	var out string
	must(w.t, w.deps.DB.Get(&out, `SELECT concat((SELECT count(*) FROM assessments), ' assessments, ', (SELECT count(*) FROM assessment_classifications), ' classified, ',
		(SELECT string_agg(concat(check_id, database_name, object, assessed, first_seen_at, last_seen_at, gone_at), ' ' ORDER BY id) FROM findings), ' findings, ',
		(SELECT count(*) FROM events WHERE log = 'fleet' AND stream_type = 'assessment'), ' told, ', (SELECT md5(string_agg(state::text, '' ORDER BY instance_id)) FROM instance_states))`))
	return out
}

// TestAssessmentsOfAFeed come through to findings and health; a call that comes again, or
// several times at once, changes nothing more.
func TestAssessmentsOfAFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, Databases: []inventory.Database{database("d", w.ago(day)), database("e", w.ago(day))}})
	first := w.of("shop", 2*time.Hour, failing("PG-S01", "/line 4", "/line 2"), failing("PG-C04", "d/idx_a"), passing("PG-S02"),
		members{"id": "PG-S04", "outcome": "notApplicable", "reason": "no such thing"}, members{"id": "PG-S05", "outcome": "notAssessed", "reason": "may not"}).with(members{
		"version": "16.2", "edition": "Community",
		"accounts": []members{{"name": "dana", "canLogin": true, "superuser": true, "privileges": []string{"SELECT ANY TABLE"}, "memberOf": []string{"dba"}}, {"name": "plain", "canLogin": true, "superuser": false}},
		"settings": []members{{"name": "work_mem", "value": "4", "unit": "MB"}, {"name": "some_password", "value": "hunter2"}},
		"databases": []members{{"database": "d", "sizeBytes": 4096, "encryptedAtRest": true, "classification": members{"completedAt": w.ago(3 * time.Hour), "method": "names", "tables": []members{
			{"schema": "hr", "table": "people", "rows": 7, "encrypted": false, "readers": []string{"PUBLIC", "app"}, "columns": []members{{"column": "mail", "category": "email", "confidence": 0.95}, {"column": "x", "category": "Person", "confidence": 0.5}}},
			{"schema": "hr", "table": "boring", "columns": []members{}}}}}, {"database": "e"}},
	})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if got := strings.TrimSpace(in.send(assessmentsPath, sentBatch(first)).is(202).Body.String()); got != `{"accepted":{"assessments":1,"columns":2,"findings":3}}` {
				t.Errorf("answered %s", got)
			}
		})
	}
	calls.Wait()
	once := w.keptOfFeeds()
	other := first.with(members{"checks": []members{passing("PG-S01")}})
	in.send(assessmentsPath, sentBatch(first, other)).is(202)
	if again := w.keptOfFeeds(); again != once {
		t.Errorf("sent again, there are\n%s, and were\n%s", again, once)
	}
	id := ids["shop"]
	list := w.get(w.ours.member, "/api/v1/findings?instanceId="+id.String())
	if got := list.found(); got != "PG-S01:line 2 PG-S01:line 4 PG-C04:idx_a" && got != "PG-S01:line 4 PG-S01:line 2 PG-C04:idx_a" {
		t.Error(got)
	}
	shown := fmt.Sprint(list.object()["items"].([]any)[2])
	for _, part := range []string{"database:map[id:", "name:d", "evidence:seen", "measured:something", "statement:<nil>", "severity:Low"} {
		if !strings.Contains(shown, part) {
			t.Errorf("no %s in %s", part, shown)
		}
	}
	health := fmt.Sprint(w.get(w.ours.member, "/api/v1/instances/"+id.String()+"/health").is(200).object())
	for _, part := range []string{"assessedAt:" + first["at"].(time.Time).Format(time.RFC3339), "name:work_mem unit:MB value:4", "name:some_password unit:<nil> value:<nil>", "score:"} {
		if !strings.Contains(health, part) {
			t.Errorf("no %s in %s", part, health)
		}
	}
	a, classified, err := w.deps.Servers.Latest(t.Context(), w.ours.organization.ID, id)
	must(t, err)
	if len(classified) != 1 || len(classified[0].Classification.Tables) != 1 || classified[0].Classification.TablesSeen != 2 || a.VersionNum != 160002 || !a.Sent || len(a.Roles) != 1 {
		t.Errorf("%+v %+v", a, classified)
	}
	table := classified[0].Classification.Tables[0]
	if c := table.Columns; !table.PublicAccess || table.Encrypted == nil || *table.Encrypted || table.EstimatedRows != 7 ||
		c[0].Category != "Contact" || c[0].Confidence != "Certain" || c[1].Category != "Person" || c[1].Confidence != "Medium" || c[1].Weight != 6 {
		t.Errorf("%+v", table)
	}
	for _, event := range w.events("fleet") {
		if strings.Contains(event, "hunter2") || strings.Contains(event, "work_mem") {
			t.Errorf("an event holds what was sent: %s", event)
		}
	}

	// What is kept of it is damaged: the feed goes on, and somebody is told.
	var altered []string
	w.deps.Servers.Altered = func(sentence string) { altered = append(altered, sentence) }
	w.deps.DB.MustExec(`UPDATE instance_states SET state = '[]'`)
	in.send(assessmentsPath, sentBatch(w.of("shop", time.Hour, passing("PG-S01")))).is(202)
	if len(altered) != 1 {
		t.Errorf("told of damage: %q", altered)
	}
	w.deps.DB.MustExec(`UPDATE assessment_classifications SET facts = '[]'`)
	w.get(w.ours.viewer, "/api/v1/instances/"+id.String()).is(200)

	// A removed instance takes with it what was sent of it.
	in.send("/ingest/v1/fleet", members{"instances": []members{{"externalId": "shop", "name": "shop", "engine": "postgresql", "createdAt": w.ago(day), "removed": true}}}).is(200)
	if left := w.count(`SELECT (SELECT count(*) FROM findings) + (SELECT count(*) FROM assessment_feeds) + (SELECT count(*) FROM instance_states) + (SELECT count(*) FROM assessment_classifications)`); left != 0 {
		t.Errorf("%d rows stay", left)
	}
}

// events are the data of a log's events.
func (w *world) events(log string) (all []string) {
	w.t.Helper()
	must(w.t, w.deps.DB.Select(&all, `SELECT convert_from(data, 'UTF8') FROM events WHERE log = $1 ORDER BY position`, log))
	return all
}

func (w *world) count(query string) (n int) {
	w.t.Helper()
	must(w.t, w.deps.DB.Get(&n, query))
	return n
}

// TestAssessmentsInAnyOrder end in the same: what is there now is of the greatest time,
// each counts on its day, and what came late tells no change.
func TestAssessmentsInAnyOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order []int
		told  []string
	}{
		"as they were made": {[]int{0, 1, 2, 3}, []string{"3>4", "2>3", "1>2"}},
		"the last first":    {[]int{3, 2, 1, 0}, nil},
		"mixed":             {[]int{1, 3, 0, 2}, []string{"2>4"}},
		"at once":           {nil, []string{"3>4", "2>3", "1>2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if now := w.clock.Now(); w.ago(time.Minute).Before(now.Truncate(day)) {
				w.clock.Advance(time.Minute) // the last two would be of one day
			}
			in := sender{w, w.ingestToken(w.ours.admin)}
			id := w.fed(w.ours, inventory.Item{ExternalID: "shop", Databases: []inventory.Database{database("d", w.ago(day))}})["shop"]
			setting := func(value string) members {
				return members{"settings": []members{{"name": "of_somebody", "value": value}}}
			}
			all := []members{
				w.of("shop", 72*time.Hour, failing("PG-S01", "/a", "/b"), passing("PG-S02")).with(setting("1")),
				w.of("shop", 48*time.Hour, failing("PG-S01", "/a"), failing("PG-S02", "/c")).with(setting("2")),
				w.of("shop", 24*time.Hour, failing("PG-S01", "/a", "/b")).with(setting("3")),
				w.of("shop", time.Minute, failing("PG-S01", "/b"), passing("PG-S02")).with(setting("4")),
			}
			for _, i := range c.order {
				in.send(assessmentsPath, sentBatch(all[i])).is(202)
			}
			if c.order == nil {
				in.send(assessmentsPath, sentBatch(all[2], all[0], all[3], all[1])).is(202)
			}
			health := w.get(w.ours.member, "/api/v1/instances/"+id.String()+"/health").is(200).object()
			scores := map[string]string{}
			for _, day := range health["history"].([]any) {
				of := day.(map[string]any)
				scores[of["day"].(string)] = fmt.Sprint(of["score"])
			}
			for i, want := range []string{"29", "0", "0", "29"} {
				if got := scores[all[i]["at"].(time.Time).Format(time.DateOnly)]; got != want {
					t.Errorf("the score of %d is %s, want %s", i, got, want)
				}
			}
			var rows []string
			must(t, w.deps.DB.Select(&rows, `SELECT concat(check_id, ' ', object, ' ', round(extract(epoch FROM $1 - first_seen_at) / 3600), '-', round(extract(epoch FROM $1 - last_seen_at) / 3600), ' ', reason <> '', gone_at IS NOT NULL)
				FROM findings WHERE assessed ORDER BY 1`, w.clock.Now()))
			if diff := cmp.Diff([]string{"PG-S01 a 72-24 ft", "PG-S01 b 24-0 ff", "PG-S02 c 48-48 tt"}, rows); diff != "" {
				t.Error(diff)
			}
			if got := fmt.Sprint(health["settings"]); !strings.Contains(got, "value:4") {
				t.Error(got)
			}
			for _, event := range w.events("fleet") {
				if strings.Contains(event, "of_somebody") {
					t.Errorf("an event holds the sender's word: %s", event)
				}
			}
			var told []string
			for _, change := range health["changes"].([]any) {
				told = append(told, fmt.Sprintf("%v>%v", change.(map[string]any)["before"], change.(map[string]any)["after"]))
			}
			if !cmp.Equal(c.told, told) {
				t.Errorf("told are %v, want %v", told, c.told)
			}
		})
	}
}

// TestAssessmentsRefused: each rule, with a pointer to each item that breaks it, and
// nothing of the call is kept.
func TestAssessmentsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	item := func(name string, engine domain.Engine) inventory.Item {
		return inventory.Item{ExternalID: name, Name: name, Engine: engine, Databases: []inventory.Database{database("d", w.ago(day))}}
	}
	ids := w.fed(w.ours, item("orders", domain.PostgreSQL), item("shop", domain.MySQL), item("own", domain.PostgreSQL))
	w.fed(w.theirs, item("foreign", domain.PostgreSQL))
	must(t, w.deps.Servers.SaveCredentials(t.Context(), w.deps.DB, assessment.Credentials{Organization: w.ours.organization.ID, Instance: ids["own"], Engine: domain.PostgreSQL, DSN: "postgres://u@127.0.0.1/x"}))
	none := w.keptOfFeeds()
	with := func(change members) members {
		return sentBatch(w.of("orders", time.Hour), w.of("orders", time.Hour).with(change))
	}
	checks := func(all ...members) members { return with(members{"checks": all}) }
	run := func(change members) members {
		return with(members{"databases": []members{{"database": "d", "classification": members{"completedAt": w.ago(time.Hour), "method": "names", "tables": []members{}}.with(change)}}})
	}
	table := members{"schema": "s", "table": "t", "columns": []members{{"column": "c", "category": "email", "confidence": 1}}}
	long := strings.Repeat("日", 1001)
	future := w.clock.Now().Add(6 * time.Minute)
	for name, c := range map[string]struct {
		body   any
		status int
		places []string
	}{
		"nothing":         {`{}`, 400, []string{"missing_parameter #/assessments"}},
		"no time":         {with(members{"at": nil}), 400, []string{"missing_parameter #/assessments/1/at"}},
		"another member":  {with(members{"remediation": "DROP TABLE x"}), 400, []string{"unknown_field #/assessments/1/remediation"}},
		"another outcome": {checks(members{"id": "PG-S01", "outcome": "passed"}), 400, []string{"invalid_parameter #/assessments/1/checks/0/outcome"}},
		"another type":    {checks(members{"id": 1, "outcome": "pass"}), 400, []string{"invalid_parameter #/assessments/1/checks/0/id"}},
		"in the future":   {with(members{"at": future}), 422, []string{"time_in_future #/assessments/1/at"}},
		"before 1970":     {with(members{"at": time.Unix(-1, 0).UTC()}), 422, []string{"out_of_range #/assessments/1/at"}},
		"unknown":         {sentBatch(w.of("nobody", time.Hour), w.of("foreign", time.Hour)), 422, []string{"unknown_instance #/assessments/0/instance", "unknown_instance #/assessments/1/instance"}},
		"unknown databases": {with(members{"checks": []members{failing("PG-C04", "d/a", "x/a")}, "databases": []members{{"database": "y"}}}), 422,
			[]string{"unknown_database #/assessments/1/databases/0/database", "unknown_database #/assessments/1/checks/0/objects/1/database"}},
		"unknown checks": {sentBatch(w.of("orders", time.Hour, passing("PG-S01"), passing("PG-X99"), passing("")), w.of("shop", time.Hour, passing("PG-S01"))), 422,
			[]string{"unknown_check #/assessments/0/checks/1/id", "unknown_check #/assessments/0/checks/2/id", "unknown_check #/assessments/1/checks/0/id"}},
		"outcomes": {checks(members{"id": "PG-S01", "outcome": "fail"}, members{"id": "PG-S02", "outcome": "notAssessed"}, members{"id": "PG-S04", "outcome": "notApplicable", "reason": ""}, failing("PG-S05", "/x").with(members{"outcome": "pass"})), 422,
			[]string{"measured_required #/assessments/1/checks/0/measured", "reason_required #/assessments/1/checks/1/reason", "reason_required #/assessments/1/checks/2/reason", "objects_not_allowed #/assessments/1/checks/3/objects"}},
		"twice": {with(members{"checks": []members{passing("PG-S01"), passing("PG-S01")}, "settings": []members{{"name": "a"}, {"name": "a"}},
			"accounts": []members{{"name": "a", "canLogin": true, "superuser": true}, {"name": "a", "canLogin": true, "superuser": true}}, "databases": []members{{"database": "d"}, {"database": "d"}}}), 422,
			[]string{"duplicate_key #/assessments/1/accounts/1/name", "duplicate_key #/assessments/1/databases/1/database", "duplicate_key #/assessments/1/checks/1/id", "duplicate_key #/assessments/1/settings/1/name"}},
		"names": {with(members{"checks": []members{failing("PG-S01", "/", "/"+long)}, "settings": []members{{"name": ""}}, "version": long}), 422,
			[]string{"out_of_range #/assessments/1/version", "out_of_range #/assessments/1/checks/0/objects/0/object", "out_of_range #/assessments/1/checks/0/objects/1/object", "out_of_range #/assessments/1/settings/0/name"}},
		"NUL":    {checks(failing("PG-S01", "/a\x00b")), 422, []string{"out_of_range #/assessments/1/checks/0/objects/0/object"}},
		"tables": {run(members{"tables": []members{table, table, table.with(members{"table": "u", "rows": -1, "columns": []members{{"column": "c", "category": "email", "confidence": 1.1}, {"column": "c", "category": "email", "confidence": 1}}})}, "completedAt": future}), 422, []string{"time_in_future #/assessments/1/databases/0/classification/completedAt", "duplicate_key #/assessments/1/databases/0/classification/tables/1/table", "out_of_range #/assessments/1/databases/0/classification/tables/2/rows", "out_of_range #/assessments/1/databases/0/classification/tables/2/columns/0/confidence", "duplicate_key #/assessments/1/databases/0/classification/tables/2/columns/1/column"}},
		"what was read": {run(members{"tables": []members{table}, "coverage": members{"tables": 0, "tablesRead": 2, "columns": 3, "columnsRead": 4},
			"notRead": []members{{"schema": "s", "table": "", "reason": ""}}}), 422, []string{
			"out_of_range #/assessments/1/databases/0/classification/coverage/tables", "out_of_range #/assessments/1/databases/0/classification/coverage/tablesRead",
			"out_of_range #/assessments/1/databases/0/classification/coverage/columnsRead", "out_of_range #/assessments/1/databases/0/classification/notRead/0/table",
			"out_of_range #/assessments/1/databases/0/classification/notRead/0/reason"}},
		"a category": {run(members{"tables": []members{table.with(members{"columns": []members{{"column": "c", "category": "secret", "confidence": 1}}})}}), 400, []string{"invalid_parameter #/assessments/1/databases/0/classification/tables/0/columns/0/category"}},
		"blind": {checks(blind(passing("PG-S01"), "d"), blind(failing("PG-C04", "d/a"), "d", "x", "x"), blind(passing("PG-C02"), "d").with(members{"outcome": "notAssessed", "reason": "no"}),
			passing("PG-C03").with(members{"notAssessedIn": []members{{"database": "d", "reason": ""}}})), 422, []string{
			"out_of_range #/assessments/1/checks/0/notAssessedIn", "out_of_range #/assessments/1/checks/1/notAssessedIn/0/database", "unknown_database #/assessments/1/checks/1/notAssessedIn/1/database",
			"duplicate_key #/assessments/1/checks/1/notAssessedIn/2/database", "unknown_database #/assessments/1/checks/1/notAssessedIn/2/database",
			"out_of_range #/assessments/1/checks/2/notAssessedIn", "out_of_range #/assessments/1/checks/3/notAssessedIn/0/reason"}},
		"measured in": {checks(passing("PG-S01").with(members{"measuredIn": []members{{"database": "d"}}}), failing("PG-C04", "d/a").with(members{"measuredIn": []members{
			{"database": "d", "failFraction": 0}, {"database": "d", "failFraction": 1.5}, {"database": "x", "measured": long + long}}})), 422, []string{
			"out_of_range #/assessments/1/checks/0/measuredIn", "out_of_range #/assessments/1/checks/1/measuredIn/0/failFraction", "duplicate_key #/assessments/1/checks/1/measuredIn/1/database",
			"out_of_range #/assessments/1/checks/1/measuredIn/1/failFraction", "unknown_database #/assessments/1/checks/1/measuredIn/2/database", "out_of_range #/assessments/1/checks/1/measuredIn/2/measured"}},
		"a severity":     {checks(members{"id": "PG-C04", "outcome": "fail", "objects": []members{{"object": "x", "severity": "grave"}}}), 400, []string{"invalid_parameter #/assessments/1/checks/0/objects/0/severity"}},
		"by DSN":         {sentBatch(w.of("orders", time.Hour), w.of("own", time.Hour, passing("PG-X99"))), 409, []string{"assessed_by_collector #/assessments/1/instance"}},
		"too many items": {with(members{"settings": slices.Repeat([]members{{"name": "a"}}, 100_001)}), 422, []string{"too_many_items #"}},
	} {
		code, _, _ := strings.Cut(c.places[0], " ")
		p := in.send(assessmentsPath, c.body)
		var got []string
		for _, e := range p.problem(c.status, code).Errors {
			got = append(got, e.Code+" "+e.Pointer)
		}
		if diff := cmp.Diff(c.places, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if kept := w.keptOfFeeds(); kept != none {
			t.Fatalf("%s: a refused call left %s", name, kept)
		}
	}
	in.send(assessmentsPath, bomb(t, " ", 33<<20), map[string]string{"Content-Encoding": "gzip"}).problem(413, "body_too_large")
	limited := sender{w, w.ingestToken(w.ours.admin, ids["orders"])}
	p := limited.send(assessmentsPath, sentBatch(w.of("orders", time.Hour), w.of("shop", time.Hour), w.of("own", time.Hour), w.of("nobody", time.Hour))).problem(403, "outside_token")
	if len(p.Errors) != 3 || p.Errors[2].Pointer != "#/assessments/3/instance" {
		t.Errorf("%+v", p.Errors)
	}
	limited.send(assessmentsPath, sentBatch(w.of("orders", time.Hour))).is(202)
	if theirs := w.get(w.theirs.member, "/api/v1/findings?status=notAssessed&status=open").found(); theirs != "" {
		t.Errorf("another organization has %s", theirs)
	}
}

// TestHostileNamesOfObjectsAreKept: an attacker may name what is found on a server. The names are kept as they
// are, and of many objects the first are.
func TestHostileNamesOfObjectsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	id := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL})["shop"]
	names := []string{"\x1b[2J\r\nx", "=cmd|' /C calc'!A0", strings.Repeat("日", 21), "\u202egpj.exe", "<script>", "\ufffd\u0085"}
	objects := make([]string, 0, 3000)
	for i := range 3000 {
		objects = append(objects, fmt.Sprintf("/t%04d", i))
	}
	slices.Reverse(objects)
	var odd []string
	for _, name := range names {
		odd = append(odd, "/"+name)
	}
	checks := []members{failing("PG-S01", odd...), failing("PG-S02", objects...), {"id": "PG-S04", "outcome": "fail", "measured": "line 1\nline 2"}}
	in.send(assessmentsPath, sentBatch(w.of("shop", time.Hour, checks...))).is(202)
	var kept []string
	must(t, w.deps.DB.Select(&kept, `SELECT object FROM findings WHERE check_id = 'PG-S01' ORDER BY object COLLATE "C"`))
	slices.Sort(names)
	if diff := cmp.Diff(names, kept); diff != "" {
		t.Error(diff)
	}
	a, _, err := w.deps.Servers.Latest(t.Context(), w.ours.organization.ID, id)
	must(t, err)
	for _, r := range a.Results {
		switch r.CheckID {
		case "PG-S02":
			if r.Total != 3000 || len(r.Violations) != snapshot.MaxViolations || r.Violations[0].Object != "t0000" {
				t.Errorf("%d of %d, from %s", len(r.Violations), r.Total, r.Violations[0].Object)
			}
		case "PG-S04":
			if r.Measured != "line 1\ufffdline 2" {
				t.Errorf("%q", r.Measured)
			}
		}
	}
	if got := w.get(w.ours.member, "/api/v1/findings?checkId=PG-S01&instanceId="+id.String()+"&q="+"script").found(); got != "PG-S01:<script>" {
		t.Error(got)
	}
	if w.get(w.ours.member, "/api/v1/instances/"+uuid.NewString()+"/health").Code != 404 {
		t.Error("an unknown instance has health")
	}
}

// TestLongABodyOfAssessmentsAtItsLimits is taken, in a call of its own, and one item more
// is not.
func TestLongABodyOfAssessmentsAtItsLimits(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fed(w.ours, inventory.Item{ExternalID: "shop", Databases: []inventory.Database{database("d", w.ago(day))}})
	tables := make([]members, 0, 33_333)
	for i := range 33_333 {
		tables = append(tables, members{"schema": "s", "table": fmt.Sprintf("t%05d %s", i, strings.Repeat("日", 60)), "rows": i, "readers": []string{"app"}, "columns": []members{
			{"column": "a", "category": "email", "confidence": 0.9}, {"column": "b", "category": "phone", "confidence": 0.9}}})
	}
	body := func(more ...members) members {
		return sentBatch(w.of("shop", time.Hour).with(members{"settings": more, "databases": []members{{"database": "d",
			"classification": members{"completedAt": w.ago(time.Hour), "method": "names", "tables": tables}}}}))
	}
	began := time.Now()
	in.send(assessmentsPath, body(members{"name": "x"})).is(202)
	t.Logf("100,000 items take %s", time.Since(began))
	in.send(assessmentsPath, body(members{"name": "x"}, members{"name": "y"})).problem(422, "too_many_items")
	padded := `{"assessments":[` + strings.Repeat(" ", 32<<20-len(`{"assessments":[]}`)) + `]}`
	in.send(assessmentsPath, padded).is(202)
	in.send(assessmentsPath, padded+" ").problem(413, "body_too_large")
}

// TestOtherEnginesByFeed: a SQL Server and an Oracle have findings of their own checks, with
// what the catalogue says about them, and a score.
func TestOtherEnginesByFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "ledger", Engine: domain.SQLServer, Databases: []inventory.Database{database("Ledger", w.ago(day))}}, inventory.Item{ExternalID: "erp", Engine: domain.Oracle})
	in.send(assessmentsPath, sentBatch(w.of("ledger", time.Hour, failing("MS-02", "/sa"), failing("MS-10", "Ledger/lost"), passing("MS-01")), w.of("erp", time.Hour, failing("OR-01", "/SCOTT"), passing("OR-02")))).is(202)
	in.send(assessmentsPath, sentBatch(w.of("erp", time.Minute, passing("MS-01")))).problem(422, "unknown_check")
	if got := w.get(w.ours.member, "/api/v1/findings?sort=checkId").found(); got != "MS-02:sa MS-10:lost OR-01:SCOTT" {
		t.Error(got)
	}
	for _, item := range w.get(w.ours.member, "/api/v1/findings?sort=checkId").object()["items"].([]any) {
		f := item.(map[string]any)
		check, ok := w.deps.Checks.Check(f["check"].(map[string]any)["id"].(string))
		if remedy := f["remediation"].(map[string]any); !ok || remedy["summary"] != check.Remediation || f["check"].(map[string]any)["title"] != check.Title || f["threshold"] != check.Pass {
			t.Errorf("%v", f)
		}
	}
	for _, name := range []string{"ledger", "erp"} {
		if health := w.get(w.ours.member, "/api/v1/instances/"+ids[name].String()+"/health").is(200).object(); health["score"] == nil || health["assessedAt"] == nil {
			t.Errorf("%s: %v", name, health)
		}
	}
}

// TestAResultKeepsTheMeasurementsOfItsDatabase, with how large a part fails and how grave the gravest object
// is.
func TestAResultKeepsTheMeasurementsOfItsDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "shop", Databases: []inventory.Database{database("d", w.ago(day)), database("e", w.ago(day)), database("f", w.ago(day))}})
	listed := members{"databases": []members{{"database": "d"}, {"database": "e"}, {"database": "f"}}}
	grave := failing("PG-C04", "d/one", "d/two", "e/one")
	grave["objects"].([]members)[1]["severity"] = "High"
	grave["measuredIn"] = []members{{"database": "d", "measured": "2 of 8", "failFraction": 0.25}, {"database": "f", "measured": "none of 3"}, {"database": "e"}}
	passes := passing("PG-C02").with(members{"measured": "none", "measuredIn": []members{{"database": "e", "measured": "none of 9", "failFraction": 0.5}}})
	in.send(assessmentsPath, sentBatch(w.of("shop", time.Hour, grave, passes).with(listed))).is(202)
	a, err := w.deps.Servers.LatestAssessment(t.Context(), w.ours.organization.ID, ids["shop"])
	must(t, err)
	var got []string
	for _, r := range a.Results {
		if r.CheckID == "PG-C02" || r.CheckID == "PG-C04" {
			got = append(got, fmt.Sprintf("%s %s %s %q %g %s", r.CheckID, r.Database, r.Status, r.Measured, r.FailFraction, r.Severity))
		}
	}
	want := []string{
		`PG-C02 d pass "none" 0 `, `PG-C02 e pass "none of 9" 0 `, `PG-C02 f pass "none" 0 `,
		`PG-C04 d fail "2 of 8" 0.25 High`, `PG-C04 e fail "1 found" 1 `, `PG-C04 f pass "none of 3" 0 `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestAnUnreadDatabaseHasNotPassed: beside databases in which a check passes or fails it has the reason, and
// the assessment is partial.
func TestAnUnreadDatabaseHasNotPassed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "shop", Databases: []inventory.Database{database("d", w.ago(day)), database("e", w.ago(day)), database("f", w.ago(day))}})
	listed := members{"databases": []members{{"database": "d"}, {"database": "e"}, {"database": "f"}}}
	in.send(assessmentsPath, sentBatch(w.of("shop", time.Hour, blind(failing("PG-C04", "d/idx"), "e"), blind(passing("PG-C02"), "d", "e"), blind(passing("PG-C03"), "d", "e", "f")).with(listed))).is(202)
	a, err := w.deps.Servers.LatestAssessment(t.Context(), w.ours.organization.ID, ids["shop"])
	must(t, err)
	var got []string
	for _, r := range a.Results {
		if slices.Contains([]string{"PG-C02", "PG-C03", "PG-C04"}, r.CheckID) {
			got = append(got, strings.Join([]string{r.CheckID, r.Database, r.Status, r.ReasonCode, r.Reason}, " "))
		}
	}
	no := " not_assessed sent Sign-in was refused."
	want := []string{
		"PG-C02 d" + no, "PG-C02 e" + no, "PG-C02 f pass  ", "PG-C03 d" + no, "PG-C03 e" + no, "PG-C03 f" + no,
		"PG-C04 d fail  ", "PG-C04 e" + no, "PG-C04 f pass  ",
	}
	if !slices.Equal(got, want) || a.Outcome != snapshot.OutcomePartial {
		t.Errorf("%s: %q\nwant %q", a.Outcome, got, want)
	}
}

// TestObjectsThatAFeedDidNotReadAreNotCountedAsChecked: C25.
func TestObjectsThatAFeedDidNotReadAreNotCountedAsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "shop", Databases: []inventory.Database{database("d", w.ago(day))}})
	in.send(assessmentsPath, sentBatch(w.of("shop", time.Hour).with(members{"databases": []members{{"database": "d", "classification": members{
		"completedAt": w.ago(time.Hour), "method": "values", "tables": []members{},
		"coverage": members{"tables": 5, "tablesRead": 4, "columns": 14, "columnsRead": 9},
		"notRead":  []members{{"schema": "hr", "table": "held", "reason": "Locked."}, {"schema": "hr", "table": "people", "columns": []string{"a", "b"}, "reason": "Masked."}},
	}}}}))).is(202)
	_, classified, err := w.deps.Servers.Latest(t.Context(), w.ours.organization.ID, ids["shop"])
	must(t, err)
	got := classified[0].Classification
	if got.Status != snapshot.ClassificationPartial || got.Reason != "4 of 5 tables and 9 of 14 columns were read." ||
		got.TablesSeen != 5 || got.TablesClassified != 4 || got.ColumnsSeen != 14 || got.ColumnsClassified != 9 ||
		len(got.FailedTables) != 1 || len(got.UnreadColumns) != 1 || got.UnreadColumns[0].Reason != "Masked." {
		t.Errorf("%+v", got)
	}
}
