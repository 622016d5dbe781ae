package eventstore

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// exportFormat names the layout of an export in its first line.
const exportFormat = "muster-export-1"

// exportHeader is the first line of an export.
type exportHeader struct {
	Format       string     `json:"format"`
	Organization *uuid.UUID `json:"organizationId"` // null: everybody's events
	Head         Head       `json:"head"`
	// Signed is the head with a signature, which through the chain is one over every line.
	Signed *SignedHead `json:"signedHead,omitempty"`
}

// exportLine is one event. Of another organization's it has only the chain's part.
type exportLine struct {
	Position   int64        `json:"position"`
	RecordedAt time.Time    `json:"recordedAt"`
	Digest     string       `json:"digest"`
	Hash       string       `json:"hash"`
	Event      *exportEvent `json:"event,omitempty"`
}

// exportEvent holds the exact bytes of data and metadata: as a string where they
// are valid UTF-8, else in base64.
type exportEvent struct {
	Organization   uuid.UUID `json:"organizationId"`
	StreamType     string    `json:"streamType"`
	Stream         uuid.UUID `json:"streamId"`
	Version        int64     `json:"version"`
	Type           string    `json:"type"`
	SchemaVersion  int       `json:"schemaVersion"`
	OccurredAt     time.Time `json:"occurredAt"`
	Data           *string   `json:"data,omitempty"`
	DataBase64     []byte    `json:"dataBase64,omitempty"`
	Metadata       *string   `json:"metadata,omitempty"`
	MetadataBase64 []byte    `json:"metadataBase64,omitempty"`
}

// Export writes a log up to the head of now as JSON lines, from which
// VerifyExport can check the chain without the database, and returns that head.
// With an organization, the events of others are opaque: position, recorded
// time, digest and hash. sign signs the head; nil: nobody does.
func (s *Store) Export(ctx context.Context, w io.Writer, log Log, organization uuid.UUID, sign func(Head) SignedHead) (Head, error) {
	head, err := readHead(ctx, s.db, log)
	if err != nil {
		return Head{}, err
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	header := exportHeader{Format: exportFormat, Head: head}
	if sign != nil {
		signed := sign(head)
		header.Signed = &signed
	}
	if organization != uuid.Nil {
		header.Organization = &organization
	}
	if err := lines.Encode(header); err != nil {
		return Head{}, fmt.Errorf("export log %s: %w", log, err)
	}
	err = s.scan(ctx, log, organization, 0, head.Position, func(l *link) error { return lines.Encode(toLine(l)) })
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return Head{}, fmt.Errorf("export log %s: %w", log, err)
	}
	return head, nil
}

func toLine(l *link) exportLine {
	line := exportLine{
		Position: l.Position, RecordedAt: l.RecordedAt,
		Digest: hex.EncodeToString(l.Digest), Hash: hex.EncodeToString(l.Hash),
	}
	if l.own {
		e := &exportEvent{
			Organization: l.OrganizationID, StreamType: l.StreamType, Stream: l.Stream, Version: l.Version,
			Type: l.Type, SchemaVersion: l.SchemaVersion, OccurredAt: l.OccurredAt,
		}
		e.Data, e.DataBase64 = fromBytes(l.Data)
		e.Metadata, e.MetadataBase64 = fromBytes(l.Metadata)
		line.Event = e
	}
	return line
}

func fromBytes(b []byte) (*string, []byte) {
	if !utf8.Valid(b) {
		return nil, b
	}
	text := string(b)
	return &text, nil
}

func toBytes(text *string, encoded []byte) []byte {
	if text != nil {
		return []byte(*text)
	}
	return orEmpty(encoded)
}

// ExportFormatError reports a file that is not an export. Line counts from 1.
type ExportFormatError struct {
	Line   int64
	Reason string
}

func (e *ExportFormatError) Error() string {
	return fmt.Sprintf("not an export: line %d: %s", e.Line, e.Reason)
}

// VerifyExport checks an exported file as Verify checks a log, against the head
// in its first line and the witness. It returns an *ExportFormatError where the
// file cannot be read as an export, an *OtherLogError where it is of another log
// than the witness. Of the options, Organization plays no part:
// the file holds what it holds. Where the file is signed, the signature has to be that of
// the key beside it, over this head, or the error is a *SignatureError; whose key that is
// the caller tells from Verification.Signed.
func VerifyExport(r io.Reader, options VerifyOptions) (Verification, error) {
	lines := json.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	var header exportHeader
	if err := lines.Decode(&header); err != nil {
		return Verification{}, &ExportFormatError{Line: 1, Reason: err.Error()}
	}
	if header.Format != exportFormat {
		return Verification{}, &ExportFormatError{Line: 1, Reason: fmt.Sprintf("format %q is not %q", header.Format, exportFormat)}
	}
	if w := options.Witness; w != nil && w.Log != header.Head.Log {
		return Verification{}, &OtherLogError{Log: header.Head.Log, Witness: *w}
	}
	if s := header.Signed; s != nil {
		if err := VerifySignedHead(s.PublicKey, *s); err != nil {
			return Verification{}, err
		}
		if s.Head.String() != header.Head.String() {
			return Verification{}, &SignatureError{Head: header.Head}
		}
	}
	c := newChain(header.Head.Log, options.Witness)
	d := newDigester()
	for n := int64(2); ; n++ {
		var line exportLine
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Verification{}, &ExportFormatError{Line: n, Reason: err.Error()}
		}
		l, err := line.link(header.Head.Log)
		if err != nil {
			return Verification{}, &ExportFormatError{Line: n, Reason: err.Error()}
		}
		l.intact = !l.own || string(d.sum(&l.Event, nil)) == string(l.Digest)
		c.addLink(&l)
		if options.Progress != nil && n%progressEvery == 0 {
			options.Progress(l.Position, header.Head.Position)
		}
	}
	report := c.finish(header.Head)
	report.Signed = header.Signed
	return *report, nil
}

func (line *exportLine) link(log Log) (link, error) {
	l := link{Event: Event{Log: log, Position: line.Position, RecordedAt: line.RecordedAt}}
	var err error
	if l.Digest, err = parseSum(line.Digest); err != nil {
		return l, fmt.Errorf("digest: %w", err)
	}
	if l.Hash, err = parseSum(line.Hash); err != nil {
		return l, fmt.Errorf("hash: %w", err)
	}
	if e := line.Event; e != nil {
		l.own = true
		l.OrganizationID, l.StreamType, l.Stream, l.Version = e.Organization, e.StreamType, e.Stream, e.Version
		l.Type, l.SchemaVersion, l.OccurredAt = e.Type, e.SchemaVersion, e.OccurredAt
		l.Data, l.Metadata = toBytes(e.Data, e.DataBase64), toBytes(e.Metadata, e.MetadataBase64)
	}
	return l, nil
}
