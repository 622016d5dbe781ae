package eventstore

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"time"
)

// envelopeV1 opens every digest, so that another layout can never be mistaken
// for this one.
const envelopeV1 = "muster event 1"

// Digest is the SHA-256 over everything that the writer of an event decided:
//
//	"muster event 1"
//	log              text
//	organization     16 bytes
//	stream type      text
//	stream           16 bytes
//	type             text
//	schema version   8 bytes
//	occurred at      8 bytes, microseconds since 1970-01-01T00:00:00Z
//	data             bytes
//	metadata         bytes
//
// Numbers are big-endian; text and bytes are preceded by their length in 8
// bytes, so that no two events have the same encoding. Position, version and
// recorded time are given by the log under its lock: the first two follow from
// the place in the chain, the third is covered by Link.
func Digest(e Event) [32]byte {
	d := newDigester()
	var sum [32]byte
	d.sum(&e, sum[:0])
	return sum
}

// Link is the hash of an event: SHA-256 over the hash of the event before it in
// the log (32 zero bytes for the first), its digest, and its recorded time as
// PostgreSQL sends it: 8 bytes, microseconds since 2000-01-01T00:00:00Z.
func Link(previous, digest []byte, recordedAt time.Time) [32]byte {
	var b [72]byte
	copy(b[:32], previous)
	copy(b[32:64], digest)
	binary.BigEndian.PutUint64(b[64:], uint64(recordedAt.UnixMicro()-postgresEpoch))
	return sha256.Sum256(b[:])
}

// postgresEpoch is 2000-01-01T00:00:00Z in microseconds since 1970.
const postgresEpoch = 946_684_800_000_000

// digester computes digests one after the other without allocating.
type digester struct {
	hash hash.Hash
	head []byte
}

func newDigester() *digester { return &digester{hash: sha256.New()} }

func (d *digester) sum(e *Event, into []byte) []byte {
	b := d.head[:0]
	b = append(b, envelopeV1...)
	b = appendText(b, string(e.Log))
	b = append(b, e.OrganizationID[:]...)
	b = appendText(b, e.StreamType)
	b = append(b, e.Stream[:]...)
	b = appendText(b, e.Type)
	b = binary.BigEndian.AppendUint64(b, uint64(e.SchemaVersion))
	b = binary.BigEndian.AppendUint64(b, uint64(e.OccurredAt.UnixMicro()))
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Data)))
	d.hash.Reset()
	d.hash.Write(b)
	d.hash.Write(e.Data)
	b = binary.BigEndian.AppendUint64(b[:0], uint64(len(e.Metadata)))
	d.hash.Write(b)
	d.hash.Write(e.Metadata)
	d.head = b
	return d.hash.Sum(into)
}

func appendText(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}
