package packing

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"

	"github.com/klauspost/compress/zstd"
)

// packer and unpacker are made when the first of many is needed; both can be used by
// several at once.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			panic(err) // options that are constant
		}
		return encoder
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPacked))
		if err != nil {
			panic(err)
		}
		return decoder
	})
)

// maxPacked is how large the samples of a block may be, unpacked.
const maxPacked = 1 << 30

// How samples are put together before they are compressed, the first byte.
const (
	inRows    = 0 // each one's microsecond, the length of its body, and that
	inColumns = 1 // those of statements (pack_statements.go)
)

// Pack puts samples, in the order of time, into one block that begins at start, and
// compresses it. Those of statements, which most bytes are of, are put in columns.
func Pack(kind string, start time.Time, samples []codec.Sample) []byte {
	if kind == codec.Statements {
		if columns, err := packStatements(start, samples); err == nil { // else as they are: whoever reads them complains
			return packer().EncodeAll(append([]byte{inColumns}, columns...), nil)
		}
	}
	plain := []byte{inRows}
	for _, s := range samples {
		plain = binary.AppendUvarint(plain, uint64(s.At.Sub(start)/time.Microsecond))
		plain = binary.AppendUvarint(plain, uint64(len(s.Body)))
		plain = append(plain, s.Body...)
	}
	return packer().EncodeAll(plain, nil)
}

// Unpack returns the samples of a block that begins at start, those from a time on and
// before another.
func Unpack(start time.Time, block []byte, from, to time.Time) ([]codec.Sample, error) {
	plain, err := unpacker().DecodeAll(block, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", rowbytes.ErrBytes, err)
	}
	r := rowbytes.Reader{Bytes: plain}
	if form := r.Byte(); form == inColumns {
		return unpackStatements(start, r.Bytes, from, to)
	} else if form != inRows || r.Bad() {
		return nil, rowbytes.ErrBytes
	}
	var samples []codec.Sample
	for len(r.Bytes) > 0 {
		at := start.Add(time.Duration(r.Uvarint()) * time.Microsecond)
		body := r.Take(r.Count(1))
		if r.Bad() {
			return nil, rowbytes.ErrBytes
		}
		if !at.Before(from) && at.Before(to) {
			samples = append(samples, codec.Sample{At: at, Body: slices.Clip(body)})
		}
	}
	return samples, nil
}
