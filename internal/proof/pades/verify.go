package pades

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"time"
)

// Signature is one that holds.
type Signature struct {
	Certificate *x509.Certificate // that of the list it was made with
	At          time.Time         // when, as the signer claims
	Value       []byte            // a time stamp is over its SHA-256
	Token       []byte            // RFC 3161, for internal/proof/timestamp to judge; nil: none
}

// Verify holds the signature to the bytes that it covers. It is good if one of the
// trusted certificates made it: the list is the caller's, and no chain is built. Errors:
// *SignatureError.
func (r Revisions) Verify(trusted []*x509.Certificate) (Signature, error) {
	signer, attributes, err := readCMS(r.CMS)
	if err != nil {
		return Signature{}, err
	}
	token, err := signer.token()
	if err != nil {
		return Signature{}, err
	}
	err = &SignatureError{Untrusted, fmt.Sprintf("the certificate with number %x is not among the %d trusted ones", signer.Signer.Serial, len(trusted))}
	for _, c := range trusted { // several where an installation gave one number twice
		if !signer.isBy(c) {
			continue
		}
		if err = r.verifyBy(c, signer, attributes); err == nil {
			return Signature{Certificate: c, At: r.At, Value: signer.Signature, Token: token}, nil
		}
	}
	return Signature{}, err
}

// verifyBy holds the signature to one certificate.
func (r Revisions) verifyBy(c *x509.Certificate, signer signerInfo, attributes []byte) error {
	id, how, ok := algorithm(c)
	if !ok || !signer.SignatureAlgorithm.Algorithm.Equal(id.Algorithm) {
		return &SignatureError{NotASignature, "the algorithm is not that of the certificate's key"}
	}
	if err := c.CheckSignature(how, attributes, signer.Signature); err != nil {
		return &SignatureError{Forged, "it was not made with the key of " + c.Subject.String()}
	}
	// The signed attributes follow from certificate and bytes. So they are made again, not
	// read: none is missing, double or another's.
	wanted, err := attributesOf(c, covered(r.Covered[0], r.Covered[1]))
	if err != nil {
		return fmt.Errorf("signed attributes: %w", err)
	}
	if !bytes.Equal(attributes, wanted) {
		return &SignatureError{Altered, "the file is not the one that was signed with the key of " + c.Subject.String()}
	}
	if r.At.Before(c.NotBefore) || r.At.After(c.NotAfter) {
		return &SignatureError{OutsideTerm, fmt.Sprintf("signed at %s, with a certificate for %s to %s", r.At.Format(time.RFC3339), c.NotBefore.Format(time.RFC3339), c.NotAfter.Format(time.RFC3339))}
	}
	return nil
}
