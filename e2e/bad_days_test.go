package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/linetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// dueNow lets jobs that wait for their next attempt run now.
func dueNow(db *sqlx.DB, kind string) {
	db.MustExec(`UPDATE jobs SET due_at = now() WHERE kind = $1 AND worker_id = '' AND due_at > now()`, kind)
}

// waiting is how many jobs of a kind have failed at least so often and wait.
func waiting(t testing.TB, db *sqlx.DB, kind string, attempts int) (n int) {
	t.Helper()
	err := db.Get(&n, `SELECT count(*) FROM jobs WHERE kind = $1 AND attempts >= $2 AND last_error <> '' AND worker_id = ''`, kind, attempts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMailServerDown: mails wait for the server; a recipient who is refused for
// good is marked so and holds nobody else up; the report stays Ready throughout.
func TestMailServerDown(t *testing.T) {
	t.Parallel()
	mails := mailtest.Start(t, mailtest.Options{})
	mails.Answer("bo@acme.example", 550, [3]int{5, 1, 1}, "no such user")
	mails.Answer("cy@acme.example", 451, [3]int{4, 7, 1}, "greylisted, come back")
	line := linetest.New(t, mails.Addr)
	line.Cut()
	h := newHouse(t, "--smtp-url", "smtp://"+line.Addr()+"?starttls=off")
	db := pgtest.Connect(t, h.url)
	bo, cy := h.ana.member(t, "bo@acme.example", "member"), h.ana.member(t, "cy@acme.example", "member")
	w := security(h.live)
	w.RecipientIDs = []uuid.UUID{bo, cy}
	id := h.ana.request(t, w)
	h.ana.await(t, id, "Ready")
	eventually(t, "all three mails have been tried in vain", func() bool { return waiting(t, db, "mail", 1) == 3 })
	for _, r := range h.ana.report(t, id).Recipients {
		if r.Delivery != "pending" {
			t.Errorf("with the mail server down %s is %s", r.Email, r.Delivery)
		}
	}

	mails.DropNext(1) // and the first message breaks off after its content
	line.Heal()
	eventually(t, "the greylisted one is tried again", func() bool {
		dueNow(db, "mail")
		return len(mails.To("ana@acme.example")) == 2 && waiting(t, db, "mail", 2) == 1
	})
	mails.Answer("cy@acme.example", 0, [3]int{}, "")
	eventually(t, "all mails are done with", func() bool {
		dueNow(db, "mail")
		return waiting(t, db, "mail", 1) == 0 && len(mails.To("cy@acme.example")) == 1
	})
	if ends := h.wellEnded(t); ends["Ready"] != 1 {
		t.Errorf("the reports ended %v", ends)
	}
	if n := h.holdMails(t, mails.Mails()).repeated; n != 1 {
		t.Errorf("%d mails came twice, want the one that broke off", n)
	}
	want := map[string]string{"ana@acme.example": "sent 250", "bo@acme.example": "failed 550", "cy@acme.example": "sent 250"}
	eventually(t, "the history shows who got it", func() bool {
		for _, r := range h.ana.report(t, id).Recipients {
			status, code, _ := strings.Cut(want[r.Email], " ")
			if r.Delivery != status || r.SMTPCode == nil || code != strconv.Itoa(*r.SMTPCode) {
				return false
			}
		}
		return true
	})
}

// TestLongDatabaseRestartsMidBuild takes the database away while a worker stands in
// the middle of recording what it does. The log says so once, and once when it is back.
// In make test a primary dies while reports are requested (TestAFailoverLosesNothing), and an outage
// is logged once (TestAnOutageIsLoggedOnce, in internal/postgres).
func TestLongDatabaseRestartsMidBuild(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Fsync: true})
	i := installed{url: server.Superuser(), dir: t.TempDir()}
	email := i.organization(t, "Acme")
	common := append(i.flags(), "--rate-limits=off", "--job-lease=1s")
	api := servingHere(t, append(common, "--roles=api,projections")...)
	ana := i.as(t, api, email)
	id := ana.request(t, security(ana.paper(t, "pg-1")))

	// Whoever appends to the log waits for us, and then there is no us any more.
	db := pgtest.Connect(t, i.url)
	tx := db.MustBegin()
	tx.MustExec(`SELECT FROM log_head WHERE log = 'reports' FOR UPDATE`)
	worker := launchHere(t, append(common, "serve", "--roles=workers,collectors")...)
	eventually(t, "a worker stands in the middle of its build", func() bool {
		var stuck bool
		err := db.Get(&stuck, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%append_event%')`)
		return err == nil && stuck
	})
	server.Stop(t)
	for _, p := range []*running{api, worker} {
		eventually(t, "a process sees that the database is away", func() bool { return strings.Contains(p.logged.String(), "the database is away") })
	}
	server.Restart(t)
	_ = tx.Rollback() // its connection is gone, and the pool waits for it
	for _, p := range []*running{api, worker} {
		eventually(t, "a process sees that the database is back", func() bool { return strings.Contains(p.logged.String(), "the database is back") })
		_, during, _ := strings.Cut(p.logged.String(), "the database is away")
		during, _, _ = strings.Cut(during, "the database is back")
		for line := range strings.Lines(during) {
			if strings.Contains(line, " error=") && strings.Contains(line, "level=") && !strings.Contains(line, "requestId=") {
				t.Errorf("while the database is away the log says: %s", line)
			}
		}
	}
	eventually(t, "serve is ready again", api.isReady)
	ana.await(t, id, "Ready")
	if ends := i.wellEnded(t); ends["Ready"] != 1 {
		t.Errorf("the reports ended %v", ends)
	}
}
