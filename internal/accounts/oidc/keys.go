package oidc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/go-jose/go-jose/v4"
)

// usableKeys reads answers with a key set, and leaves out of them what cannot have signed
// a token: keys of a type, curve or form that nobody here knows, broken ones, and those
// for encryption (RFC 7517, section 5: a key that is not understood is to be ignored).
// go-oidc fails over a whole set because of one such key, a curve of secp256k1 for one.
type usableKeys struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u usableKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	text = usable(text)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, nil
}

// usable is a key set without the keys that are of no use. What is no key set stays as it
// is: go-oidc says so.
func usable(text []byte) []byte {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || set.Keys == nil {
		return text
	}
	kept := []json.RawMessage{}
	for _, key := range set.Keys {
		if key, ok := signing(key); ok {
			kept = append(kept, key)
		}
	}
	text, _ = json.Marshal(map[string]any{"keys": kept}) // it was read as JSON a moment ago
	return text
}

// signing is a key with the members that say what it is, and whether it may be one that
// signs. A certificate beside it is not looked at, so a broken one is no harm.
func signing(text json.RawMessage) (key json.RawMessage, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil, false
	}
	for name := range members {
		switch name {
		case "kty", "kid", "alg", "use", "n", "e", "crv", "x", "y":
		default:
			delete(members, name)
		}
	}
	key, err := json.Marshal(members)
	var known jose.JSONWebKey
	return key, err == nil && known.UnmarshalJSON(key) == nil && (known.Use == "" || known.Use == "sig")
}
