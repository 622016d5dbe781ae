package timestamp

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/digitorus/pkcs7"
	rfc3161 "github.com/digitorus/timestamp"
)

// Stamped is what a token proves.
type Stamped struct {
	At     time.Time         // when the digest was known, by the authority's clock
	Signer *x509.Certificate // the authority's
}

// TokenError reports a token that does not hold.
type TokenError struct{ Reason string }

func (e *TokenError) Error() string { return "the time stamp does not hold: " + e.Reason }

// Verify judges a token over a SHA-256 digest. The chain to one of the roots is judged at
// the token's own time; with roots nil it is not, and Stamped.Signer is whoever says so.
// Errors: *TokenError.
func Verify(token, digest []byte, roots *x509.CertPool) (Stamped, error) {
	return verify(token, digest, roots, nil)
}

// verify is Verify, with the nonce that the token has to have; nil: any.
func verify(token, digest []byte, roots *x509.CertPool, nonce *big.Int) (Stamped, error) {
	not := func(format string, a ...any) (Stamped, error) {
		return Stamped{}, &TokenError{fmt.Sprintf(format, a...)}
	}
	if len(token) > MaxSize {
		return not("it has more than %d bytes", MaxSize)
	}
	cms, err := pkcs7.Parse(token)
	if err != nil {
		return not("it is no CMS: %v", err)
	}
	signer := cms.GetOnlySigner()
	if signer == nil {
		return not("it has no certificate of its one signer with it")
	}
	var content asn1.ObjectIdentifier
	if err := cms.UnmarshalSignedAttribute(oidContentType, &content); err != nil || !content.Equal(oidTSTInfo) {
		return not("what was signed is no time stamp")
	}
	stamp, err := rfc3161.Parse(token) // verifies the signature, because there are certificates
	if err != nil {
		return not("%v", err)
	}
	if stamp.HashAlgorithm != crypto.SHA256 || !bytes.Equal(stamp.HashedMessage, digest) {
		return not("it is over another digest")
	}
	if nonce != nil && (stamp.Nonce == nil || stamp.Nonce.Cmp(nonce) != 0) {
		return not("it answers another question: the nonce is not ours")
	}
	if !binds(cms, signer) {
		return not("it does not bind the certificate of %s", signer.Subject)
	}
	if !onlyStampsTime(signer) {
		return not("the certificate of %s is not one for time stamps alone", signer.Subject)
	}
	if stamp.Time.Before(signer.NotBefore) || stamp.Time.After(signer.NotAfter) {
		return not("at %s the certificate of %s was not valid", stamp.Time.UTC().Format(time.RFC3339), signer.Subject)
	}
	if roots != nil {
		if err := chain(signer, cms.Certificates, roots, stamp.Time); err != nil {
			return not("%v", err)
		}
	}
	return Stamped{At: stamp.Time.UTC(), Signer: signer}, nil
}

// chain leads from a certificate to one of the roots, at a time.
func chain(from *x509.Certificate, through []*x509.Certificate, roots *x509.CertPool, at time.Time) error {
	pool := x509.NewCertPool()
	for _, c := range through {
		pool.AddCert(c)
	}
	_, err := from.Verify(x509.VerifyOptions{Roots: roots, Intermediates: pool, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}})
	return err
}

var (
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidTSTInfo       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidCertificateV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidExtKeyUsage   = asn1.ObjectIdentifier{2, 5, 29, 37}
)

var hashes = []struct {
	id   asn1.ObjectIdentifier
	hash crypto.Hash
}{
	{pkcs7.OIDDigestAlgorithmSHA256, crypto.SHA256},
	{pkcs7.OIDDigestAlgorithmSHA384, crypto.SHA384},
	{pkcs7.OIDDigestAlgorithmSHA512, crypto.SHA512},
}

// binds says whether the signed attributes name the signer's certificate (RFC 3161, 2.4.2;
// RFC 5816): otherwise another one for the same key could be put in its place.
func binds(cms *pkcs7.PKCS7, signer *x509.Certificate) bool {
	var v2 struct {
		Certificates []struct {
			Algorithm pkix.AlgorithmIdentifier `asn1:"optional"`
			Hash      []byte
			Issuer    asn1.RawValue `asn1:"optional"`
		}
		Policies asn1.RawValue `asn1:"optional"`
	}
	if cms.UnmarshalSignedAttribute(oidCertificateV2, &v2) == nil && len(v2.Certificates) > 0 {
		first, hash := v2.Certificates[0], crypto.SHA256
		if first.Algorithm.Algorithm != nil {
			i := slices.IndexFunc(hashes, func(h struct {
				id   asn1.ObjectIdentifier
				hash crypto.Hash
			}) bool {
				return h.id.Equal(first.Algorithm.Algorithm)
			})
			if i < 0 {
				return false
			}
			hash = hashes[i].hash
		}
		h := hash.New()
		h.Write(signer.Raw)
		return bytes.Equal(h.Sum(nil), first.Hash)
	}
	var v1 struct {
		Certificates []struct {
			Hash   []byte
			Issuer asn1.RawValue `asn1:"optional"`
		}
		Policies asn1.RawValue `asn1:"optional"`
	}
	if cms.UnmarshalSignedAttribute(oidCertificate, &v1) != nil || len(v1.Certificates) == 0 {
		return false
	}
	sum := sha1.Sum(signer.Raw)
	return bytes.Equal(sum[:], v1.Certificates[0].Hash)
}

// onlyStampsTime says whether a certificate is for time stamps and nothing else, and says
// so critically (RFC 3161, 2.3).
func onlyStampsTime(c *x509.Certificate) bool {
	i := slices.IndexFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(oidExtKeyUsage) })
	return i >= 0 && c.Extensions[i].Critical && len(c.UnknownExtKeyUsage) == 0 &&
		slices.Equal(c.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping})
}
