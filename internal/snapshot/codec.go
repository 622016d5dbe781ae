package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// VersionError says that a document was written in a form that this program
// cannot read: a newer one, or one that never existed.
type VersionError struct {
	Got       int
	Supported int // the newest form that is read
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("inputs document has form %d, this program reads 1 to %d", e.Got, e.Supported)
}

// Encode returns the canonical bytes of a document. It normalizes a copy, so
// the caller's document stays as it is and may be shared. The schema version
// written is always the current one.
func Encode(doc Document) ([]byte, error) {
	doc = Normalize(doc)
	doc.Schema = SchemaVersion
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode inputs document of report %s: %w", doc.ReportID, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Decode reads what Encode wrote, in this release or an earlier one.
// errors.As target: *VersionError.
func Decode(data []byte) (Document, error) {
	return decode(data, SchemaVersion, upcasters)
}

// Digest returns the SHA-256 of canonical bytes as lower-case hex, the form in
// which events and the PDF carry it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// upcaster lifts a document from one form to the next one up.
type upcaster func(data []byte) ([]byte, error)

// upcasters holds, under n, what turns form n into form n+1. Form 1 is the
// first ever shipped; add here and never change an entry.
var upcasters = map[int]upcaster{
	1: asForm(2), // exceptions: there were none when form 1 was written
	2: withoutTemplates,
}

// withoutTemplates lifts form 2. Its checks had templates of statements, with
// {object} and … for what was not known and no word of what they do; they are not
// printed again. It knew no title of a check for when it passes, no impact and no
// fixes.
func withoutTemplates(data []byte) ([]byte, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	var checks []map[string]json.RawMessage
	if err := json.Unmarshal(doc["checks"], &checks); err != nil {
		return nil, err
	}
	for _, check := range checks {
		delete(check, "statement")
	}
	var err error
	if doc["checks"], err = json.Marshal(checks); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	return asForm(3)(data)
}

// asForm lifts a form to one that has more fields: those that are absent are
// read as empty.
func asForm(n int) upcaster {
	return func(data []byte) ([]byte, error) {
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		doc["schema"] = json.RawMessage(strconv.Itoa(n))
		return json.Marshal(doc)
	}
}

func decode(data []byte, current int, lift map[int]upcaster) (Document, error) {
	for {
		var head struct {
			Schema int `json:"schema"`
		}
		if err := json.Unmarshal(data, &head); err != nil {
			return Document{}, fmt.Errorf("read inputs document: %w", err)
		}
		if head.Schema == current {
			return decodeCurrent(data)
		}
		up, ok := lift[head.Schema]
		if !ok || head.Schema > current {
			return Document{}, &VersionError{Got: head.Schema, Supported: current}
		}
		lifted, err := up(data)
		if err != nil {
			return Document{}, fmt.Errorf("lift inputs document from form %d: %w", head.Schema, err)
		}
		data = lifted
	}
}

func decodeCurrent(data []byte) (Document, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var doc Document
	if err := dec.Decode(&doc); err != nil {
		return Document{}, fmt.Errorf("read inputs document: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Document{}, errors.New("read inputs document: bytes after its end")
	}
	return Normalize(doc), nil
}
