package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestLongSchedulesUnderKills has schedules of several zones come due in the minutes of the
// test, while the processes that request, build and mail are killed at it. Each due time has
// one run, one report and one mail a recipient, which may come twice as the same. It is due
// by the minute, so that there is no short form; package handlers kills at named points.
func TestLongSchedulesUnderKills(t *testing.T) {
	longtest.Only(t)
	const minutes, eachMinute, replicas = 3, 12, 3
	settings := []string{"--job-lease=1s"}
	mails := mailtest.Start(t, mailtest.Options{})
	settings = append(settings, "--smtp-url", "smtp://"+mails.Addr+"?starttls=off")
	c := &calendar{house: newHouse(t, append(settings, "--roles=api,projections")...), mails: mails}
	c.bo = c.ana.member(t, "bo@acme.example", "member")
	args := append(append(c.flags(), settings...), "serve", "--roles=workers")
	var workers []*running
	for range replicas {
		workers = append(workers, launch(t, nil, args...))
	}
	db := pgtest.Connect(t, c.url)
	c.fill(t, minutes, eachMinute)
	killed := 0
	for last := c.all[len(c.all)-1].due; time.Now().Before(last.Add(20 * time.Second)); {
		victim := -1
		within(time.Second, func() bool {
			victim = slices.IndexFunc(workers, func(w *running) bool { return w.holds(t, db, "run", "build", "mail") })
			return victim >= 0
		})
		if victim < 0 { // nothing is due
			victim = rand.IntN(replicas)
			workers[victim].atWork(time.Second)
		}
		// Not a wait for anything: between which two steps it dies is up to chance.
		time.Sleep(rand.N(40 * time.Millisecond))
		if spared(t, db, workers[victim]) {
			continue
		}
		workers[victim].kill(t)
		workers[victim] = launch(t, nil, args...)
		killed++
	}
	eventually(t, "all is mailed", func() bool {
		var left int
		if err := db.Get(&left, `SELECT count(*) FROM jobs WHERE kind IN ('build', 'mail') OR kind = 'run' AND due_at <= now()`); err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
	c.compare(t, db)
	t.Logf("%d kills, %d schedules, %d mails, of which %d came again", killed, len(c.all), len(c.mailed()), len(c.mailed())-2*len(c.all))
}

// calendar is a house with schedules, each of ana's and mailed to bo, too.
type calendar struct {
	house
	mails *mailtest.Server
	bo    uuid.UUID
	all   []planned
}

// planned is a schedule that is due once before tomorrow.
type planned struct {
	id   uuid.UUID
	name string
	due  time.Time
}

// fill makes the schedules, the soonest first: so many are due in each of the next minutes.
func (c *calendar) fill(t *testing.T, minutes, each int) {
	t.Helper()
	var servers []map[string]any
	for i := range minutes * each {
		servers = append(servers, map[string]any{"externalId": fmt.Sprint(i), "name": fmt.Sprintf("server-%d", i), "engine": "oracle", "createdAt": time.Now().UTC()})
	}
	var fleet struct{ Instances []struct{ ID uuid.UUID } }
	c.ana.call(t, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": servers}, &fleet)
	begins := time.Now().Add(20 * time.Second).Truncate(time.Minute).Add(time.Minute) // when all are made
	zones := []string{"UTC", "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Chatham"}
	for i, server := range fleet.Instances {
		due, name := begins.Add(time.Duration(i/each)*time.Minute), fmt.Sprintf("Schedule %d", i)
		zone, err := time.LoadLocation(zones[i%len(zones)])
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			ID         uuid.UUID
			NextDueAts []time.Time
		}
		c.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/schedules", map[string]any{
			"name": name, "kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{server.ID}}, "recipientIds": []uuid.UUID{c.bo},
			"every": "day", "at": due.In(zone).Format("15:04"), "timeZone": zone.String(),
		}, &made)
		if !made.NextDueAts[0].Equal(due) {
			t.Fatalf("%s is due at %s, want %s", name, made.NextDueAts[0], due)
		}
		c.all = append(c.all, planned{made.ID, name, due})
	}
}

// spared says whether a process builds a report whose build was killed twice: a build is
// tried five times, and what comes after that is no promise of schedules.
func spared(t *testing.T, db *sqlx.DB, r *running) (spared bool) {
	t.Helper()
	err := db.Get(&spared, `SELECT EXISTS (SELECT FROM jobs WHERE worker_id LIKE $1 AND kind = 'build' AND attempts > 2)`, fmt.Sprintf("%%/%d/%%", r.pid))
	if err != nil {
		t.Fatal(err)
	}
	return spared
}

// mailed is every mail but that of bo's invitation.
func (c *calendar) mailed() []mailtest.Mail {
	return slices.DeleteFunc(c.mails.Mails(), func(m mailtest.Mail) bool {
		return strings.Contains(m.Header("Message-Id"), "@invitations.")
	})
}

// compare holds runs, reports and mails against what was planned.
func (c *calendar) compare(t *testing.T, db *sqlx.DB) {
	t.Helper()
	reports := map[uuid.UUID]string{}
	for _, p := range c.all {
		var runs struct {
			Items []struct {
				DueAt    time.Time
				Status   string
				ReportID uuid.UUID
			}
		}
		c.ana.get(t, "/api/v1/schedules/"+p.id.String()+"/runs", &runs)
		if len(runs.Items) != 1 || !runs.Items[0].DueAt.Equal(p.due) || runs.Items[0].Status != "requested" {
			t.Errorf("%s was due at %s, and its runs are %+v", p.name, p.due, runs.Items)
			continue
		}
		id := runs.Items[0].ReportID
		if before, twice := reports[id]; twice {
			t.Errorf("%s and %s have one report", before, p.name)
		}
		reports[id] = p.name
		c.ana.await(t, id, "Ready")
	}
	for event, want := range map[string]int{"report.queued": len(c.all), "report.ready": len(c.all), "report.email_sent": 2 * len(c.all), "schedule.requested": len(c.all)} {
		var n int
		if err := db.Get(&n, `SELECT count(*) FROM events WHERE type = $1`, event); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%d events are %s, want %d", n, event, want)
		}
	}
	got := map[string]string{}
	for _, m := range c.mailed() {
		id := strings.Join(m.To, " ") + m.Header("Message-Id")
		if before, again := got[id]; again && before != m.Data {
			t.Errorf("a mail came again as another:\n%s\n%s", before, m.Data)
		}
		got[id] = m.Data
		report, _ := uuid.Parse(strings.SplitN(strings.Trim(m.Header("Message-Id"), "<> \r\n\t"), ".", 2)[0])
		if name := reports[report]; name == "" || !strings.Contains(m.Data, "From the schedule "+name+":") {
			t.Errorf("the mail of %s names another schedule, or none:\n%s", name, m.Data)
		}
	}
	if len(got) != 2*len(c.all) {
		t.Errorf("%d mails came, want %d", len(got), 2*len(c.all))
	}
}
