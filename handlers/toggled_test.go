package handlers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/files/blobs"
	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
)

// toggle lets the database return a false answer to one read of a report's Ready, as the owner
// of the database can. The caller says which read, and which part is false.
func (s *scene) toggle(id uuid.UUID, falseData, falseHash []byte) (lie func(read int, column string)) {
	s.t.Helper()
	for _, query := range []string{
		`CREATE SEQUENCE reads`,
		`CREATE TABLE lies (read bigint, of text, data bytea, hash bytea)`,
		`ALTER TABLE events RENAME TO true_events`,
		`CREATE FUNCTION lied(e true_events) RETURNS true_events LANGUAGE plpgsql VOLATILE AS $$
		DECLARE l lies;
		BEGIN
			IF e.type = 'report.ready' AND e.stream_id = '` + id.String() + `' THEN
				SELECT * INTO l FROM lies WHERE read = nextval('reads');
				IF l.of = 'data' THEN e.data := l.data; ELSIF l.of = 'hash' THEN e.hash := l.hash; END IF;
			END IF;
			RETURN e;
		END $$`,
		`CREATE VIEW events AS SELECT l.* FROM true_events e CROSS JOIN LATERAL lied(e) l`,
		`CREATE FUNCTION append_truly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO true_events SELECT NEW.*; RETURN NEW; END'`,
		`CREATE TRIGGER append_truly INSTEAD OF INSERT ON events FOR EACH ROW EXECUTE FUNCTION append_truly()`,
	} {
		s.db.MustExec(query)
	}
	return func(read int, column string) {
		s.db.MustExec(`TRUNCATE lies`)
		s.db.MustExec(`ALTER SEQUENCE reads RESTART`)
		s.db.MustExec(`INSERT INTO lies VALUES ($1, $2, $3, $4)`, read, column, falseData, falseHash)
	}
}

// TestTheSignedReportIsTheMarkedReport: an owner of the database without a key shows one row to
// the check of the mark, and another to the signature. More reads than it takes are tried.
func TestTheSignedReportIsTheMarkedReport(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.aReport()
	ready, _ := last[report.Ready](s, id)
	built := s.content(ready.PDFKey)
	planted, err := s.blobs.WritePDF(t.Context(), blobs.PDFName(s.organization, id, 99), bytes.NewReader(append(bytes.Clone(built), "% planted\n%%EOF\n"...)))
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	if err := s.db.Get(&data, `SELECT data FROM events WHERE stream_id = $1 AND type = 'report.ready'`, id); err != nil {
		t.Fatal(err)
	}
	falsely := strings.NewReplacer(ready.PDFSHA256, planted.SHA256, ready.PDFKey, planted.Name).Replace(string(data))
	hash := bytes.Repeat([]byte{0xab}, 32)
	lie := s.toggle(id, []byte(falsely), hash)
	job := jobs.Claimed{Job: jobs.Job{OrganizationID: s.organization, Subject: id}}
	mails := 0
	for read := 1; read <= 8; read++ {
		for _, column := range []string{"data", "hash"} {
			lie(read, column)
			job.Kind, job.Key = jobs.Mail, s.ana.String()
			failed := s.mailer().Handle(t.Context(), job)
			for _, m := range s.smtp.Mails()[mails:] {
				text := strings.ReplaceAll(m.Data, "=\r\n", "")
				if strings.Contains(text, planted.SHA256) || strings.Contains(text, hex.EncodeToString(hash)) {
					t.Errorf("false %s on read %d: the mail signs it", column, read)
				}
			}
			mails = len(s.smtp.Mails())

			s.db.MustExec(`DELETE FROM report_proofs`)
			lie(read, column)
			job.Kind, job.Key, job.Fence = jobs.Sign, "", job.Fence+1
			failed = errors.Join(failed, s.signer().Handle(t.Context(), job))
			s.wantProven(id, built, job.Fence, fmt.Sprintf("false %s on read %d (%v)", column, read, failed))
		}
	}
}

// wantProven wants no signed PDF, or the one of what was built, with a proof that holds.
func (s *scene) wantProven(id uuid.UUID, built []byte, fence int64, what string) {
	s.t.Helper()
	if p, ok, err := s.proofs.Kept(s.t.Context(), s.organization, id); err == nil && ok {
		if verdict, steps := attest.Check(sha256.Sum256(built), p, attest.Trust{Keys: s.keys(), Logged: true}); verdict != attest.Holds {
			s.t.Errorf("%s: the kept proof does not hold: %s", what, attest.FirstOff(steps))
		}
	}
	name := blobs.SignedName(s.organization, id, fence)
	if _, err := s.blobs.Digest(s.t.Context(), name); err != nil {
		return
	}
	of, err := pades.Split(s.content(name))
	if err != nil {
		s.t.Errorf("%s: %v", what, err)
		return
	}
	p, err := attest.ParseProof(of.Proof)
	if err != nil {
		s.t.Errorf("%s: %v", what, err)
		return
	}
	if !bytes.Equal(of.Base, built) {
		s.t.Errorf("%s: the signed PDF is another one", what)
	}
	if verdict, steps := attest.Check(sha256.Sum256(built), p, attest.Trust{Keys: s.keys(), Logged: true}); verdict != attest.Holds {
		s.t.Errorf("%s: the proof in the signed PDF does not hold: %s", what, attest.FirstOff(steps))
	}
}
