package codec

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

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

// Pack puts samples, in the order of time, into one block that begins at start: each one's
// microsecond since then, its length and its body, compressed together.
func Pack(kind string, start time.Time, samples []Sample) []byte {
	var plain []byte
	for _, s := range samples {
		plain = binary.AppendUvarint(plain, uint64(s.At.Sub(start)/time.Microsecond))
		plain = binary.AppendUvarint(plain, uint64(len(s.Body)))
		plain = append(plain, s.Body...)
	}
	return packer().EncodeAll(plain, nil)
}

// Unpack returns the samples of a block.
func Unpack(kind string, start time.Time, block []byte) ([]Sample, error) {
	plain, err := unpacker().DecodeAll(block, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBytes, err)
	}
	var samples []Sample
	r := reader{bytes: plain}
	for len(r.bytes) > 0 {
		at := start.Add(time.Duration(r.uvarint()) * time.Microsecond)
		n := r.uvarint()
		if r.bad || n > uint64(len(r.bytes)) {
			return nil, ErrBytes
		}
		samples = append(samples, Sample{At: at, Body: r.bytes[:n:n]})
		r.bytes = r.bytes[n:]
	}
	return samples, nil
}
