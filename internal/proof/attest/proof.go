package attest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/text/uniquekeys"
)

// FileName is the name of a proof, beside a PDF and in it.
const FileName = "proof.json"

// proofV1 names the layout of a proof.
const proofV1 = "muster-proof-1"

// MaxProof bounds the proofs that are read, in bytes. One with tokens has at most 24 KiB.
const MaxProof = 1 << 20

// Proof proves a report to a person who has an installation's keys, and nothing else of it.
type Proof struct {
	Format      string      `json:"format"`
	Origin      string      `json:"origin"`
	Report      Report      `json:"report"`
	Event       Event       `json:"event"` // report.ready
	Attestation Attestation `json:"attestation"`
	// Inclusion proves that the event is in the tree of the checkpoint (RFC 6962, 2.1.1).
	Inclusion           [][]byte `json:"inclusion"`           // base64 in JSON
	Checkpoint          string   `json:"checkpoint"`          // signed note
	CheckpointTimestamp []byte   `json:"checkpointTimestamp"` // RFC 3161 token over the SHA-256 of the note's text; null: there is none
	// Consistency proves that the checkpoint's tree begins with smaller ones (RFC 6962, 2.1.2):
	// that of the report before, of the same organization, and that of the checkpoint before.
	Consistency []Link `json:"consistency,omitempty"`
	Keys        []Key  `json:"keys"` // those that signed, for people; a check trusts its own
}

// Event is a recorded event, whole.
type Event struct {
	Log           string    `json:"log"`
	Position      int64     `json:"position"`
	PreviousHash  string    `json:"previousHash"` // hex: of the event before it
	Hash          string    `json:"hash"`         // hex
	Organization  uuid.UUID `json:"organizationId"`
	StreamType    string    `json:"streamType"`
	Stream        uuid.UUID `json:"streamId"`
	Version       int64     `json:"version,omitempty"` // of its stream; only in earlier proofs, and part of no digest
	Type          string    `json:"type"`
	SchemaVersion int       `json:"schemaVersion"`
	OccurredAt    time.Time `json:"occurredAt"`
	RecordedAt    time.Time `json:"recordedAt"`
	Data          string    `json:"data"` // the exact bytes
	Metadata      string    `json:"metadata"`
}

// NewEvent is an event as a proof carries it; previous is the hash of the one before it.
func NewEvent(e eventstore.Event, previous []byte) (Event, error) {
	if !utf8.Valid(e.Data) || !utf8.Valid(e.Metadata) {
		return Event{}, fmt.Errorf("event %s:%d is no text, which a proof cannot carry", e.Log, e.Position)
	}
	return Event{
		Log: string(e.Log), Position: e.Position, PreviousHash: hex.EncodeToString(previous), Hash: hex.EncodeToString(e.Hash),
		Organization: e.OrganizationID, StreamType: e.StreamType, Stream: e.Stream,
		Type: e.Type, SchemaVersion: e.SchemaVersion, OccurredAt: e.OccurredAt.UTC(), RecordedAt: e.RecordedAt.UTC(),
		Data: string(e.Data), Metadata: string(e.Metadata),
	}, nil
}

// digest computes the event's digest again.
func (e Event) digest() [32]byte {
	return eventstore.Digest(eventstore.Event{
		Log: eventstore.Log(e.Log), OrganizationID: e.Organization, StreamType: e.StreamType, Stream: e.Stream, Type: e.Type,
		SchemaVersion: e.SchemaVersion, OccurredAt: e.OccurredAt, Data: []byte(e.Data), Metadata: []byte(e.Metadata),
	})
}

// leaf is what the tree has of the event.
func (e Event) leaf() []byte {
	digest := e.digest()
	return tree.Leaf(digest[:], e.RecordedAt)
}

// head is the head of the log with this event as its last.
func (e Event) head() (eventstore.Head, error) {
	hash, err := sum(e.Hash)
	return eventstore.Head{Log: eventstore.Log(e.Log), Position: e.Position, Hash: hash}, err
}

// named is what Ready names: digests, and what was asked for.
type named struct {
	Kind         string `json:"kind"` // empty, as the scope: from before it was recorded
	ScopeSHA256  string `json:"scopeSha256"`
	PDFSHA256    string `json:"pdfSha256"`
	InputsSHA256 string `json:"inputsSha256"`
	Files        []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// WholeEvent says whether the event names everything that is attested about the report. Then a
// clock over the log's tree covers all of that, too.
func (p Proof) WholeEvent() bool {
	var says named
	return json.Unmarshal([]byte(p.Event.Data), &says) == nil && says.Kind != "" && says.ScopeSHA256 != ""
}

// marked says whether the event is from a program that marks what it builds.
func (p Proof) marked() bool {
	var says struct {
		Mark *json.RawMessage `json:"mark"`
	}
	return json.Unmarshal([]byte(p.Event.Data), &says) == nil && says.Mark != nil
}

// inputsName is what a report calls its inputs document.
const inputsName = "inputs.json"

// Companion is the name in the proof's event for the file with this digest that goes with the
// PDF: a table or the inputs document. Empty: it is none of them.
func (p Proof) Companion(digest [sha256.Size]byte) string {
	var says named
	if json.Unmarshal([]byte(p.Event.Data), &says) != nil {
		return ""
	}
	found := hex.EncodeToString(digest[:])
	if says.InputsSHA256 == found {
		return inputsName
	}
	for _, f := range says.Files {
		if f.SHA256 == found {
			return f.Name
		}
	}
	return ""
}

// readyType is the wire name of report.Ready, which no program changes.
const readyType = "report.ready"

// Encode writes a proof.
func (p Proof) Encode() ([]byte, error) {
	p.Format = proofV1
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if err := to.Encode(p); err != nil {
		return nil, fmt.Errorf("encode the proof of report %s: %w", p.Report.ID, err)
	}
	return out.Bytes(), nil
}

// ParseProof reads a given proof, without checking its claims. Errors: *MalformedError. A
// version counts as malformed, because nothing that is signed covers it. Only the proof of an
// event from before marks may have one.
func ParseProof(document []byte) (Proof, error) {
	p, err := ParseKept(document)
	if err == nil && p.Event.Version != 0 && p.marked() {
		err = &MalformedError{"proof", "event.version: no signature covers it"}
	}
	return p, err
}

// ParseKept is ParseProof of a proof whose bytes are signed or kept: in a PDF, or by the
// installation. A process of the version before may have made it.
func ParseKept(document []byte) (Proof, error) {
	if len(document) > MaxProof {
		return Proof{}, &MalformedError{"proof", fmt.Sprintf("it has %d bytes", len(document))}
	}
	var p Proof
	if err := uniquekeys.Check(document); err != nil {
		return Proof{}, &MalformedError{"proof", err.Error()}
	}
	if err := json.Unmarshal(document, &p); err != nil {
		return Proof{}, &MalformedError{"proof", err.Error()}
	}
	if p.Format != proofV1 {
		return Proof{}, &MalformedError{"proof", fmt.Sprintf("format %q is not %q", p.Format, proofV1)}
	}
	var wrong []error
	for name, text := range map[string]string{
		"report.pdfSha256": p.Report.PDFSHA256, "report.inputsSha256": p.Report.InputsSHA256, "report.scopeSha256": p.Report.ScopeSHA256,
		"event.hash": p.Event.Hash, "event.previousHash": p.Event.PreviousHash,
	} {
		if _, err := sum(text); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	if _, err := p.Tree(); err != nil {
		wrong = append(wrong, err)
	}
	for _, hash := range p.Inclusion {
		if len(hash) != tlog.HashSize {
			wrong = append(wrong, fmt.Errorf("inclusion: a hash has %d bytes", len(hash)))
			break
		}
	}
	for _, link := range p.Consistency {
		if err := link.wellFormed(); err != nil {
			wrong = append(wrong, err)
			break
		}
	}
	if len(wrong) > 0 {
		return Proof{}, &MalformedError{"proof", errors.Join(wrong...).Error()}
	}
	return p, nil
}

// Tree is what a checkpoint says of a log.
type Tree struct {
	Origin string
	Size   int64
	Root   tlog.Hash
	Text   string // of the note, without signatures
}

// Tree reads the proof's checkpoint, without checking its signatures.
func (p Proof) Tree() (Tree, error) { return ParseCheckpoint(p.Checkpoint) }

// ParseCheckpoint reads a checkpoint (C2SP tlog-checkpoint), without checking its
// signatures.
func ParseCheckpoint(text string) (Tree, error) {
	body, _, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(body, "\n")
	if !ok || len(lines) < 3 || lines[0] == "" {
		return Tree{}, errors.New("checkpoint: wanted origin, size, root, an empty line and signatures")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Tree{}, fmt.Errorf("checkpoint: %q is no size", lines[1])
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return Tree{}, fmt.Errorf("checkpoint: %q is no root", lines[2])
	}
	return Tree{Origin: lines[0], Size: size, Root: tlog.Hash(root), Text: body + "\n"}, nil
}

// Imprint is what a time stamp of a checkpoint is made over.
func (t Tree) Imprint() [32]byte { return sha256.Sum256([]byte(t.Text)) }
