package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
)

// signTimeout is the end of one attempt.
const signTimeout = time.Minute

// Signer proves a report that is Ready, and gives its PDF a second revision with the proof
// in it.
type Signer struct{ Parts }

// Task is how sign jobs are worked on. They are tried until it is done, or the report
// expires: until then a download gives the PDF as it was built.
func (s *Signer) Task() Task {
	return Task{Kind: jobs.Sign, Timeout: signTimeout, Handle: s.Handle, Policy: jobs.Policy{Concurrency: signsAtOnce, Backoff: hourly}}
}

// The points of a signature.
const (
	pointProven       point = "proven"
	pointSignedStored point = "signed stored"
)

// Handle checks the report's mark and the stored PDF, makes the proof, then the signed PDF, and
// then records it. Each step is done once: results of an earlier attempt are used if they match
// the log.
func (s *Signer) Handle(ctx context.Context, job jobs.Claimed) error {
	rec, err := s.load(ctx, job.OrganizationID, job.Subject)
	if err != nil {
		return err
	}
	if rec.Status() != report.StatusReady {
		return nil // it has expired, and its files go
	}
	lost := false
	if rec.signed != nil {
		if lost, err = s.lost(ctx, rec.signed); err != nil || !lost {
			return err
		}
	}
	says, err := s.Proofs.Vouch(ctx, job.OrganizationID, job.Subject)
	if err != nil {
		return fault(err)
	}
	base, err := s.base(ctx, says) // nothing is attested of a file that is not there
	if err != nil {
		return err
	}
	if _, err := s.Proofs.Make(ctx, job.OrganizationID, job.Subject); err != nil {
		return fault(err)
	}
	if err := s.pass(ctx, pointProven); err != nil {
		return err
	}
	if at := says.Event.RecordedAt; attest.Apart(s.Now(), at) {
		s.Proofs.Log.WarnContext(ctx, "the PDF of a report is not signed: it was recorded more than a day from now, so nobody would trust its signature; its proof is a separate file",
			"report", job.Subject, "recordedAt", at)
		return nil
	}
	signed, err := s.sign(ctx, job, says, base)
	if err != nil {
		return fault(err)
	}
	if err := s.pass(ctx, pointSignedStored); err != nil {
		return err
	}
	return s.end(ctx, job, fmt.Sprintf("record the signature of report %s", job.Subject), func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.Reports.RecordSigned(ctx, tx, job.OrganizationID, job.Subject, signed, lost, func() error {
			if err := proof.KeepSigned(ctx, tx, job.OrganizationID, job.Subject, signed.SHA256); err != nil {
				return err
			}
			return s.Queue.HastenReport(ctx, tx, job.OrganizationID, job.Subject) // its mails wait for the proof
		})
	})
}

// fault makes an end of what no further attempt mends: an operator looks at it.
func fault(err error) error {
	var fault *proof.FaultError
	if errors.As(err, &fault) {
		return &jobs.FinalError{Err: err}
	}
	return err
}

// lost says whether the file of a signature is gone, or is another one by now.
func (s *Signer) lost(ctx context.Context, signed *report.Signed) (bool, error) {
	found, err := s.Blobs.Digest(ctx, signed.Key)
	var gone *blobs.MissingFileError
	var damaged *blobs.DamagedFileError
	if errors.As(err, &gone) || errors.As(err, &damaged) {
		return true, nil
	}
	return err == nil && found.SHA256 != signed.SHA256, err
}

// sign stores the PDF with its second revision.
func (s *Signer) sign(ctx context.Context, job jobs.Claimed, says proof.Vouched, base []byte) (report.Signed, error) {
	proven, late, err := s.Proofs.Stamped(ctx, says)
	if err != nil {
		return report.Signed{}, err
	}
	made, err := proven.Encode()
	if err != nil {
		return report.Signed{}, err
	}
	certificate, err := s.Proofs.Signing.PDFSigner()
	if err != nil {
		return report.Signed{}, err
	}
	update := pades.Update{Attachment: made, Key: certificate.Signer, Chain: certificate.Chain, At: s.Now()}
	if !late {
		update.Stamp = s.Proofs.Stamp
	}
	signed, err := s.append(ctx, base, update)
	if err != nil {
		return report.Signed{}, fmt.Errorf("sign the PDF of report %s: %w", job.Subject, err)
	}
	name := blobs.SignedName(job.OrganizationID, job.Subject, job.Fence)
	written, err := s.Blobs.WritePDF(ctx, name, bytes.NewReader(signed))
	if err != nil {
		return report.Signed{}, err
	}
	return report.Signed{
		SHA256: written.SHA256, Key: written.Name, SizeBytes: written.SizeBytes, KeyID: attest.PDFKey(certificate.Chain, time.Time{}).ID,
	}, nil
}

// stampPatience is how long the signature of a PDF waits for its time stamp.
const stampPatience = 5 * time.Second

// append signs a PDF, with a time stamp if the service returns one. A signature is made once,
// so without an answer it has none: the proof's time stamp follows later.
func (s *Signer) append(ctx context.Context, base []byte, update pades.Update) ([]byte, error) {
	if update.Stamp == nil {
		return pades.Sign(ctx, base, update)
	}
	patient, cancel := context.WithTimeout(ctx, stampPatience)
	defer cancel()
	signed, err := pades.Sign(patient, base, update)
	var away *pades.StampError
	if !errors.As(err, &away) {
		return signed, err
	}
	s.Proofs.Log.WarnContext(ctx, "a PDF is signed without a time stamp", "error", err)
	update.Stamp = nil
	return pades.Sign(ctx, base, update)
}

// base is the PDF as it was built. A changed one is not signed.
func (s *Signer) base(ctx context.Context, says proof.Vouched) ([]byte, error) {
	base, err := s.read(ctx, says.Ready.PDFKey)
	var damaged *blobs.DamagedFileError
	if errors.As(err, &damaged) {
		return nil, &jobs.FinalError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(base); hex.EncodeToString(sum[:]) != says.Ready.PDFSHA256 {
		return nil, &jobs.FinalError{Err: fmt.Errorf("%s is not the PDF that the log names, so it is not signed: its SHA-256 is %x", says.Ready.PDFKey, sum)}
	}
	return base, nil
}

func (s *Signer) read(ctx context.Context, name string) ([]byte, error) {
	file, err := s.Blobs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}
