package eventstore

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster/eventstore/witness"
	"muster/internal/text/uniquekeys"
)

// Head is the last position of a log with its hash. Kept outside the database, on paper or in a
// mail, it is the witness: after a change of any event up to it, the chain ends in another
// hash.
type Head struct {
	Log      Log
	Position int64
	Hash     []byte
}

// String is the head as everything prints it and --witness takes it:
// log:position:hash (package witness).
func (h Head) String() string {
	return witness.Format(string(h.Log), h.Position, hex.EncodeToString(h.Hash))
}

// ParseWitness reads a head in each form in which it is printed: log:position:hash,
// without a log one of reports, and the signed head of `muster events head`, as a
// line or as JSON, whose signature has to be that of the key beside it. Errors:
// *witness.FormatError, and *SignatureError where such a line was changed.
func ParseWitness(text string) (Head, error) {
	text = strings.TrimSpace(text)
	var signed SignedHead
	var err error
	switch {
	case strings.HasPrefix(text, "{"):
		if uniquekeys.Check([]byte(text)) != nil || json.Unmarshal([]byte(text), &signed) != nil {
			return Head{}, &witness.FormatError{Reason: "the JSON is not that of a signed head"}
		}
	case strings.HasPrefix(text, signedPrefix):
		if signed, err = ParseSignedHead(text); err != nil {
			return Head{}, err
		}
	default:
		return parseHead(text)
	}
	return signed.Head, VerifySignedHead(signed.PublicKey, signed)
}

func parseHead(text string) (Head, error) {
	log, position, hash, err := witness.Parse(text)
	if err != nil {
		return Head{}, err
	}
	if !slices.Contains(Logs, Log(log)) {
		return Head{}, &witness.FormatError{Reason: fmt.Sprintf("there is no log %q, only %v", log, Logs)}
	}
	return Head{Log: Log(log), Position: position, Hash: hash}, nil
}

func parseSum(s string) ([]byte, error) {
	sum, err := hex.DecodeString(s)
	if err != nil || len(sum) != sha256.Size {
		return nil, errors.New("has to be 64 hexadecimal digits")
	}
	return sum, nil
}

type headJSON struct {
	Log      Log    `json:"log"`
	Position int64  `json:"position"`
	Hash     string `json:"hash"`
}

// MarshalJSON writes the hash in hex, as footers and mails print it.
func (h Head) MarshalJSON() ([]byte, error) {
	return json.Marshal(headJSON{Log: h.Log, Position: h.Position, Hash: hex.EncodeToString(h.Hash)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Head) UnmarshalJSON(b []byte) error {
	var j headJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	head, err := parseHead(witness.Format(string(j.Log), j.Position, j.Hash))
	*h = head
	return err
}

// SignedHead is a head with the signature of the installation that had it.
type SignedHead struct {
	Head      Head              `json:"head"`
	PublicKey ed25519.PublicKey `json:"publicKey"` // base64 in JSON
	Signature []byte            `json:"signature"` // base64 in JSON
}

// signedPrefix keeps a signature over a head from being one over anything else.
const signedPrefix = "muster-head-1"

func signedMessage(h Head) []byte {
	return fmt.Appendf(nil, "%s %s %d:%x", signedPrefix, h.Log, h.Position, h.Hash)
}

// SignHead signs a head.
func SignHead(key ed25519.PrivateKey, head Head) SignedHead {
	public, _ := key.Public().(ed25519.PublicKey)
	return SignedHead{Head: head, PublicKey: public, Signature: ed25519.Sign(key, signedMessage(head))}
}

// SignatureError reports a head that the wanted key did not sign.
type SignatureError struct{ Head Head }

func (e *SignatureError) Error() string {
	return fmt.Sprintf("head %s was not signed by this key", e.Head)
}

// VerifySignedHead checks a signature with the installation's public key, got
// from somewhere else than the signed head itself. It returns a *SignatureError.
func VerifySignedHead(key ed25519.PublicKey, signed SignedHead) error {
	if len(key) != ed25519.PublicKeySize || !key.Equal(signed.PublicKey) ||
		!ed25519.Verify(key, signedMessage(signed.Head), signed.Signature) {
		return &SignatureError{Head: signed.Head}
	}
	return nil
}

// String is the signed head as one line of text: the signed message, the public
// key and the signature.
func (s SignedHead) String() string {
	return fmt.Sprintf("%s %s %s", signedMessage(s.Head),
		base64.StdEncoding.EncodeToString(s.PublicKey), base64.StdEncoding.EncodeToString(s.Signature))
}

// ParseSignedHead reads what SignedHead.String wrote. It checks no signature.
func ParseSignedHead(line string) (SignedHead, error) {
	parts := strings.Fields(line)
	if len(parts) != 5 || parts[0] != signedPrefix {
		return SignedHead{}, &witness.FormatError{Reason: "wanted " + signedPrefix + " log position:hash key signature"}
	}
	head, err := parseHead(parts[1] + ":" + parts[2])
	if err != nil {
		return SignedHead{}, err
	}
	key, keyErr := base64.StdEncoding.DecodeString(parts[3])
	signature, signatureErr := base64.StdEncoding.DecodeString(parts[4])
	if keyErr != nil || signatureErr != nil {
		return SignedHead{}, &witness.FormatError{Reason: "key and signature have to be base64"}
	}
	return SignedHead{Head: head, PublicKey: key, Signature: signature}, nil
}
