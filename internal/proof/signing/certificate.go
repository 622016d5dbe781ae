package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"
)

// Certificate is what signs PDFs.
type Certificate struct {
	Signer crypto.Signer
	Chain  []*x509.Certificate // the signer's own first

	certFile, keyFile string           // that it was read from
	now               func() time.Time // whether it is still good
}

// CertificateError says why an operator's certificate cannot sign PDFs.
type CertificateError struct {
	CertFile, KeyFile string
	Reason            string
}

func (e *CertificateError) Error() string {
	return fmt.Sprintf("--signing-cert-file %s with --signing-key-file %s cannot sign PDFs: %s", e.CertFile, e.KeyFile, e.Reason)
}

// leastRSA is the shortest RSA key that signs, in bits (NIST SP 800-131A).
const leastRSA = 2048

// LoadCertificate reads an operator's certificate, which may bring its chain, and its key, both
// PEM. Whether it has expired is checked by now, at every signature. Errors: *CertificateError.
func LoadCertificate(certFile, keyFile string, now func() time.Time) (*Certificate, error) {
	wrong := func(format string, args ...any) (*Certificate, error) {
		return nil, &CertificateError{CertFile: certFile, KeyFile: keyFile, Reason: fmt.Sprintf(format, args...)}
	}
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return wrong("%v", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return wrong("%v", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM) // holds the key against the certificate
	if err != nil {
		return wrong("%v", err)
	}
	var chain []*x509.Certificate
	for _, der := range pair.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return wrong("%v", err)
		}
		chain = append(chain, c)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if reason := unfit(chain[0], now()); reason != "" || !ok {
		return wrong("%s", reason)
	}
	return &Certificate{Signer: signer, Chain: chain, certFile: certFile, keyFile: keyFile, now: now}, nil
}

// unfit says what keeps a certificate from signing PDFs; empty: nothing.
func unfit(c *x509.Certificate, now time.Time) string {
	switch key := c.PublicKey.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() {
			return "its key is on " + key.Params().Name + ", and readers of PDFs know P-256 and P-384"
		}
	case *rsa.PublicKey:
		if key.N.BitLen() < leastRSA {
			return fmt.Sprintf("its RSA key has %d bits, fewer than %d", key.N.BitLen(), leastRSA)
		}
	default:
		return "its key is " + c.PublicKeyAlgorithm.String() + ", and readers of PDFs know RSA and ECDSA on P-256 and P-384"
	}
	switch {
	case now.After(c.NotAfter):
		return "the certificate ended on " + c.NotAfter.UTC().Format(time.DateOnly)
	case now.Before(c.NotBefore):
		return "the certificate begins on " + c.NotBefore.UTC().Format(time.DateOnly)
	case c.KeyUsage != 0 && c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0:
		return "its key usage allows no signatures"
	}
	return ""
}
