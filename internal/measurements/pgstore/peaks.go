package pgstore

import (
	"encoding/binary"
	"maps"
	"slices"
)

// peaks are how full the volumes of a host were at the most, in percent, by mount: the
// detail of hosts. What is known of a volume at one time stays, so that a peak never
// falls, whatever comes late or twice.
type peaks map[string]float64

// take adds what a sample says.
func (p peaks) take(b *hostBody) {
	for i := range b.volumes {
		p.raise(b.volumes[i].mount, b.volumes[i].full())
	}
}

func (p peaks) raise(mount string, percent float64) {
	if was, known := p[mount]; percent > was || !known && percent == 0 {
		p[mount] = percent
	}
}

func (p peaks) join(o peaks) {
	for mount, percent := range o {
		p.raise(mount, percent)
	}
}

// encode writes each mount behind its length and its peak, in the order of the mounts;
// nil: there are none.
func (p peaks) encode() []byte {
	var out []byte
	for _, mount := range slices.Sorted(maps.Keys(p)) {
		out = append(binary.AppendUvarint(out, uint64(len(mount))), mount...)
		out = appendShort(out, p[mount])
	}
	return out
}

func decodePeaks(body []byte) (peaks, error) {
	p := make(peaks)
	r := reader{bytes: body}
	for len(r.bytes) > 0 {
		mount := string(r.take(r.count(1)))
		p[mount] = r.short()
	}
	return p, r.end()
}
