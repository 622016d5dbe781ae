package codec

import (
	"encoding/binary"
	"maps"
	"slices"

	"muster/internal/measurements/pgstore/rowbytes"
)

// Peaks are how full the volumes of a host were at the most, in percent, by mount: the
// detail of hosts. What is known of a volume at one time stays, so that a peak never
// falls, whatever comes late or twice.
type Peaks map[string]float64

// Take adds what a sample says.
func (p Peaks) Take(b *HostBody) {
	for i := range b.volumes {
		p.raise(b.volumes[i].mount, b.volumes[i].full())
	}
}

func (p Peaks) raise(mount string, percent float64) {
	if was, known := p[mount]; percent > was || !known && percent == 0 {
		p[mount] = percent
	}
}

// Join adds the peaks of another time.
func (p Peaks) Join(o Peaks) {
	for mount, percent := range o {
		p.raise(mount, percent)
	}
}

// encode writes each mount behind its length and its peak, in the order of the mounts;
// nil: there are none.
func (p Peaks) encode() []byte {
	var out []byte
	for _, mount := range slices.Sorted(maps.Keys(p)) {
		out = append(binary.AppendUvarint(out, uint64(len(mount))), mount...)
		out = rowbytes.AppendShort(out, p[mount])
	}
	return out
}

// DecodePeaks reads the detail of a host.
func DecodePeaks(body []byte) (Peaks, error) {
	p := make(Peaks)
	r := read(body)
	for len(r.Bytes) > 0 {
		mount := string(r.Take(r.Count(1)))
		p[mount] = r.Short()
	}
	return p, r.End()
}

// Add adds what a detail has, or else a sample.
func (p Peaks) Add(body []byte, inDetail bool) error {
	if inDetail {
		of, err := DecodePeaks(body)
		p.Join(of)
		return err
	}
	b, err := DecodeHost(body)
	if err == nil {
		p.Take(b)
	}
	return err
}
