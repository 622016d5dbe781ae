package secrets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"strconv"
	"time"
)

// PDFSigner returns the ECDSA P-256 key that signs PDFs: readers of PDFs check no Ed25519.
func (k *Key) PDFSigner() (*ecdsa.PrivateKey, error) {
	// Not every 32 bytes are a key: one try in 2³² is above the curve's order.
	for try := 0; ; try++ {
		purpose := purposePDF
		if try > 0 {
			purpose += " " + strconv.Itoa(try)
		}
		signer, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), k.derive(purpose))
		if err == nil {
			return signer, nil
		}
		if try == 8 {
			return nil, fmt.Errorf("derive the key that signs PDFs: %w", err)
		}
	}
}

// A certificate's dates are the same for all, for a key file says nothing of its age.
// When a key was published, and until when it signed, is in the log keys (package signing).
var (
	certificateFrom = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	certificateTo   = time.Date(2126, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// PDFCertificate returns the key's own certificate in DER, signed by itself. It is the same
// bytes in every process: serial, dates and signature follow from key and installation.
func (k *Key) PDFCertificate(installation string) ([]byte, error) {
	signer, err := k.PDFSigner()
	if err != nil {
		return nil, err
	}
	spki, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, fmt.Errorf("encode the key that signs PDFs: %w", err)
	}
	serial := sha256.Sum256(spki)
	serial[0] &= 0x7f // a serial is positive, and has at most 20 bytes (RFC 5280, 4.1.2.2)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:16]),
		Subject:      pkix.Name{CommonName: "Muster " + installation[:min(8, len(installation))]},
		NotBefore:    certificateFrom, NotAfter: certificateTo,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(nil, template, template, signer.Public(), signer) // nil: RFC 6979
	if err != nil {
		return nil, fmt.Errorf("make the certificate for PDFs: %w", err)
	}
	return der, nil
}
