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

// VersionError says that a document has a form that this program cannot read: a newer one, or
// one that never existed.
type VersionError struct {
	Got       int
	Supported int // the newest form that is read
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("inputs document has form %d, this program reads 1 to %d", e.Got, e.Supported)
}

// Canonical is a document in canonical form: its content, its bytes and their Digest, which
// take as long to make as half of the pages. It must not be changed.
type Canonical struct {
	Document Document
	Bytes    []byte
	Digest   string
}

// Canonicalize normalizes a copy, so the caller's document stays as it is and may be
// shared. The schema version written is always the current one.
func Canonicalize(doc Document) (Canonical, error) {
	doc = Normalize(doc)
	doc.Schema = SchemaVersion
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return Canonical{}, fmt.Errorf("encode inputs document of report %s: %w", doc.ReportID, err)
	}
	data := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return Canonical{Document: doc, Bytes: data, Digest: Digest(data)}, nil
}

// Encode returns the canonical bytes of a document.
func Encode(doc Document) ([]byte, error) {
	c, err := Canonicalize(doc)
	return c.Bytes, err
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

// upcasters has, under n, the function that turns form n into form n+1. Form 1 is the first
// ever shipped; add here and never change an entry.
var upcasters = map[int]upcaster{
	1: asForm(2), // exceptions: there were none when form 1 was written
	2: withoutTemplates,
}

// withoutTemplates lifts form 2. Its checks had templates of statements, with {object} and …
// for unknown parts and no word about their effect; they are not printed again. It had no title
// of a check for a pass, no impact and no fixes.
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

// asForm lifts a form to one that has more fields: missing ones are read as empty.
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
		form, err := formOf(data)
		if err != nil {
			return Document{}, fmt.Errorf("read inputs document: %w", err)
		}
		if form == current {
			return decodeCurrent(data)
		}
		up, ok := lift[form]
		if !ok || form > current {
			return Document{}, &VersionError{Got: form, Supported: current}
		}
		lifted, err := up(data)
		if err != nil {
			return Document{}, fmt.Errorf("lift inputs document from form %d: %w", form, err)
		}
		data = lifted
	}
}

// formOf is the form of a document. Encode writes it first, which spares reading all.
func formOf(data []byte) (int, error) {
	if rest, ok := bytes.CutPrefix(data, []byte(`{"schema":`)); ok {
		if number, _, ok := bytes.Cut(rest[:min(len(rest), 10)], []byte(",")); ok {
			if form, err := strconv.Atoi(string(number)); err == nil {
				return form, nil
			}
		}
	}
	var head struct {
		Schema int `json:"schema"`
	}
	err := json.Unmarshal(data, &head)
	return head.Schema, err
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
