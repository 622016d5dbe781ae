package secrets

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Purposes of marks. A mark of one purpose is false for every other.
const (
	MarkReport     = "report"
	MarkAssessment = "assessment"
)

// Place is where the event that bears a mark stands.
type Place struct {
	Log      string
	Position int64
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.Log, p.Position) }

// MarkError says that the program did not make a mark, or that it no longer counts.
type MarkError struct {
	At     Place
	None   bool // there is no mark
	Reason string
}

func (e *MarkError) Error() string {
	return fmt.Sprintf("the event at %s was not made by this installation's program: %s", e.At, e.Reason)
}

// markKey is the key from which the keys of all purposes are derived.
func (k *Key) markKey() []byte { return k.derive(purposeMarks) }

// markUnder is HMAC-SHA-256 of a text under the purpose's key.
func markUnder(markKey []byte, purpose string, text []byte) []byte {
	key, err := hkdf.Expand(sha256.New, markKey, purpose, sha256.Size)
	if err != nil {
		panic(err) // only for more than 255 hashes of output
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// Mark is the program's own mark on a text: the current key's fingerprint, a colon, and an HMAC
// in hex. A person with the database and not the key cannot make one. The text has to contain
// everything for which the mark vouches, including the organization, and must have only one
// reading (MarkText).
func (r *Ring) Mark(purpose string, text []byte) string {
	key := r.Current()
	return key.Fingerprint() + ":" + hex.EncodeToString(markUnder(key.markKey(), purpose, text))
}

// MarkText joins fields to the text of a mark: each with its length in front, so that no
// field can be read as a part of its neighbor.
func MarkText(fields ...string) []byte {
	var text bytes.Buffer
	for _, field := range fields {
		fmt.Fprintf(&text, "%d:%s\n", len(field), field)
	}
	return text.Bytes()
}

// HoldKeys makes a change of keys wait for the end of a transaction that marks what it
// appends. Without it a mark could be made under a key, and appended after that was retired.
func HoldKeys(ctx context.Context, tx *sqlx.Tx) error {
	return statement.Exec(ctx, tx, "hold the current key", `SELECT FROM installation WHERE name = $1 FOR KEY SHARE`, SecretKey)
}

// Marks has the data by which marks are checked, read once for any number of them.
type Marks struct {
	ring    *Ring
	keys    map[string][]byte // mark keys of the ring, by fingerprint
	retired map[string]retiredMarks
	begun   begun
}

// retiredMarks is what is kept of a retired key, sealed.
type retiredMarks struct {
	Key   []byte           `json:"key"`
	Until map[string]int64 `json:"until"` // by log: the last position that counts
}

// Marks reads the data by which marks are checked. A process with a key file from before a
// rotation knows neither the marks of the others nor up to where those of its own key count: it
// checks none. Errors: those of Outdated.
func (r *Ring) Marks(ctx context.Context, q sqlx.QueryerContext) (*Marks, error) {
	if err := r.Outdated(ctx, q); err != nil {
		return nil, fmt.Errorf("judge marks: %w", err)
	}
	rows, err := statement.Map[string, []byte](ctx, q, "read what marks are held against", `SELECT name, sealed FROM marks`)
	if err != nil {
		return nil, err
	}
	m := &Marks{ring: r, keys: make(map[string][]byte), retired: make(map[string]retiredMarks)}
	for _, k := range r.Keys() {
		m.keys[k.Fingerprint()] = k.markKey()
	}
	for name, sealed := range rows {
		fingerprint, ok := strings.CutPrefix(name, retiredPrefix)
		if !ok {
			continue
		}
		var kept retiredMarks
		if r.openMarks(name, sealed, &kept) == nil { // one that was changed vouches for nothing
			m.retired[fingerprint] = kept
		}
	}
	m.begun = r.recall(r.begunIn(rows))
	return m, nil
}

// rotatedTo is the mark key of a key that came into the file since the marks were read.
func (m *Marks) rotatedTo(fingerprint string) ([]byte, bool) {
	for _, k := range m.ring.Keys() {
		if k.Fingerprint() == fingerprint {
			return k.markKey(), true
		}
	}
	return nil, false
}

// Marked holds a mark against its text. at is where the event stands: under a retired key a
// mark counts only as far as the log went when the key was retired. Errors: *MarkError.
func (m *Marks) Marked(purpose string, text []byte, mark string, at Place) error {
	if mark == "" {
		return &MarkError{At: at, None: true, Reason: "it has no mark"}
	}
	fingerprint, digits, _ := strings.Cut(mark, ":")
	sum, err := hex.DecodeString(digits)
	if err != nil || len(sum) != sha256.Size {
		return &MarkError{At: at, Reason: "its mark is malformed"}
	}
	key, ok := m.keys[fingerprint]
	if kept, retired := m.retired[fingerprint]; retired { // also where the file still has the key
		if at.Position > kept.Until[at.Log] {
			return &MarkError{At: at, Reason: fmt.Sprintf("its mark is of key %s, which was retired at %s", fingerprint, Place{at.Log, kept.Until[at.Log]})}
		}
		key, ok = kept.Key, true
	}
	if !ok {
		key, ok = m.rotatedTo(fingerprint)
	}
	if !ok {
		return &MarkError{At: at, Reason: "its mark is of a key that this installation does not have"}
	}
	if !hmac.Equal(sum, markUnder(key, purpose, text)) {
		return &MarkError{At: at, Reason: "its mark is of something else"}
	}
	return nil
}

// Before says whether an event may be from a program that made no marks.
func (m *Marks) Before(at Place) bool {
	return m.begun.Open || at.Position <= m.begun.Until[at.Log]
}

// Until is the last position of a log at which an event may be without a mark, and when the log
// had reached it by the database's clock; at is zero if that is not known. open says that
// earlier programs still run, so any event may be.
func (m *Marks) Until(log string) (position int64, at time.Time, open bool) {
	return m.begun.Until[log], m.begun.At, m.begun.Open
}

// Names of rows in marks.
const (
	begunName     = "begun"
	retiredPrefix = "retired "
)

// begun says up to where events are from programs that made no marks.
type begun struct {
	Installation string           `json:"installation"`
	Seq          int64            `json:"seq"` // of two notes the one with the higher counts
	Since        time.Time        `json:"since"`
	Open         bool             `json:"open"`  // programs from before still run: each event may be theirs
	Until        map[string]int64 `json:"until"` // by log
	// At is when the logs went so far, by the database's clock; zero where a shorter log was
	// restored since, and in notes of versions before.
	At time.Time `json:"at,omitzero"`
}

func (b begun) equal(other begun) bool {
	return b.Installation == other.Installation && b.Seq == other.Seq && b.Open == other.Open && maps.Equal(b.Until, other.Until) && b.At.Equal(other.At)
}

// sealMarks and openMarks keep a value in the row of a name.
func (r *Ring) sealMarks(name string, value any) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode what marks are held against: %w", err)
	}
	return r.Seal(plain, []byte("muster marks "+name))
}

func (r *Ring) openMarks(name string, sealed []byte, into any) error {
	plain, err := r.Open(sealed, []byte("muster marks "+name))
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// begunIn is the note in the database's row; empty if it is missing or was changed.
func (r *Ring) begunIn(rows map[string][]byte) (b begun) {
	if sealed, ok := rows[begunName]; !ok || r.openMarks(begunName, sealed, &b) != nil {
		return begun{}
	}
	return b
}

// recall returns the later of a note and the one that this process knows, and remembers it: a
// row that is deleted or set back does not affect a running process.
func (r *Ring) recall(b begun) begun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.Seq > r.begun.Seq {
		r.begun = b
	}
	return r.begun
}

// marksFiles are the places of the note that SQL cannot reach: beside the key file, or in a
// spare directory if an orchestrator provides the key in a read-only one.
func (r *Ring) marksFiles(spare string) []string {
	beside := r.path + ".marks"
	if other := filepath.Join(spare, filepath.Base(beside)); spare != "" && other != beside {
		return []string{beside, other}
	}
	return []string{beside}
}

// begunFile is the latest note in files; empty if there is none of this installation. odd
// describes a fault of an existing file; empty: none.
func begunFile(files []string, installation string) (latest begun, odd string) {
	for _, file := range files {
		var b begun
		content, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(content, &b)
		}
		switch {
		case err != nil:
			odd = fmt.Sprintf("%s cannot be read: %v", file, err)
		case b.Installation != installation:
			odd = fmt.Sprintf("%s is of installation %s, and this one is %s", file, b.Installation, installation)
		case b.Seq > latest.Seq:
			latest = b
		}
	}
	return latest, odd
}

// keepFile replaces the note in the first place in which a file can be created. If there is
// none, only the database's row remains.
func (r *Ring) keepFile(files []string, b begun) error {
	content, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the note of marks: %w", err)
	}
	for _, file := range files {
		err := KeepBeside(r.path, file, content)
		if err != nil && handedIn(file, err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep the note of marks: %w", err)
		}
		return nil
	}
	return nil
}
