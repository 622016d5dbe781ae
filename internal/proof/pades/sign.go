package pades

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Update is what Sign appends to a base.
type Update struct {
	Attachment []byte // proof.json
	Key        crypto.Signer
	Chain      []*x509.Certificate // the key's certificate first, then those that issued it
	At         time.Time           // the time that the signature claims, to the second
	// Stamp gets an RFC 3161 token over the SHA-256 of the signature's value; nil: none
	// is wanted.
	Stamp func(ctx context.Context, digest []byte) (token []byte, err error)
}

// MaxToken is the largest time stamp that a signature has room for. What an update
// reserves for one it keeps, in zeros: how long a token will be is known when all but the
// token is signed.
const MaxToken = 16 << 10

// reason is what the signature says it is for.
const reason = "Built by Muster. The attached " + FileName + " says how to check this report without Muster."

const longestName = 100 // UTF-16 units of a certificate's common name

// Sign appends one incremental update to a PDF of our renderer: the attachment, and a
// signature over the whole file.
//
// ECDSA and RSA keys sign, with SHA-256. The base is a byte-for-byte prefix of what comes
// back. Errors: *BaseError, *KeyError, *StampError; those of the key.
func Sign(ctx context.Context, file []byte, u Update) ([]byte, error) {
	if i := bytes.Index(file, []byte(endOfFile+marker)); i >= 0 {
		return nil, &BaseError{Offset: i, Reason: "it is signed already"}
	}
	b, err := readBase(file)
	if err != nil {
		return nil, err
	}
	if err := u.check(); err != nil {
		return nil, err
	}
	made := b.layOut(values{
		proof: u.Attachment, at: u.At.UTC().Format(dateLayout),
		name: textString(u.Chain[0].Subject.CommonName), reason: textString(reason), room: u.room(),
	})
	signed := slices.Concat(file, made.text)
	var stamp func(value []byte) ([]byte, error)
	if u.Stamp != nil {
		stamp = func(value []byte) ([]byte, error) {
			digest := sha256.Sum256(value)
			token, err := u.Stamp(ctx, digest[:])
			if err == nil && len(token) > MaxToken {
				err = fmt.Errorf("the token has %d bytes; there is room for %d", len(token), MaxToken)
			}
			return token, err
		}
	}
	cms, err := signDigest(covered(signed[:made.from], signed[made.to:]), u.Key, u.Chain, stamp)
	if err != nil {
		return nil, fmt.Errorf("sign the PDF: %w", err)
	}
	hex.Encode(signed[made.from+1:], cms)
	return signed, nil
}

const dateLayout = "20060102150405"

// check holds key and chain together. Errors: *KeyError.
func (u *Update) check() error {
	if len(u.Chain) == 0 {
		return &KeyError{Reason: "there is no certificate"}
	}
	if _, _, ok := algorithm(u.Chain[0]); !ok {
		return &KeyError{Reason: "readers of PDF take ECDSA and RSA, not " + u.Chain[0].PublicKeyAlgorithm.String()}
	}
	public, ok := u.Key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(u.Chain[0].PublicKey) {
		return &KeyError{Reason: "the first certificate is not that of the key"}
	}
	if year := u.At.UTC().Year(); year < 1 || year > 9999 {
		return &KeyError{Reason: fmt.Sprintf("the year %d has no form in a PDF", year)}
	}
	return nil
}

// room is how many bytes the CMS may take: a function of the chain, so that the same
// update has the same length. What is no certificate and no token takes 300 bytes, names
// of the issuer and the signature apart.
func (u *Update) room() int {
	room := 512 + len(u.Chain[0].RawIssuer) + 512 // RSA-4096
	for _, certificate := range u.Chain {
		room += len(certificate.Raw)
	}
	if u.Stamp != nil {
		room += MaxToken
	}
	return room
}

// covered is the digest over what a signature covers.
func covered(before, after []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(before)
	h.Write(after)
	h.Sum(sum[:0])
	return sum
}

// textString is text as a PDF has it, UTF-16 with a mark, in hexadecimal digits.
func textString(s string) string {
	units := utf16.Encode([]rune(s))
	var text strings.Builder
	text.WriteString("FEFF")
	for _, unit := range units[:min(len(units), longestName)] {
		fmt.Fprintf(&text, "%04X", unit)
	}
	return text.String()
}
