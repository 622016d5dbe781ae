package control_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/report/control"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
)

// spoken is the course of each server: its states, by whole hours before now.
func spoken(e control.Evidence, now time.Time) string {
	var words []string
	for _, item := range e.Items {
		words = append(words, item.Name)
		for _, p := range item.Course.Periods {
			words = append(words, fmt.Sprintf("%d-%d:%s", int(now.Sub(p.From).Round(time.Hour).Hours()), int(now.Sub(p.To).Round(time.Hour).Hours()), p.State))
		}
	}
	return strings.Join(words, " ")
}

// TestAlteredFactsAreDetected: with SQL alone, an attacker makes a failing server look better, for the
// API, which reads answers, and for evidence, which reads facts. Each time the log shows it.
func TestAlteredFactsAreDetected(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for name, attack := range map[string]struct {
		sql       string
		api, said string // of both servers; empty: as api
	}{
		"nothing":             {`SELECT 1`, "billing 30-0:passed legacy 30-0:failed", ""},
		"deleted":             {`DELETE FROM assessments WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"deleted, the last":   {`DELETE FROM assessments WHERE instance_id = $1 AND recorded_at > now() - interval '15 hours'`, "billing 30-0:passed legacy 30-10:failed 10-0:altered", ""},
		"moved":               {`UPDATE assessments SET recorded_at = recorded_at - interval '40 days' WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"moved by an hour":    {`UPDATE assessments SET recorded_at = recorded_at + interval '1 hour' WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"swapped":             {`UPDATE assessments SET instance_id = CASE instance_id WHEN $1 THEN $2::uuid ELSE $1 END`, "billing 30-0:altered legacy 30-0:altered", ""},
		"facts":               {`UPDATE assessments SET facts = replace(facts::text, '"fail"', '"pass"')::json WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"answers":             {`UPDATE assessments SET answers = replace(answers::text, '"fail"', '"pass"')::jsonb WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", "billing 30-0:passed legacy 30-0:failed"},
		"facts and answers":   {`UPDATE assessments l SET facts = b.facts, answers = b.answers FROM assessments b WHERE l.instance_id = $1 AND b.instance_id = $2`, "billing 30-0:passed legacy 30-0:altered", ""},
		"no answers":          {`UPDATE assessments SET answers = NULL, facts = replace(facts::text, '"fail"', '"pass"')::json WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"not JSON of facts":   {`UPDATE assessments SET facts = '[]' WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", ""},
		"not JSON of answers": {`UPDATE assessments SET answers = '{"PG-S17": 5}' WHERE instance_id = $1`, "billing 30-0:passed legacy 30-0:altered", "billing 30-0:passed legacy 30-0:failed"},
		"another's inserted":  {`INSERT INTO assessments SELECT gen_random_uuid(), organization_id, $1, recorded_at + interval '2 hours', outcome, facts, answers FROM assessments WHERE instance_id = $2`, "billing 30-0:passed legacy 30-28:failed 28-20:altered 20-18:failed 18-10:altered 10-8:failed 8-0:altered", ""},
		"its own inserted":    {`INSERT INTO assessments SELECT gen_random_uuid(), organization_id, instance_id, recorded_at + interval '5 hours', outcome, facts, answers FROM assessments WHERE instance_id = $1 AND recorded_at > now() - interval '15 hours'`, "billing 30-0:passed legacy 30-5:failed 5-0:altered", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{t, s.db, s.events, s.reader, uuid.New(), s.key}
			legacy, billing := s.server("legacy"), s.server("billing")
			for ago := 30; ago > 0; ago -= 10 { // in time
				for id, status := range map[uuid.UUID]string{legacy: "fail", billing: "pass"} {
					one := of(id, time.Duration(ago)*time.Hour, status)
					one.Buffered = true
					s.sent(one)
				}
			}
			if strings.Contains(attack.sql, "$2") {
				s.db.MustExec(attack.sql, legacy, billing)
			} else if strings.Contains(attack.sql, "$1") {
				s.db.MustExec(attack.sql, legacy)
			}
			now := time.Now().UTC()
			q := control.Question{Check: "PG-S17", From: now.Add(-30 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{legacy, billing}}
			if got := spoken(s.read(q), now); got != attack.api {
				t.Errorf("the API says\n%s, want\n%s", got, attack.api)
			}
			q.FromRecord, q.Instances = true, nil
			want := attack.said
			if want == "" {
				want = attack.api
			}
			e := s.read(q)
			if got := spoken(e, now); got != want {
				t.Errorf("evidence says\n%s, want\n%s", got, want)
			}
			if altered := strings.Contains(want, "altered"); altered != (len(e.Items[0].Altered)+len(e.Items[1].Altered) > 0) {
				t.Errorf("altered are %v", e.Items[1].Altered)
			}
		})
	}
}

// TestAnEventWithoutTheProgramsMark counts as none: SQL can append one.
func TestAnEventWithoutTheProgramsMark(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	legacy := s.server("legacy")
	s.sent(of(legacy, 10*time.Hour, "fail"))
	forged := of(legacy, 5*time.Hour, "pass")
	s.sent(forged)
	s.db.MustExec(`ALTER TABLE events DISABLE TRIGGER USER`)
	s.db.MustExec(`UPDATE events SET data = convert_to(regexp_replace(convert_from(data, 'UTF8'), '"mark":"[^:]*:.', '"mark":"00:0'), 'UTF8')
		WHERE position = (SELECT max(position) FROM events WHERE log = 'fleet') AND log = 'fleet'`)
	now := time.Now().UTC()
	q := control.Question{Check: "PG-S17", From: now.Add(-10 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{legacy}}
	if got, want := spoken(s.read(q), now), "legacy 10-5:failed 5-0:altered"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLateAssessments do not count for their own time: data that a sender sends today does not turn failed
// months into passed ones.
func TestLateAssessments(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	legacy := s.server("legacy")
	s.sent(of(legacy, 23*time.Hour, "fail"))
	waited := of(legacy, 50*time.Hour, "fail")
	waited.Buffered = true
	var late []assessment.Sent
	for ago := 1400 * time.Hour; ago > 25*time.Hour; ago -= 20 * time.Hour {
		late = append(late, of(legacy, ago, "pass"))
	}
	s.sent(append(late, waited)...)
	now := time.Now().UTC()
	for _, fromRecord := range []bool{false, true} {
		e := s.read(control.Question{Check: "PG-S17", From: now.Add(-200 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{legacy}, FromRecord: fromRecord})
		if got, want := spoken(e, now), "legacy 200-50:reportedLate 50-26:failed 26-23:reportedLate 23-0:failed"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c := e.Items[0].Course
		if c.PassedShare() != 0 || c.LongestGap.Round(time.Hour) != 150*time.Hour {
			t.Errorf("passed for %f, the longest gap is %s", c.PassedShare(), c.LongestGap)
		}
		if late := e.Items[0].Late; len(late) < 10 || !late[0].RecordedAt.After(late[0].At.Add(fleet.Grace)) {
			t.Errorf("%d are late", len(late))
		}
	}
	if e := s.read(control.Question{Check: "PG-S17", From: now.Add(-30 * 24 * time.Hour), To: now.Add(-20 * 24 * time.Hour), Now: now, Instances: []uuid.UUID{legacy}}); e.Items[0].Course.PassedShare() != 0 {
		t.Errorf("a window of before passed: %s", spoken(e, now))
	}
}

// TestALateAssessmentCountsFromItsRecord where nothing later is known.
func TestALateAssessmentCountsFromItsRecord(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	quiet := s.server("quiet")
	s.sent(of(quiet, 300*time.Hour, "pass"))
	now := time.Now().UTC().Add(time.Hour)
	e := s.read(control.Question{Check: "PG-S17", From: now.Add(-100 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{quiet}})
	if got, want := spoken(e, now), "quiet 100-1:notAssessed 1-0:reportedLate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAServerOfAnotherEngine is listed for the time in which it had the check's engine: an
// event of an earlier version may say that the engine changed.
func TestAServerOfAnotherEngine(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	legacy := s.server("legacy")
	s.sent(of(legacy, 10*time.Hour, "fail"))
	s.happens(eventstore.Fleet, fleet.InstanceStream, legacy, s.acme, fleet.InstanceChanged{Name: "legacy", Engine: fleet.MySQL, CreatedAt: time.Now()})
	now := time.Now().UTC().Add(time.Hour)
	q := control.Question{Check: "PG-S17", From: now.Add(-9 * time.Hour), To: now, Now: now, FromRecord: true}
	e := s.read(q)
	if got, want := spoken(e, now), "legacy 9-1:failed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.happens(eventstore.Fleet, fleet.InstanceStream, legacy, s.acme, fleet.InstanceChanged{Name: "legacy", Engine: fleet.PostgreSQL, CreatedAt: time.Now()}, fleet.InstanceRemoved{})
	e = s.read(q)
	if got, want := spoken(e, now), "legacy 9-1:failed"; got != want || !e.Items[0].Removed {
		t.Errorf("%q, want %q", got, want)
	}
	var population []string
	for _, e := range e.Items[0].Events {
		population = append(population, e.What+" by "+e.ByKind)
	}
	if got, want := strings.Join(population, ", "), "joined by member, engineChanged by member, engineChanged by member, left by member"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestACheckThatChanged within the period splits it.
func TestACheckThatChanged(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.server("one")
	first, second, third := of(one, 22*time.Hour, "pass"), of(one, 20*time.Hour, "pass"), of(one, 10*time.Hour, "pass")
	second.Assessment.CatalogueVersion = "8"
	third.Assessment.CatalogueVersion = "8"
	third.Assessment.Results[0].Threshold = "at most two"
	for _, sent := range []assessment.Sent{first, second, third} {
		s.sent(sent)
	}
	now := time.Now().UTC()
	for _, fromRecord := range []bool{false, true} {
		e := s.read(control.Question{Check: "PG-S17", From: now.Add(-22 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{one}, FromRecord: fromRecord})
		var words []string
		for _, p := range e.Items[0].Course.Periods {
			words = append(words, p.Catalogue+" "+p.Threshold)
		}
		want := "[7  8  8 ]"
		if fromRecord {
			want = "[7 nobody 8 nobody 8 at most two]"
		}
		if got := fmt.Sprint(words); got != want {
			t.Errorf("%s, want %s: %s", got, want, spoken(e, now))
		}
	}
}

// TestFactsThatWereErased by their retention are erased and not altered.
func TestFactsThatWereErased(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	old := s.server("old")
	s.sent(of(old, 100*time.Hour, "pass"))
	later := time.Now().UTC().Add(assessment.History)
	s.db.MustExec(`DELETE FROM assessments`)
	e := s.read(control.Question{Check: "PG-S17", From: later.Add(-assessment.History - 110*time.Hour), To: later.Add(-assessment.History - 90*time.Hour), Now: later, Instances: []uuid.UUID{old}, WithLooks: true})
	if len(e.Items[0].Altered) > 0 || len(e.Items[0].Looks) != 1 || !e.Items[0].Looks[0].Erased {
		t.Errorf("%+v", e.Items[0])
	}
}

// before stores an assessment as a program from before marks did: with instance.assessed if it
// differed from the last one.
func (s *scene) before(one assessment.Sent, differs bool) {
	s.t.Helper()
	facts, err := json.Marshal(one.Assessment)
	if err != nil {
		s.t.Fatal(err)
	}
	id, sum := uuid.New(), sha256.Sum256(facts)
	var answers *string // of an attempt that did not reach the server, made when it is read
	if len(one.Assessment.Results) > 0 {
		said := `{"PG-S17": [{"s": "` + one.Assessment.Results[0].Status + `"}]}`
		answers = &said
	}
	s.db.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, recorded_at, outcome, facts, answers) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, s.acme, one.Instance, one.At, one.Assessment.Outcome, string(facts), answers)
	if differs {
		s.happens(eventstore.Fleet, fleet.AssessmentStream, fleet.AssessmentsOf(one.Instance), uuid.Nil, fleet.InstanceAssessed{
			InstanceID: one.Instance, AssessmentID: id, At: one.At, FactsSHA256: hex.EncodeToString(sum[:]),
		})
	}
}

// TestAssessmentsWithoutMarks: some of them have events. Those without one say the same as the last that the
// log has of their day, and none says better.
func TestAssessmentsWithoutMarks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if err := secrets.CheckKeys(t.Context(), s.db, s.key); err != nil {
		t.Fatal(err)
	}
	type example struct{ status, sql, want string }
	examples := map[string]example{
		"the same":         {"fail", "", "legacy 13-0:failed"},
		"not looked at":    {"not_assessed", "", "legacy 13-10:failed 10-0:altered"},
		"better":           {"pass", "", "legacy 13-10:failed 10-0:altered"},
		"not reached":      {snapshot.OutcomeUnreachable, "", "legacy 13-0:failed"},
		"none that day":    {"fail", "", "legacy 13-10:failed 10-0:altered"}, // the log has one of the day before
		"the logged, too":  {"fail", `UPDATE assessments SET facts = replace(facts::text, '"fail"', '"pass"')::json, answers = NULL WHERE instance_id = $1`, "legacy 13-0:altered"},
		"the logged alone": {"fail", `DELETE FROM assessments WHERE instance_id = $1 AND recorded_at < $2`, "legacy 13-0:altered"},
	}
	day := time.Now().UTC().AddDate(0, 0, -3).Truncate(24 * time.Hour)
	now := day.Add(14 * time.Hour)
	servers := map[string]uuid.UUID{}
	for name, c := range examples {
		legacy := s.server("legacy")
		first, second := of(legacy, 0, "fail"), of(legacy, 0, c.status)
		if c.status == snapshot.OutcomeUnreachable {
			second.Assessment = snapshot.Assessment{Outcome: c.status}
		}
		first.At, second.At = day.Add(time.Hour), day.Add(4*time.Hour)
		if name == "none that day" {
			first.At = day.Add(-time.Hour)
		}
		s.before(first, true)
		s.before(second, false)
		servers[name] = legacy
	}
	s.db.MustExec(`ALTER TABLE events DISABLE TRIGGER USER`) // they were recorded then
	s.db.MustExec(`UPDATE events SET recorded_at = $1 WHERE type = 'instance.assessed'`, day.Add(time.Hour))
	read := func(id uuid.UUID, fromRecord bool) string {
		return spoken(s.read(control.Question{Check: "PG-S17", From: now.Add(-13 * time.Hour), To: now, Now: now, Instances: []uuid.UUID{id}, FromRecord: fromRecord}), now)
	}
	if got, want := read(servers["the same"], false), "legacy 13-0:altered"; got != want {
		t.Errorf("where no program from before ran: %s, want %s", got, want)
	}
	for _, open := range []bool{true, false} { // while one runs, and after
		if _, err := s.key.BeginMarks(t.Context(), s.db, "", time.Now(), func(context.Context) (bool, error) { return open, nil }); err != nil {
			t.Fatal(err)
		}
		for name, c := range examples {
			if c.sql != "" && open {
				s.db.MustExec(c.sql+map[bool]string{true: "", false: " AND $2::timestamptz IS NOT NULL"}[strings.Contains(c.sql, "$2")], servers[name], day.Add(2*time.Hour))
			}
			for _, fromRecord := range []bool{false, true} {
				if got := read(servers[name], fromRecord); got != c.want {
					t.Errorf("%s: %s, want %s", name, got, c.want)
				}
			}
		}
	}
	s.before(of(servers["the same"], 0, "fail"), false)
	now = time.Now().UTC().Add(time.Second)
	if got := read(servers["the same"], false); !strings.HasSuffix(got, "0-0:altered") {
		t.Errorf("one of after, with no event: %s", got)
	}
}
