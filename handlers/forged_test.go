package handlers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/proof/prooftest"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// forge appends a report with SQL alone, as an attacker with the database and not the key can:
// three events that repeat those of a genuine one, changed, and the job that signs it.
func (s *scene) forge(genuine uuid.UUID, change func(organization *uuid.UUID, queued *report.Queued, ready *report.Ready)) (organization, id uuid.UUID) {
	s.t.Helper()
	return s.forgeAs(uuid.New(), genuine, change)
}

// forgeAs is forge with a known id.
func (s *scene) forgeAs(
	id, genuine uuid.UUID, change func(organization *uuid.UUID, queued *report.Queued, ready *report.Ready),
) (organization, _ uuid.UUID) {
	s.t.Helper()
	organization = s.organization
	queued, _ := last[report.Queued](s, genuine)
	started, _ := last[report.BuildStarted](s, genuine)
	ready, _ := last[report.Ready](s, genuine)
	change(&organization, &queued, &ready)
	for i, event := range []report.Event{queued, started, ready} {
		data, err := json.Marshal(event)
		if err != nil {
			s.t.Fatal(err)
		}
		e := eventstore.Event{
			Log: eventstore.Reports, OrganizationID: organization, StreamType: report.StreamType, Stream: id, Type: report.Name(event), SchemaVersion: 1,
			OccurredAt: s.clock.Now().UTC().Truncate(time.Microsecond), Data: data, Metadata: []byte(`{}`),
		}
		digest := eventstore.Digest(e)
		s.db.MustExec(`SELECT append_event('reports', $1, 'report', $2, $3, $4, 1, $5, $6, $7, $8)`,
			organization, id, i, e.Type, e.OccurredAt, e.Data, e.Metadata, digest[:])
	}
	s.queueWithSQL(organization, id, "sign", "")
	return organization, id
}

func (s *scene) queueWithSQL(organization, id uuid.UUID, kind, key string) {
	s.db.MustExec(`INSERT INTO jobs (id, organization_id, kind, subject, key) VALUES (gen_random_uuid(), $1, $2, $3, $4)`, organization, kind, id, key)
}

// refuses runs the signer until the job of a report is set aside, and wants no trace of a
// signature.
func (s *scene) refuses(organization, id uuid.UUID, why string) {
	s.t.Helper()
	s.work("w2", s.signer().Task())
	var row jobs.Row
	s.until("the job is over", func() bool {
		rows, err := s.queue.List(s.t.Context(), uuid.Nil, 100, jobs.Sign)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range rows {
			if row = r; r.Subject == id {
				return r.Status == jobs.StatusDead
			}
		}
		return true
	})
	if !strings.Contains(row.LastError, why) || row.Subject != id {
		s.t.Errorf("set aside with %q, not for that %q", row.LastError, why)
	}
	if _, ok, err := s.proofs.Kept(s.t.Context(), organization, id); ok || err != nil {
		s.t.Errorf("it has a proof, %v", err)
	}
	var signed int
	if err := s.db.Get(&signed, `SELECT count(*) FROM events WHERE stream_id = $1 AND type = 'report.signed'`, id); err != nil || signed > 0 {
		s.t.Errorf("it was signed, %v", err)
	}
}

// TestSQLAloneGetsNoSignature: an attacker has the database and not the secret key.
func TestSQLAloneGetsNoSignature(t *testing.T) {
	t.Parallel()
	another := strings.Repeat("ab", 32)
	none := func(*scene, *uuid.UUID, *report.Queued, *report.Ready) {}
	for name, attack := range map[string]struct {
		change func(s *scene, organization *uuid.UUID, queued *report.Queued, ready *report.Ready)
		why    string
	}{
		"three events and a job, of a file that is in the store": {
			func(_ *scene, _ *uuid.UUID, _ *report.Queued, ready *report.Ready) { ready.Mark = "" }, "it has no mark",
		},
		"of a file that does not exist": {func(_ *scene, _ *uuid.UUID, _ *report.Queued, ready *report.Ready) {
			ready.Mark, ready.PDFKey, ready.PDFSHA256 = "", "reports/none.pdf", another
		}, "it has no mark"},
		"another report's mark": {none, "its mark is of something else"},
		"a mark that is made up": {func(s *scene, _ *uuid.UUID, _ *report.Queued, ready *report.Ready) {
			ready.Mark = s.proofs.Signing.Ring().Fingerprint() + ":" + another
		}, "its mark is of something else"},
		"a mark under a key of theirs": {func(_ *scene, _ *uuid.UUID, _ *report.Queued, ready *report.Ready) {
			ready.Mark = "0123456789abcdef:" + another
		}, "a key that this installation does not have"},
		"a mark moved to another organization": {
			func(_ *scene, organization *uuid.UUID, _ *report.Queued, _ *report.Ready) { *organization = uuid.New() }, "its mark is of something else",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			genuine := s.request(s.ana)
			stop := s.work("w1", s.builder().Task(1), s.signer().Task())
			s.until("the genuine one is signed", func() bool { return s.has(genuine, "report.signed") })
			stop()
			organization, id := s.forge(genuine, func(organization *uuid.UUID, queued *report.Queued, ready *report.Ready) {
				attack.change(s, organization, queued, ready)
			})
			s.refuses(organization, id, attack.why)
		})
	}
}

// TestARewrittenReportIsNotSigned: an attacker with the database changes the events of a
// genuine report, and computes the log anew, before it is signed.
func TestARewrittenReportIsNotSigned(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(queued report.Queued, ready report.Ready) (from, to string){
		"another kind": func(queued report.Queued, _ report.Ready) (string, string) {
			return `"kind":"Security"`, `"kind":"DataInventory"`
		},
		"another scope": func(queued report.Queued, _ report.Ready) (string, string) {
			return queued.Fingerprint, strings.Repeat("ab", 32)
		},
		"other inputs": func(_ report.Queued, ready report.Ready) (string, string) {
			return ready.InputsSHA256, strings.Repeat("ab", 32)
		},
		"another table": func(_ report.Queued, ready report.Ready) (string, string) {
			return ready.Files[0].SHA256, strings.Repeat("ab", 32)
		},
		"the mark taken out": func(_ report.Queued, ready report.Ready) (string, string) {
			return `"mark":"` + ready.Mark + `"`, `"note":""`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.aReport()
			queued, _ := last[report.Queued](s, id)
			ready, _ := last[report.Ready](s, id)
			from, to := rewrite(queued, ready)
			prooftest.Rewrite(t, s.db, id, from, to)
			s.refuses(s.organization, id, "")
		})
	}
}

// TestAMissingFileIsNotAttested: the file is compared with its digest before anything is
// signed, and may come back.
func TestAMissingFileIsNotAttested(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.aReport()
	ready, _ := last[report.Ready](s, id)
	if err := s.blobs.Delete(t.Context(), ready.PDFKey); err != nil {
		t.Fatal(err)
	}
	s.work("w2", s.signer().Task())
	s.until("an attempt fails", func() bool {
		rows := s.jobs(jobs.Sign)
		return len(rows) == 1 && rows[0].LastError != ""
	})
	if rows := s.jobs(jobs.Sign); rows[0].Status == jobs.StatusDead {
		t.Errorf("it was set aside: %s", rows[0].LastError)
	}
	if _, ok, err := s.proofs.Kept(t.Context(), s.organization, id); ok || err != nil {
		t.Errorf("it has a proof, %v", err)
	}
}

// TestNoForgedReportIsMailed: a mail carries a signature, too.
func TestNoForgedReportIsMailed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine := s.request(s.ana)
	stop := s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("the genuine one is signed", func() bool { return s.has(genuine, "report.signed") })
	stop()
	_, id := s.forge(genuine, func(_ *uuid.UUID, _ *report.Queued, ready *report.Ready) { ready.Mark = "" })
	s.queueWithSQL(s.organization, id, "mail", s.ana.String())
	s.db.MustExec(`DELETE FROM jobs WHERE subject = $1 AND kind = 'mail'`, genuine)
	s.work("w2", s.mailer().Task(1))
	s.until("the mail is set aside", func() bool {
		rows := s.jobs(jobs.Mail)
		return len(rows) == 0 || len(rows) == 1 && rows[0].Status == jobs.StatusDead && strings.Contains(rows[0].LastError, "it has no mark")
	})
	if n := len(s.smtp.Mails()); n > 0 || s.has(id, "report.email_sent") {
		t.Errorf("%d mails were sent", n)
	}
}

// TestAForgedProofGetsNoSignature: a proof was put into the table with SQL, for a genuine
// report.
func TestAForgedProofGetsNoSignature(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine, id := s.request(s.ana), s.requestKind(report.DataInventory)
	s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("both are signed", func() bool { return s.has(genuine, "report.signed") && s.has(id, "report.signed") })
	s.until("the jobs are done", func() bool { return len(s.jobs(jobs.Sign)) == 0 })
	signed, _ := last[report.Signed](s, id)
	if err := s.blobs.Delete(t.Context(), signed.Key); err != nil {
		t.Fatal(err)
	}
	pgtest.Unguard(t, s.db)
	s.db.MustExec(`UPDATE report_proofs SET proof = (SELECT proof FROM report_proofs WHERE report_id = $1) WHERE report_id = $2`, genuine, id)
	s.queueWithSQL(s.organization, id, "sign", "")
	s.until("the job is set aside", func() bool {
		rows := s.jobs(jobs.Sign)
		return len(rows) == 1 && rows[0].Status == jobs.StatusDead && strings.Contains(rows[0].LastError, "the proof that is kept of it")
	})
}

// TestAnExchangedProofGetsNoSignature: SQL exchanges it when it is kept, so that it is another one
// as soon as it is made.
func TestAnExchangedProofGetsNoSignature(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine, id := s.request(s.ana), s.requestKind(report.DataInventory)
	stop := s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("both are signed", func() bool { return s.has(genuine, "report.signed") && s.has(id, "report.signed") })
	s.until("the jobs are done", func() bool { return len(s.jobs(jobs.Sign)) == 0 })
	stop()
	signed, _ := last[report.Signed](s, id)
	if err := s.blobs.Delete(t.Context(), signed.Key); err != nil {
		t.Fatal(err)
	}
	pgtest.Unguard(t, s.db)
	s.db.MustExec(`DELETE FROM report_proofs WHERE report_id = $1`, id)
	s.db.MustExec(`CREATE FUNCTION exchange() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN SELECT proof INTO NEW.proof FROM report_proofs WHERE report_id = '` + genuine.String() + `'; RETURN NEW; END $$`)
	s.db.MustExec(`CREATE TRIGGER exchange BEFORE INSERT ON report_proofs FOR EACH ROW EXECUTE FUNCTION exchange()`)
	if p, err := s.proofs.Make(t.Context(), s.organization, id); err == nil {
		t.Errorf("the proof that is made of %s is of %s", id, p.Report.ID)
	}
	s.queueWithSQL(s.organization, id, "sign", "")
	s.work("w2", s.signer().Task())
	s.until("the job is set aside", func() bool {
		rows := s.jobs(jobs.Sign)
		return len(rows) == 1 && rows[0].Status == jobs.StatusDead && strings.Contains(rows[0].LastError, "the proof that is kept of it")
	})
}

// unmarked appends a Ready without a mark after a genuine one, as a program from before marks
// does, and queues its signature.
func (s *scene) unmarked(genuine uuid.UUID) (id uuid.UUID) {
	_, id = s.forge(genuine, func(_ *uuid.UUID, _ *report.Queued, ready *report.Ready) { ready.Mark = "" })
	return id
}

// TestReportsOfEarlierReleasesWithoutMarks are signed: those up to the first start of this release, and those
// of a replica that has not been upgraded yet.
func TestReportsOfEarlierReleasesWithoutMarks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ring := s.proofs.Signing.Ring()
	if err := secrets.CheckKeys(t.Context(), s.db, ring); err != nil {
		t.Fatal(err)
	}
	begin := func(older bool) {
		t.Helper()
		if _, err := ring.BeginMarks(t.Context(), s.db, "", s.clock.Now(), func(context.Context) (bool, error) { return older, nil }); err != nil {
			t.Fatal(err)
		}
	}
	genuine := s.request(s.ana)
	stop := s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("the genuine one is signed", func() bool { return s.has(genuine, "report.signed") })
	stop()

	before := s.unmarked(genuine)
	begin(true)
	meanwhile := s.unmarked(genuine)
	s.work("w2", s.signer().Task())
	s.until("both are signed", func() bool { return s.has(before, "report.signed") && s.has(meanwhile, "report.signed") })

	begin(false) // the last replica of the earlier version has gone
	late := s.unmarked(genuine)
	s.refuses(s.organization, late, "it has no mark")

	if _, err := ring.AcceptUnmarked(t.Context(), s.db, "", s.clock.Now(), func(secrets.Begun) error { return nil }); err != nil {
		t.Fatal(err)
	}
	s.db.MustExec(`UPDATE jobs SET dead_at = NULL, due_at = now() WHERE subject = $1 AND kind = 'sign'`, late)
	s.until("an operator has accepted it", func() bool { return s.has(late, "report.signed") })
}

// TestAKeyIsRotatedAndRetiredBeforeAReportIsSigned: the report was marked under the old key
// and is signed all the same; what a thief marks with that key afterwards is not.
func TestAKeyIsRotatedAndRetiredBeforeAReportIsSigned(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ring := s.proofs.Signing.Ring()
	if err := secrets.CheckKeys(t.Context(), s.db, ring); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(ring.Path())
	if err != nil {
		t.Fatal(err)
	}
	thief := filepath.Join(t.TempDir(), "stolen.key")
	if err := os.WriteFile(thief, key, 0o600); err != nil {
		t.Fatal(err)
	}
	stolen, err := secrets.Load(thief)
	if err != nil {
		t.Fatal(err)
	}
	id := s.aReport()
	reseal := func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }
	_, err = secrets.Rotate(t.Context(), s.db, ring.Path(), reseal, func(secrets.Rotation) error { return nil })
	if err == nil {
		_, err = secrets.Retire(t.Context(), s.db, ring.Path(), reseal, func([]string) error { return nil })
	}
	if err == nil {
		err = s.proofs.Signing.Publish(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.work("w2", s.signer().Task())
	s.until("it is signed", func() bool { return s.has(id, "report.signed") })

	forged := uuid.New()
	organization, forged := s.forgeAs(forged, id, func(_ *uuid.UUID, queued *report.Queued, ready *report.Ready) {
		ready.Mark = stolen.Mark(secrets.MarkReport, secrets.MarkText(ready.Vouched(s.organization, forged, queued.Kind, queued.Fingerprint)...))
	})
	s.refuses(organization, forged, "was retired at reports:")
}
