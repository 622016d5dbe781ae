// Package attesttest makes proofs that hold, for tests that then break them.
package attesttest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/attest"
)

// Installation is one with a log of a few events, whose keys follow from its name.
type Installation struct {
	T       testing.TB
	Origin  string
	Log     ed25519.PrivateKey
	Report  ed25519.PrivateKey
	PDFKeys []attest.Key  // published beside the others
	Mark    bool          // the event has one
	Asked   bool          // the event names what was asked for
	Begin   time.Time     // when its keys were made, and a second before its reports were recorded
	Late    time.Duration // by which reports are recorded after that
}

// New returns the installation of a name.
func New(t testing.TB, name string) *Installation {
	t.Helper()
	key := func(use string) ed25519.PrivateKey {
		seed := sha256.Sum256([]byte(name + " " + use))
		return ed25519.NewKeyFromSeed(seed[:])
	}
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
	return &Installation{T: t, Origin: attest.Origin(id, "reports"), Log: key("log"), Report: key("report"), Begin: begin}
}

// begin is the time of everything, unless a test says otherwise.
var begin = time.Date(2026, 11, 23, 8, 0, 0, 123_456_000, time.UTC)

// Keys is what the installation publishes.
func (i *Installation) Keys() attest.Keys {
	i.T.Helper()
	log, err := attest.LogKey(i.Origin, i.Log.Public().(ed25519.PublicKey), i.Begin)
	i.must(err)
	report, err := attest.ReportKey(i.Report.Public().(ed25519.PublicKey), i.Begin)
	i.must(err)
	return attest.Keys{Keys: append([]attest.Key{log, report}, i.PDFKeys...)}
}

func (i *Installation) must(err error) {
	i.T.Helper()
	if err != nil {
		i.T.Fatal(err)
	}
}

// Inputs is the inputs document that goes with a PDF.
func Inputs(pdf []byte) []byte { return fmt.Appendf(nil, "inputs of %x", sha256.Sum256(pdf)) }

// Findings is the table that goes with a PDF.
func Findings(pdf []byte) []byte { return fmt.Appendf(nil, "findings of %x", sha256.Sum256(pdf)) }

// Prove makes the proof of a PDF, whose Ready is the event at a position in a log of so
// many.
func (i *Installation) Prove(pdf []byte, position, size int64) attest.Proof {
	i.T.Helper()
	digest, inputs := sha256.Sum256(pdf), sha256.Sum256(Inputs(pdf))
	r := attest.Report{
		ID: uuid.NewSHA1(uuid.NameSpaceOID, pdf), Kind: "Security", Organization: uuid.NewSHA1(uuid.NameSpaceOID, []byte("organization")),
		ScopeSHA256: hex.EncodeToString(make([]byte, 32)), PDFSHA256: hex.EncodeToString(digest[:]), InputsSHA256: hex.EncodeToString(inputs[:]),
	}
	ready := eventstore.Event{
		Log: eventstore.Reports, Position: position, OrganizationID: r.Organization, StreamType: "report", Stream: r.ID, Version: 6,
		Type: "report.ready", SchemaVersion: 1, OccurredAt: i.Begin, RecordedAt: i.Begin.Add(time.Second + i.Late),
		Data: fmt.Appendf(nil, `{"asOf":"2026-11-23T08:00:00Z","inputsSha256":%q,"pdfSha256":%q,"fileName":"security-2026-11-23.pdf","pages":12,"files":[{"name":"findings.csv","sha256":"%x"}]}`,
			r.InputsSHA256, r.PDFSHA256, sha256.Sum256(Findings(pdf))),
		Metadata: []byte(`{"actorId":"system:worker"}`),
	}
	if i.Mark {
		ready.Data = fmt.Appendf(bytes.TrimSuffix(ready.Data, []byte("}")), `,"mark":"1a2b:00"}`)
	}
	if i.Asked {
		ready.Data = fmt.Appendf(bytes.TrimSuffix(ready.Data, []byte("}")), `,"kind":%q,"scopeSha256":%q}`, r.Kind, r.ScopeSHA256)
	}
	own := eventstore.Digest(ready)
	previous := sha256.Sum256([]byte("the event before"))
	hash := eventstore.Link(previous[:], own[:], ready.RecordedAt)
	ready.Digest, ready.Hash = own[:], hash[:]
	event, err := attest.NewEvent(ready, previous[:])
	i.must(err)
	a, err := attest.Attest(i.Report, r, eventstore.Head{Log: eventstore.Reports, Position: position, Hash: hash[:]})
	i.must(err)

	hashes := i.hashes(ready, size)
	inclusion, err := tlog.ProveRecord(size, position-1, hashes)
	i.must(err)
	root, err := tlog.TreeHash(size, hashes)
	i.must(err)
	p := attest.Proof{
		Format: "muster-proof-1", Origin: i.Origin, Report: r, Event: event, Attestation: a, Checkpoint: i.Sign(size, root), Keys: i.Keys().Keys,
	}
	for _, h := range inclusion {
		p.Inclusion = append(p.Inclusion, h[:])
	}
	return p
}

// hashes are those of a log whose other events are numbers.
func (i *Installation) hashes(ready eventstore.Event, size int64) tlog.HashReader {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, at := range indexes {
			out = append(out, stored[at])
		}
		return out, nil
	})
	for n := range size {
		leaf := tree.Leaf(ready.Digest, ready.RecordedAt)
		if n != ready.Position-1 {
			other := sha256.Sum256(fmt.Append(nil, n))
			leaf = tree.Leaf(other[:], begin)
		}
		more, err := tlog.StoredHashes(n, leaf, reader)
		i.must(err)
		stored = append(stored, more...)
	}
	return reader
}

// Sign makes a checkpoint.
func (i *Installation) Sign(size int64, root tlog.Hash) string {
	i.T.Helper()
	public, err := note.NewEd25519VerifierKey(i.Origin, i.Log.Public().(ed25519.PublicKey))
	i.must(err)
	verifier, err := note.NewVerifier(public)
	i.must(err)
	secret := append([]byte{1}, i.Log.Seed()...) // 1: Ed25519
	signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", i.Origin, verifier.KeyHash(), base64.StdEncoding.EncodeToString(secret)))
	i.must(err)
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", i.Origin, size, root)}, signer)
	i.must(err)
	return string(signed)
}
