package handlers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// content is a whole file of the store.
func (s *scene) content(name string) []byte {
	s.t.Helper()
	file, err := s.blobs.Open(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return content
}

// keys are those that the installation publishes.
func (s *scene) keys() attest.Keys {
	s.t.Helper()
	keys, err := s.proofs.Signing.Keys(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

// checkSigned takes the signed PDF apart: it begins with the built one, contains the proof of
// it, and its signature is valid.
func (s *scene) checkSigned(id uuid.UUID) {
	s.t.Helper()
	ready, _ := last[report.Ready](s, id)
	signed, _ := last[report.Signed](s, id)
	file := s.content(signed.Key)
	if got := snapshot.Digest(file); got != signed.SHA256 || int64(len(file)) != signed.SizeBytes {
		s.t.Errorf("the signed file has %d bytes and SHA-256 %s, recorded are %d and %s", len(file), got, signed.SizeBytes, signed.SHA256)
	}
	if base := s.content(ready.PDFKey); !bytes.HasPrefix(file, base) {
		s.t.Error("the signed file does not begin with what was built")
	}
	revisions, err := pades.Split(file)
	if err != nil {
		s.t.Fatal(err)
	}
	proof, err := attest.ParseProof(revisions.Proof)
	if err != nil {
		s.t.Fatal(err)
	}
	keys := s.keys()
	if verdict, steps := attest.Check(sha256.Sum256(revisions.Base), proof, attest.Trust{Keys: keys}); verdict != attest.Holds || proof.Report.ID != id {
		s.t.Errorf("the proof of %s %s: %+v", proof.Report.ID, verdict, steps)
	}
	var trusted []*x509.Certificate
	for _, k := range keys.Of(attest.UsePDF) {
		chain, err := k.Chain()
		if err != nil || k.ID != signed.KeyID {
			s.t.Errorf("key %s signed, published is %s, %v", signed.KeyID, k.ID, err)
		}
		trusted = append(trusted, chain...)
	}
	if _, err := revisions.Verify(trusted); err != nil {
		s.t.Error(err)
	}
	if kept, ok, err := s.proofs.Kept(s.t.Context(), s.organization, id); err != nil || !ok || kept.Report != proof.Report {
		s.t.Errorf("kept is the proof of %+v, %v, %v", kept.Report, ok, err)
	}
	if len(revisions.Proof) > 8<<10 {
		s.t.Errorf("the proof has %d bytes", len(revisions.Proof))
	}
}

// TestAWorkerDiesWhileItSigns: between any two steps, and the next worker signs what the first
// has proven.
func TestAWorkerDiesWhileItSigns(t *testing.T) {
	t.Parallel()
	for _, at := range []string{handlers.PointProven, handlers.PointSignedStored} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.request(s.ana)
			killed := diesAt(at)
			signer := s.signer()
			signer.OnPass(killed.pass)
			stopFirst := s.work("w1", s.builder().Task(1), signer.Task())
			<-killed.reached
			s.lapse(jobs.Sign)
			s.work("w2", s.signer().Task())
			s.until("the PDF is signed", func() bool { return s.has(id, "report.signed") })
			killed.resume()
			stopFirst()
			if n := s.count(id, "report.signed"); n != 1 {
				t.Errorf("it was signed %d times", n)
			}
			s.checkSigned(id)
			s.sweep()
			signed, _ := last[report.Signed](s, id)
			ready, _ := last[report.Ready](s, id)
			if got, want := s.stored(), sorted(append(files(ready), ready.InputsKey, signed.Key)...); len(got) != len(want) {
				t.Errorf("files %v, want %v", got, want)
			}
		})
	}
}

// TestALostSignatureIsMadeAgain, and an existing one is not.
func TestALostSignatureIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("the PDF is signed", func() bool { return s.has(id, "report.signed") })
	first, _ := last[report.Signed](s, id)
	again := func() {
		if err := s.queue.SignAgain(t.Context(), s.organization, id); err != nil {
			t.Fatal(err)
		}
		s.until("the job is done", func() bool { return len(s.jobs(jobs.Sign)) == 0 })
	}
	again()
	if n := s.count(id, "report.signed"); n != 1 {
		t.Errorf("one that is there was made %d times", n)
	}
	if err := s.blobs.Delete(t.Context(), first.Key); err != nil {
		t.Fatal(err)
	}
	again()
	if second, _ := last[report.Signed](s, id); second.Key == first.Key || s.count(id, "report.signed") != 2 {
		t.Errorf("%+v follows on %+v", second, first)
	}
	s.checkSigned(id)
}

// TestAReportThatWaitedForADayIsNotSigned: the two times would not be believed. Its proof is
// there.
func TestAReportThatWaitedForADayIsNotSigned(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.aReport()
	s.clock.Advance(25 * time.Hour)
	s.due(jobs.Sign)
	s.work("w2", s.signer().Task())
	s.until("the job is done", func() bool { return len(s.jobs(jobs.Sign)) == 0 })
	if s.has(id, "report.signed") {
		t.Error("it is signed")
	}
	p, ok, err := s.proofs.Kept(t.Context(), s.organization, id)
	if err != nil || !ok {
		t.Fatal("it has no proof", err)
	}
	ready, _ := last[report.Ready](s, id)
	if verdict, steps := attest.Check(sha256.Sum256(s.content(ready.PDFKey)), p, attest.Trust{Keys: s.keys()}); verdict != attest.Holds {
		t.Errorf("its proof %s: %+v", verdict, steps)
	}
}

// TestNothingForgedIsSigned: by an attacker who has the database or the store.
func TestNothingForgedIsSigned(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(s *scene, id uuid.UUID, ready report.Ready){
		"the PDF in the store": func(s *scene, _ uuid.UUID, ready report.Ready) {
			if _, err := s.blobs.WritePDF(s.t.Context(), ready.PDFKey, bytes.NewReader([]byte("%PDF-1.7 forged"))); err != nil {
				s.t.Fatal(err)
			}
		},
		"the digest in Ready": func(s *scene, id uuid.UUID, ready report.Ready) {
			pgtest.Unguard(s.t, s.db)
			forged := sha256.Sum256([]byte("%PDF-1.7 forged"))
			s.db.MustExec(`UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), $2, $3), 'UTF8') WHERE type = 'report.ready' AND stream_id = $1`,
				id, ready.PDFSHA256, hex.EncodeToString(forged[:]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.aReport()
			ready, _ := last[report.Ready](s, id)
			forge(s, id, ready)
			s.work("w2", s.signer().Task())
			s.until("an operator is to look", func() bool {
				rows := s.jobs(jobs.Sign)
				return len(rows) == 1 && rows[0].Status == jobs.StatusDead && rows[0].LastError != ""
			})
			if s.has(id, "report.signed") {
				t.Error("it was signed")
			}
		})
	}
}

// TestAProofDoesNotWaitForAClock of another party: it exists before the time stamp is
// requested, and the PDF is signed without one that does not come.
func TestAProofDoesNotWaitForAClock(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	var asked atomic.Int32
	s.proofs.Stamp = func(ctx context.Context, _ []byte) ([]byte, error) {
		asked.Add(1)
		if _, ok, err := s.proofs.Kept(ctx, s.organization, id); err != nil || !ok {
			t.Errorf("the proof waits for its time stamp: %v", err)
		}
		return nil, errors.New("away")
	}
	s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("the PDF is signed", func() bool { return s.has(id, "report.signed") })
	s.checkSigned(id)
	if n := asked.Load(); n != 1 {
		t.Errorf("a service that is away is asked %d times for one report", n)
	}
}
