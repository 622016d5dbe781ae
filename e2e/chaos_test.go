package e2e

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// How often workers die, and how many reports are requested before each time.
const (
	chaosKills = 500
	perKill    = 5
)

// TestLongWorkersAreKilled kills worker processes at work, again and again, while several members request reports of
// all kinds. In make test workers die between any two steps (TestAWorkerDiesBetweenAnyTwoStepsOfABuild, in handlers),
// and one of two processes that have built is killed (TestReplicas).
func TestLongWorkersAreKilled(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	mails := mailtest.Start(t, mailtest.Options{})
	settings := []string{"--job-lease=1s", "--smtp-url", "smtp://" + mails.Addr + "?starttls=off"}
	c := &chaos{house: newHouse(t, append(settings, "--roles=api,projections,collectors")...)}
	c.prepare(t)
	args := append(append(c.flags(), settings...), "serve", "--roles=workers")
	workers := []*running{launch(t, nil, args...), launch(t, nil, args...)}
	db := pgtest.Connect(t, c.url)
	resumed := func() int { return len(c.events(t, "--type", "report.build_resumed")) }
	for range chaosKills {
		victim := c.atWork(t, db, workers)
		// Not a wait for anything: between which two steps it dies is up to chance.
		time.Sleep(rand.N(80 * time.Millisecond))
		workers[victim].kill(t)
		workers[victim] = launch(t, nil, args...)
	}
	ends := c.wellEnded(t)
	if ends["Ready"] == 0 || ends["Ready"]+ends["Failed"] != c.accepted {
		t.Errorf("of %d reports that were accepted %v ended", c.accepted, ends)
	}
	for _, e := range c.events(t, "--type", "report.failed") {
		if code := e.Data["code"]; code != "no_completed_classification" && code != "abandoned" {
			t.Errorf("report %s failed with %v", e.StreamID, e.Data)
		}
	}
	repeated := c.holdMails(t, mails.Mails()).repeated
	if resumed() == 0 {
		t.Error("no worker was killed while it built")
	}
	t.Logf("%d kills, %d builds resumed, %d of %d mails sent twice, %v", chaosKills, resumed(), repeated, len(mails.Mails()), ends)
}

// chaos is a house whose members request whatever there is.
type chaos struct {
	house
	members    []client
	recipients []uuid.UUID
	paper      uuid.UUID

	mu        sync.Mutex
	requested int
	accepted  int // as new reports, not joined to one that was being built
}

func (c *chaos) prepare(t *testing.T) {
	t.Helper()
	c.classify(t)
	c.paper = c.ana.paper(t, "pg-paper")
	c.members = []client{c.ana}
	for _, name := range []string{"bo", "cy"} {
		email := name + "@acme.example"
		c.must(t, "admin", "create", "--email", email, "--name", name, "--password-file", passwordFile(t))
		c.members = append(c.members, c.as(t, c.server, email))
	}
	var listed struct{ Items []struct{ ID uuid.UUID } }
	c.ana.get(t, "/api/v1/members", &listed)
	for _, m := range listed.Items {
		c.recipients = append(c.recipients, m.ID)
	}
}

// request asks for the next report: by turns of every kind, also for one that
// was just requested and for one that cannot be built.
func (c *chaos) request(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	n := c.requested
	c.requested++
	c.mu.Unlock()
	w := []wish{
		scorecard(c.live, n), security(c.live), scorecard(c.live, n-2), of("DataInventory", c.live), of("DataInventory", c.paper),
	}[n%5]
	w.RecipientIDs = c.recipients[:n%(len(c.recipients)+1)]
	got, err := c.members[n%len(c.members)].try(t.Context(), http.MethodPost, "/api/v1/reports", w)
	switch {
	case err != nil:
		t.Error(err)
	case got.status == http.StatusAccepted:
		c.mu.Lock()
		c.accepted++
		c.mu.Unlock()
	case got.status != http.StatusOK: // joined
		t.Errorf("a request for a report is answered with %d %s", got.status, got.body)
	}
}

// atWork requests reports until a worker holds a build or a mail, and returns
// which worker.
func (c *chaos) atWork(t *testing.T, db *sqlx.DB, workers []*running) (at int) {
	t.Helper()
	var requests sync.WaitGroup
	defer requests.Wait()
	eventually(t, "a worker is at work", func() bool {
		for range perKill {
			requests.Add(1)
			go func() {
				defer requests.Done()
				c.request(t)
			}()
		}
		return within(time.Second, func() bool {
			at = slices.IndexFunc(workers, func(w *running) bool { return w.holds(t, db, "build", "mail") })
			return at >= 0
		})
	})
	return at
}
