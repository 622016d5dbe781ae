package agent

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/klauspost/compress/zstd"
)

// kind is what a record holds.
type kind byte

// The kinds. A record of hosts, sessions, statements, blocking, servers, replication, backups or room holds items of one call to
// /ingest/v1/samples, one of a fact a whole call. Their numbers are in the file.
const (
	hosts kind = iota + 1
	sessions
	statements
	fleetFact
	assessmentFact
	blocks        // who waits for whom
	serverSamples // what a server tells about itself
	replications  // who follows whom
	backupLooks   // which backups there are
	roomLooks     // how full servers are
)

// isFact says whether it is never dropped.
func (k kind) isFact() bool { return k == fleetFact || k == assessmentFact }

// what is the subject of a record, for the log.
func (r record) what() string {
	is := map[kind]string{hosts: "figures of this machine", sessions: "sessions", statements: "statements", fleetFact: "databases", assessmentFact: "assessment", blocks: "blocking", serverSamples: "figures of a server", replications: "replication", backupLooks: "backups", roomLooks: "room"}[r.Kind]
	if r.Server != "" {
		is += " of " + r.Server
	}
	return is
}

// record is data to send.
type record struct {
	Number uint64 // the store's to give
	Kind   kind
	Server string    // its external id; empty for a host
	At     time.Time // when it was measured or found
	Body   []byte    // JSON
}

// encode is its form in the store: kind, time, server, body.
func (r record) encode() []byte {
	out := append(make([]byte, 0, 32+len(r.Server)+len(r.Body)/4), byte(r.Kind))
	out = binary.AppendVarint(out, r.At.UnixMicro())
	out = binary.AppendUvarint(out, uint64(len(r.Server)))
	return append(append(out, r.Server...), pack(r.Body)...)
}

var errRecord = errors.New("a record of the buffer is not one")

// decodeHead reads all of a record but its body.
func decodeHead(number uint64, value []byte) (r record, packed []byte, err error) {
	r = record{Number: number}
	if len(value) < 1 {
		return r, nil, errRecord
	}
	r.Kind, value = kind(value[0]), value[1:]
	at, n := binary.Varint(value)
	if n <= 0 {
		return r, nil, errRecord
	}
	r.At, value = time.UnixMicro(at).UTC(), value[n:]
	length, n := binary.Uvarint(value)
	if n <= 0 || length > uint64(len(value)-n) {
		return r, nil, errRecord
	}
	value = value[n:]
	r.Server = string(value[:length])
	return r, value[length:], nil
}

// Both are safe for use by several goroutines at once.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
)

func pack(plain []byte) []byte { return encoder.EncodeAll(plain, nil) }

func unpack(packed []byte) ([]byte, error) { return decoder.DecodeAll(packed, nil) }
