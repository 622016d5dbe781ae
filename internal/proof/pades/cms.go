package pades

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
)

// Object identifiers of RFC 5652 (CMS), RFC 5035 (signing-certificate-v2) and RFC 3161.
var (
	oidData            = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidCertificate     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidTimeStamp       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}
	oidSHA256          = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidECDSAWithSHA256 = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
	oidRSA             = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
)

// contentInfo and what it holds are RFC 5652's, as far as a PAdES signature has them: one
// signer, named by issuer and number, over bytes that are elsewhere.
type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content signedData `asn1:"explicit,tag:0"`
}

type signedData struct {
	Version          int
	DigestAlgorithms []pkix.AlgorithmIdentifier `asn1:"set"`
	Encapsulated     struct{ Type asn1.ObjectIdentifier }
	Certificates     []asn1.RawValue `asn1:"set,tag:0"`
	Signers          []signerInfo    `asn1:"set"`
}

type signerInfo struct {
	Version            int
	Signer             issuerAndSerial
	DigestAlgorithm    pkix.AlgorithmIdentifier
	Signed             asn1.RawValue `asn1:"tag:0"`
	SignatureAlgorithm pkix.AlgorithmIdentifier
	Signature          []byte
	Unsigned           []attribute `asn1:"set,optional,omitempty,tag:1"`
}

type issuerAndSerial struct {
	Issuer asn1.RawValue
	Serial *big.Int
}

type attribute struct {
	Type   asn1.ObjectIdentifier
	Values []asn1.RawValue `asn1:"set"`
}

// signingCertificate is that of RFC 5035; the digest is SHA-256 where nothing else is said.
type signingCertificate struct{ Certificates []certificateID }

type certificateID struct{ Hash []byte }

// algorithm is how a certificate's key signs; ok is false for keys that readers of PDF do
// not take.
func algorithm(of *x509.Certificate) (id pkix.AlgorithmIdentifier, how x509.SignatureAlgorithm, ok bool) {
	switch of.PublicKey.(type) {
	case *ecdsa.PublicKey:
		return pkix.AlgorithmIdentifier{Algorithm: oidECDSAWithSHA256}, x509.ECDSAWithSHA256, true
	case *rsa.PublicKey:
		return pkix.AlgorithmIdentifier{Algorithm: oidRSA, Parameters: asn1.NullRawValue}, x509.SHA256WithRSA, true
	}
	return pkix.AlgorithmIdentifier{}, x509.UnknownSignatureAlgorithm, false
}

// attributesOf are the signed ones, as DER of a SET: signed so, and written with another
// first byte.
func attributesOf(certificate *x509.Certificate, digest [sha256.Size]byte) ([]byte, error) {
	bound := sha256.Sum256(certificate.Raw)
	var all []attribute
	for _, a := range []struct {
		id    asn1.ObjectIdentifier
		value any
	}{
		{oidContentType, oidData},
		{oidMessageDigest, digest[:]},
		{oidCertificate, signingCertificate{[]certificateID{{bound[:]}}}},
	} {
		value, err := asn1.Marshal(a.value)
		if err != nil {
			return nil, err
		}
		all = append(all, attribute{a.id, []asn1.RawValue{{FullBytes: value}}})
	}
	return asn1.MarshalWithParams(all, "set")
}

// signDigest makes the CMS over content of a SHA-256 digest. stamp is asked for a time
// stamp, where there is one. Errors: *StampError; those of the key.
func signDigest(digest [sha256.Size]byte, key crypto.Signer, chain []*x509.Certificate, stamp func(value []byte) ([]byte, error)) ([]byte, error) {
	id, _, _ := algorithm(chain[0])
	signed, err := attributesOf(chain[0], digest)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(signed)
	random := rand.Reader
	if _, ok := key.(*ecdsa.PrivateKey); ok {
		random = nil // RFC 6979: the same file has the same signature
	}
	value, err := key.Sign(random, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	hash := pkix.AlgorithmIdentifier{Algorithm: oidSHA256}
	signer := signerInfo{
		Version: 1, Signer: issuerAndSerial{asn1.RawValue{FullBytes: chain[0].RawIssuer}, chain[0].SerialNumber},
		DigestAlgorithm: hash, Signed: asn1.RawValue{FullBytes: retag(signed, 0xA0)}, SignatureAlgorithm: id, Signature: value,
	}
	if stamp != nil {
		token, err := stamp(value)
		if err != nil {
			return nil, &StampError{Cause: err}
		}
		signer.Unsigned = []attribute{{oidTimeStamp, []asn1.RawValue{{FullBytes: token}}}}
	}
	data := signedData{Version: 1, DigestAlgorithms: []pkix.AlgorithmIdentifier{hash}, Signers: []signerInfo{signer}}
	data.Encapsulated.Type = oidData
	for _, certificate := range chain {
		data.Certificates = append(data.Certificates, asn1.RawValue{FullBytes: certificate.Raw})
	}
	return asn1.Marshal(contentInfo{oidSignedData, data})
}

// retag is DER with another first byte.
func retag(der []byte, tag byte) []byte { return slices.Concat([]byte{tag}, der[1:]) }

// readCMS reads the one form that signDigest writes. Errors: *SignatureError.
func readCMS(der []byte) (signer signerInfo, attributes []byte, err error) {
	not := func(reason string) (signerInfo, []byte, error) {
		return signerInfo{}, nil, &SignatureError{NotASignature, reason}
	}
	var content contentInfo
	rest, err := asn1.Unmarshal(der, &content)
	if err != nil || len(rest) > 0 || !content.Type.Equal(oidSignedData) {
		return not("no CMS of signed data")
	}
	// Written again it is the same: nothing hides where these types do not look.
	if again, err := asn1.Marshal(content); err != nil || !bytes.Equal(again, der) {
		return not("a CMS with more in it than a signature has")
	}
	data := content.Content
	if !data.Encapsulated.Type.Equal(oidData) || len(data.Signers) != 1 {
		return not("wanted one signer over data that are elsewhere")
	}
	signer = data.Signers[0]
	if !signer.DigestAlgorithm.Algorithm.Equal(oidSHA256) {
		return not("the digest is not SHA-256")
	}
	return signer, retag(signer.Signed.FullBytes, 0x31), nil
}

// token is the time stamp among the unsigned attributes, nil where there is none. Errors:
// *SignatureError where there is anything else.
func (s *signerInfo) token() ([]byte, error) {
	switch {
	case len(s.Unsigned) == 0:
		return nil, nil
	case len(s.Unsigned) > 1 || !s.Unsigned[0].Type.Equal(oidTimeStamp) || len(s.Unsigned[0].Values) != 1:
		return nil, &SignatureError{NotASignature, "an unsigned attribute that is not a time stamp"}
	}
	return s.Unsigned[0].Values[0].FullBytes, nil
}

// isBy says whether a certificate is the one that is named as the signer's.
func (s *signerInfo) isBy(c *x509.Certificate) bool {
	return s.Signer.Serial != nil && s.Signer.Serial.Cmp(c.SerialNumber) == 0 && bytes.Equal(s.Signer.Issuer.FullBytes, c.RawIssuer)
}
