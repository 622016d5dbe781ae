package attest

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"muster/internal/proof/pades"
)

// VerifyPDF checks a PDF's signature under the given keys. Where none holds, it is nil, and the
// step says why.
func (t Trust) VerifyPDF(revisions pades.Revisions) (*pades.Signature, Step) {
	var trusted []*x509.Certificate
	for _, k := range t.Keys.Of(UsePDF) {
		if chain, err := k.Chain(); err == nil {
			trusted = append(trusted, chain[0])
		}
	}
	signature, err := revisions.Verify(trusted)
	var fault *pades.SignatureError
	switch {
	case errors.As(err, &fault) && fault.Fault == pades.Untrusted:
		return nil, Step{StepSignature, Untold, fmt.Sprintf("None of the given keys signed the PDF: %s.", fault.Reason)}
	case err != nil:
		return nil, Step{StepSignature, Broken, fmt.Sprintf("The PDF's signature is not valid: %v.", err)}
	}
	return &signature, Step{}
}

// Dated is what the content of a PDF says of its own time.
type Dated struct {
	Says string // a clause before a time, as "The report says that it was recorded on"
	At   time.Time
}

// JudgePDF judges a valid signature of a PDF: its own time against the content (nil: it has
// none), and its key's lifetime. That time comes from a process's clock, so it may be off. seen
// is the latest time at which it existed, by a trusted clock; zero: no trusted clock says so.
func (t Trust) JudgePDF(s pades.Signature, content *Dated, seen time.Time) Step {
	if content != nil {
		if Apart(s.At, content.At) {
			return Step{StepSignature, Broken, fmt.Sprintf("%s %s, but the PDF's signature gives the time %s: one of the two is wrong.",
				content.Says, stamp(content.At), stamp(s.At))}
		}
		if k, ok := t.keyOf(s.Certificate); ok {
			if state, why := k.Lived(s.At, seen, Skew); state != Held {
				return Step{StepSignature, state, why}
			}
		}
	}
	return Step{StepSignature, Held, fmt.Sprintf("%s signed the whole PDF, on %s by its own clock.",
		s.Certificate.Subject.CommonName, stamp(s.At))}
}

// keyOf is the given key with a certificate.
func (t Trust) keyOf(by *x509.Certificate) (Key, bool) {
	for _, k := range t.Keys.Of(UsePDF) {
		if chain, err := k.Chain(); err == nil && chain[0].Equal(by) {
			return k, true
		}
	}
	return Key{}, false
}
