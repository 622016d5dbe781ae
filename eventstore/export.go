package eventstore

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/internal/text/uniquekeys"
)

// The layouts of an export, which its first line names.
const (
	exportV1 = "muster-export-1" // its signature is over the head, and so over the chain alone
	exportV2 = "muster-export-2" // its signature is over the whole file
)

// exportHeader is the first line of an export.
type exportHeader struct {
	Format       string     `json:"format"`
	Organization *uuid.UUID `json:"organizationId"` // null: everybody's events
	Head         Head       `json:"head"`
	Body         string     `json:"body,omitempty"`      // SHA-256 of all bytes behind this line, hex
	Positions    string     `json:"positions,omitempty"` // of the events that are shown whole: 1-3,5,8-9
	ExportSignature

	// HeadSigned is all the signature that exportV1 has.
	HeadSigned *SignedHead `json:"signedHead,omitempty"`
}

// ExportSignature is the signature over an export's Statement.
type ExportSignature struct {
	PublicKey ed25519.PublicKey `json:"publicKey,omitempty"` // base64 in JSON
	Signature []byte            `json:"signature,omitempty"` // base64 in JSON
}

// statement is the text that an export's signature is over.
func (h exportHeader) statement() []byte {
	organization := "-"
	if h.Organization != nil {
		organization = h.Organization.String()
	}
	return fmt.Appendf(nil, "%s\norganization %s\nhead %s\nbody %s\npositions %s\n", exportV2, organization, h.Head, h.Body, h.Positions)
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

// Export writes a log up to its current head as JSON lines, from which VerifyExport can check
// the chain without the database, and returns that head. With an organization, the events of
// others are opaque: position, recorded time, digest and hash. key signs the file; nil: it is
// not signed.
//
// The first line has the digest of all others and the positions that are shown, so the log is
// read twice. Data of an organization is not written to a temporary file, and a reader checks
// the signature before it reads the rest.
func (s *Store) Export(ctx context.Context, w io.Writer, log Log, organization uuid.UUID, key ed25519.PrivateKey) (Head, error) {
	head, err := readHead(ctx, s.db, log)
	if err != nil {
		return Head{}, err
	}
	header := exportHeader{Format: exportV2, Head: head}
	if organization != uuid.Nil {
		header.Organization = &organization
	}
	body, shown, err := s.exportBody(ctx, io.Discard, head, organization)
	if err == nil {
		header.Body, header.Positions = hex.EncodeToString(body), shown.String()
		if key != nil {
			header.PublicKey, _ = key.Public().(ed25519.PublicKey)
			header.Signature = ed25519.Sign(key, header.statement())
		}
		buffered := bufio.NewWriterSize(w, 1<<16)
		if err = exportLines(buffered).Encode(header); err == nil {
			var written []byte
			written, _, err = s.exportBody(ctx, buffered, head, organization)
			err = errors.Join(err, buffered.Flush())
			if err == nil && !bytes.Equal(written, body) {
				err = errors.New("its events changed while it was written")
			}
		}
	}
	if err != nil {
		return Head{}, fmt.Errorf("export log %s: %w", log, err)
	}
	return head, nil
}

// exportBody writes a line an event, and returns their digest and what is shown whole.
func (s *Store) exportBody(ctx context.Context, w io.Writer, head Head, organization uuid.UUID) ([]byte, spans, error) {
	sum := sha256.New()
	lines := exportLines(io.MultiWriter(w, sum))
	var shown spans
	err := s.scan(ctx, head.Log, organization, 0, head.Position, func(l *link) error {
		if l.own {
			shown.add(l.Position)
		}
		return lines.Encode(toLine(l))
	})
	return sum.Sum(nil), shown, err
}

func exportLines(w io.Writer) *json.Encoder {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines
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

// Export is what a verified export says of itself.
type Export struct {
	// Whole: its signature is over the file, so that it hides no event. Without, one may have
	// been made opaque (muster-export-1).
	Whole bool
	// PublicKey signed it, and comes from the file; nil: it is not signed.
	PublicKey ed25519.PublicKey
}

// Opaque is how many events an export shows by their digest alone.
func (r *Verification) Opaque() int64 { return r.Events - r.Own }

// VerifyExport checks an exported file as Verify checks a log, against the head in its first
// line and the witness. It returns an *ExportFormatError if the file cannot be read as an
// export, and an *OtherLogError if it is of another log than the witness. The option
// Organization is ignored, because the file has a fixed content. If the file is signed, the
// signature has to match the key beside it, or the error is a *SignatureError. The caller
// decides from Verification.Export whose key that is.
func VerifyExport(r io.Reader, options VerifyOptions) (Verification, error) {
	file := bufio.NewReaderSize(r, 1<<16)
	header, signed, err := readExportHeader(file)
	if err != nil {
		return Verification{}, err
	}
	if w := options.Witness; w != nil && w.Log != header.Head.Log {
		return Verification{}, &OtherLogError{Log: header.Head.Log, Witness: *w}
	}
	shown, err := parseSpans(header.Positions)
	if err != nil {
		return Verification{}, &ExportFormatError{Line: 1, Reason: "positions: " + err.Error()}
	}
	body := sha256.New()
	lines := json.NewDecoder(io.TeeReader(file, body))
	c := newChain(header.Head.Log, options.Witness)
	d := newDigester()
	for n := int64(2); ; n++ {
		l, err := readExportLine(lines, header.Head.Log)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Verification{}, &ExportFormatError{Line: n, Reason: err.Error()}
		}
		l.intact = !l.own || string(d.sum(&l.Event, nil)) == string(l.Digest)
		c.addLink(&l)
		if signed.Whole && l.own != shown.has(l.Position) {
			c.found(&l, Hidden, map[bool]string{
				false: "its digest alone is there, and the first line says that the event is shown",
				true:  "it is shown, and the first line does not say so",
			}[l.own])
		}
		if options.Progress != nil && n%progressEvery == 0 {
			options.Progress(l.Position, header.Head.Position)
		}
	}
	report := c.finish(header.Head)
	if found := hex.EncodeToString(body.Sum(nil)); signed.Whole && found != header.Body {
		report.addFinding(Mismatch{Misfit: FileDiffers, Position: header.Head.Position,
			Detail: fmt.Sprintf("the lines behind the first have the SHA-256 %s, and the first says %s", found, header.Body)})
	}
	report.Export = &signed
	return *report, nil
}

// IsExport says whether a file claims to be an export.
func IsExport(file []byte) bool { return bytes.HasPrefix(file, []byte(`{"format":"muster-export-`)) }

// readExportHeader reads the first line, and checks its signature.
func readExportHeader(file *bufio.Reader) (header exportHeader, signed Export, err error) {
	malformed := func(err error) error { return &ExportFormatError{Line: 1, Reason: err.Error()} }
	first, err := file.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return header, signed, malformed(err)
	}
	if err := uniquekeys.Check(first); err != nil {
		return header, signed, malformed(err)
	}
	if err := json.Unmarshal(first, &header); err != nil {
		return header, signed, malformed(err)
	}
	holds := true
	switch header.Format {
	case exportV2:
		signed = Export{Whole: true, PublicKey: header.PublicKey}
		if header.PublicKey != nil || header.Signature != nil {
			holds = len(header.PublicKey) == ed25519.PublicKeySize && ed25519.Verify(header.PublicKey, header.statement(), header.Signature)
		}
	case exportV1:
		header.Positions = ""
		if s := header.HeadSigned; s != nil {
			signed.PublicKey = s.PublicKey
			holds = VerifySignedHead(s.PublicKey, *s) == nil && s.Head.String() == header.Head.String()
		}
	default:
		return header, signed, malformed(fmt.Errorf("format %q is neither %q nor %q", header.Format, exportV1, exportV2))
	}
	if !holds {
		return header, signed, &SignatureError{Head: header.Head}
	}
	return header, signed, nil
}

// readExportLine reads the next event. io.EOF: there is none.
func readExportLine(lines *json.Decoder, log Log) (link, error) {
	var raw json.RawMessage
	var line exportLine
	if err := lines.Decode(&raw); err != nil {
		return link{}, err
	}
	if err := uniquekeys.Check(raw); err != nil {
		return link{}, err
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return link{}, err
	}
	return line.link(log)
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
