package offline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
)

// Recorded is what a file in hand says was recorded of a report.
type Recorded struct {
	PDFSHA256 string        // of the PDF as it was built, hex
	Proof     *attest.Proof // nil: a PDF as it was built carries none
	// Fault is what of the file and its proof does not fit together; empty: nothing. Who signed
	// the proof was not asked.
	Fault string
}

// ReadRecorded reads a signed PDF, a PDF as it was built, a proof.json, or a mail with one.
// Errors: *pades.SplitError of a PDF that was changed after it was signed, *attest.MalformedError.
func ReadRecorded(file []byte) (Recorded, error) {
	if mail, ok := ReadMail(file); ok && len(mail.Proofs) == 1 {
		file = mail.Proofs[0]
	}
	if !bytes.HasPrefix(file, []byte("%PDF-")) {
		proof, err := attest.ParseProof(file)
		if err != nil {
			return Recorded{}, err
		}
		r := Recorded{PDFSHA256: proof.Report.PDFSHA256, Proof: &proof}
		r.hold()
		return r, nil
	}
	revisions, err := pades.Split(file)
	var fault *pades.SplitError
	if errors.As(err, &fault) && fault.Fault == pades.NoUpdate {
		return Recorded{PDFSHA256: digest(file)}, nil
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("the PDF was changed after it was signed: %w", err)
	}
	proof, err := attest.ParseKept(revisions.Proof)
	if err != nil {
		return Recorded{}, err
	}
	r := Recorded{PDFSHA256: digest(revisions.Base), Proof: &proof}
	r.hold()
	return r, nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// hold notes the first step of a check that contradicts.
func (r *Recorded) hold() {
	var base [sha256.Size]byte
	if _, err := hex.Decode(base[:], []byte(r.PDFSHA256)); err != nil {
		r.Fault = err.Error()
		return
	}
	_, steps := attest.Check(base, *r.Proof, attest.Trust{})
	for _, step := range steps {
		if step.State == attest.Broken {
			r.Fault = step.Detail
			return
		}
	}
}
