package codec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// HostBody is what is known of a host at one time; NaN is a number that has not come.
type HostBody struct {
	stale       bool
	cpu, memory float64                   // percent
	bytes       [3]float64                // of memory
	counters    []measurements.CPUCounter // by code, ascending
	volumes     []volumeBody              // by mount, ascending; not nil but empty: none that counts
}

// Places in HostBody.bytes.
const (
	memoryTotal = iota
	memoryAvailable
	memoryUsed
)

type volumeBody struct {
	mount    string
	percent  float64
	bytes    [3]float64
	readOnly bool
}

// isReadOnly is the bit of a volume after those of its numbers. Earlier programs skip it.
const isReadOnly = 1 << 4

// Places in volumeBody.bytes.
const (
	volumeSize = iota
	volumeFree
	volumeAvailable
)

func unknown() [3]float64 { return [3]float64{math.NaN(), math.NaN(), math.NaN()} }

// countable says that a volume is not one of those that are full by design
// (readings, 12).
func countable(mount string) bool {
	return mount != "/boot" && mount != "/boot/efi" && !strings.HasPrefix(mount, "/snap/")
}

// given is a number that may be missing.
func given(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// atLeastZero is a number whose missing value is -1.
func atLeastZero(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

func hostBodyOf(s measurements.HostSample) *HostBody {
	b := &HostBody{stale: s.Stale, cpu: given(s.CPUPercent), memory: given(s.MemoryPercent), bytes: unknown(), counters: s.CPU}
	if m := s.Memory; m != nil {
		b.bytes[memoryTotal], b.bytes[memoryAvailable], b.bytes[memoryUsed] = atLeastZero(m.Total), atLeastZero(m.Available), atLeastZero(m.Used)
	}
	var volumes []volumeBody
	for _, v := range s.Volumes {
		if volumes == nil {
			volumes = []volumeBody{}
		}
		if !countable(v.Mount) {
			continue
		}
		one := volumeBody{v.Mount, given(v.UsedPercent), unknown(), v.ReadOnly}
		if v.UsedPercent == nil {
			one.bytes[volumeSize], one.bytes[volumeFree], one.bytes[volumeAvailable] = atLeastZero(v.Size), atLeastZero(v.Free), atLeastZero(v.Available)
		}
		volumes = append(volumes, one)
	}
	b.addVolumes(volumes)
	return b
}

// joinBody adds what was not known, and says whether there was any.
func (b *HostBody) joinBody(other *HostBody) (changed bool) {
	changed = other.stale && !b.stale
	b.stale = b.stale || other.stale
	changed = fill(&b.cpu, other.cpu) || changed
	changed = fill(&b.memory, other.memory) || changed
	changed = fillAll(&b.bytes, other.bytes) || changed
	changed = b.addCounters(other.counters) || changed
	return b.addVolumes(other.volumes) || changed
}

// fill sets what is not known to what is, and says whether it did.
func fill(was *float64, is float64) bool {
	if !math.IsNaN(*was) || math.IsNaN(is) {
		return false
	}
	*was = is
	return true
}

func fillAll(was *[3]float64, is [3]float64) (changed bool) {
	for i := range was {
		changed = fill(&was[i], is[i]) || changed
	}
	return changed
}

func (b *HostBody) addCounters(counters []measurements.CPUCounter) (changed bool) {
	before := len(b.counters)
	b.counters = measurements.SortCPU(slices.Concat(b.counters, counters))
	return len(b.counters) > before
}

func (b *HostBody) addVolumes(volumes []volumeBody) (changed bool) {
	if volumes == nil {
		return false
	}
	changed = b.volumes == nil
	before := len(b.volumes)
	all := append(make([]volumeBody, 0, len(b.volumes)+len(volumes)), b.volumes...)
	all = append(all, volumes...)
	slices.SortStableFunc(all, func(a, b volumeBody) int { return strings.Compare(a.mount, b.mount) })
	b.volumes = all[:0]
	for _, v := range all {
		if n := len(b.volumes); n > 0 && b.volumes[n-1].mount == v.mount {
			first := &b.volumes[n-1]
			if !first.inBytes() { // who tells of it first says how it is told
				changed = fill(&first.percent, v.percent) || changed
			}
			changed = fillAll(&first.bytes, v.bytes) || changed
			changed = changed || v.readOnly && !first.readOnly
			first.readOnly = first.readOnly || v.readOnly
			continue
		}
		b.volumes = append(b.volumes, v)
	}
	return changed || len(b.volumes) > before
}

// isSample says whether the body is more than a marker: a marker alone says that the host was
// not seen.
func (b *HostBody) isSample() bool {
	known := slices.ContainsFunc(b.numbers(), func(v *float64) bool { return !math.IsNaN(*v) })
	return !b.stale || known || len(b.counters) > 0 || b.volumes != nil
}

// memoryPercent is how much of the memory is used; NaN: it is not known.
func (b *HostBody) memoryPercent() float64 {
	if !math.IsNaN(b.memory) {
		return b.memory
	}
	total, used := b.bytes[memoryTotal], b.bytes[memoryUsed]
	if available := b.bytes[memoryAvailable]; !math.IsNaN(available) {
		used = total - available
	}
	return percent(used, total)
}

// Memory is how much memory the host has, in bytes; NaN: this body does not say.
func (b *HostBody) Memory() float64 { return b.bytes[memoryTotal] }

// CPUs is how many CPUs the host has; 0: this body does not say. An agent that adds all
// of them up looks like one of a host with a single one, and does not say either.
func (b *HostBody) CPUs() int {
	n, last := 0, int32(-1)
	for _, c := range b.counters { // in the order of their codes
		if cpu := c.Code / 16; cpu != last {
			n, last = n+1, cpu
		}
	}
	if n < 2 {
		return 0
	}
	return n
}

// fullest is how full the fullest volume is, as df reckons; NaN: it is not known.
func (b *HostBody) fullest() float64 {
	most := math.NaN()
	for i := range b.volumes {
		most = greater(most, b.volumes[i].full())
	}
	return most
}

// inBytes says that the volume has its sizes in bytes, some of which may still be missing.
func (v *volumeBody) inBytes() bool {
	return slices.ContainsFunc(v.bytes[:], func(n float64) bool { return !math.IsNaN(n) })
}

// full is how full the volume is, as df reckons; NaN: it is not known, or the volume cannot
// fill.
func (v *volumeBody) full() float64 {
	if v.readOnly {
		return math.NaN()
	}
	if !math.IsNaN(v.percent) {
		return v.percent
	}
	used := v.bytes[volumeSize] - v.bytes[volumeFree]
	return percent(used, used+v.bytes[volumeAvailable])
}

// percent is a share of a whole, within 0 and 100; NaN of no whole, or where one of
// the two is not known.
func percent(part, whole float64) float64 {
	if math.IsNaN(part) || !(whole > 0) {
		return math.NaN()
	}
	return min(100, max(0, 100*part/whole))
}

// greater is the greater of two numbers; NaN counts as missing.
func greater(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// What a host's body has, in its first byte. From hasCPU on, a number each.
const (
	isStale = 1 << iota
	hasCounters
	hasVolumes
	hasCPU
)

// hundredths are what Linux counts the seconds of its CPUs in.
const hundredths = 100

func (b *HostBody) numbers() []*float64 {
	return []*float64{&b.cpu, &b.memory, &b.bytes[memoryTotal], &b.bytes[memoryAvailable], &b.bytes[memoryUsed]}
}

func (v *volumeBody) numbers() [4]*float64 {
	return [...]*float64{&v.percent, &v.bytes[volumeSize], &v.bytes[volumeFree], &v.bytes[volumeAvailable]}
}

func (b *HostBody) encode() []byte {
	out := append(make([]byte, 0, 64+8*len(b.counters)+48*len(b.volumes)), 0)
	if b.stale {
		out[0] |= isStale
	}
	for i, v := range b.numbers() {
		if !math.IsNaN(*v) {
			out[0] |= hasCPU << i
			out = rowbytes.AppendScaled(out, *v, 1)
		}
	}
	if len(b.counters) > 0 {
		out[0] |= hasCounters
		out = binary.AppendUvarint(out, uint64(len(b.counters)))
		before := int32(0)
		for _, c := range b.counters {
			out = rowbytes.AppendScaled(binary.AppendVarint(out, int64(c.Code)-int64(before)), c.Seconds, hundredths)
			before = c.Code
		}
	}
	if b.volumes != nil {
		out[0] |= hasVolumes
	}
	for _, v := range b.volumes {
		out = append(binary.AppendUvarint(out, uint64(len(v.mount))), v.mount...)
		has := len(out)
		out = append(out, 0)
		if v.readOnly {
			out[has] |= isReadOnly
		}
		for i, n := range v.numbers() {
			if !math.IsNaN(*n) {
				out[has] |= 1 << i
				out = rowbytes.AppendScaled(out, *n, 1)
			}
		}
	}
	return out
}

// DecodeHost reads the body of a host's sample.
func DecodeHost(body []byte) (*HostBody, error) {
	r := read(body)
	b := &HostBody{cpu: math.NaN(), memory: math.NaN(), bytes: unknown()}
	has := r.Byte()
	b.stale = has&isStale != 0
	for i, v := range b.numbers() {
		if has&(hasCPU<<i) != 0 {
			*v = r.Scaled(1)
		}
	}
	if has&hasCounters != 0 {
		b.counters = make([]measurements.CPUCounter, r.Count(2))
		code := int64(0)
		for i := range b.counters {
			code += r.Varint()
			b.counters[i] = measurements.CPUCounter{Code: int32(code), Seconds: r.Scaled(hundredths)}
		}
	}
	if has&hasVolumes != 0 {
		b.volumes = []volumeBody{}
	}
	for b.volumes != nil && len(r.Bytes) > 0 {
		v := volumeBody{mount: string(r.Take(r.Count(1))), percent: math.NaN(), bytes: unknown()}
		has := r.Byte()
		v.readOnly = has&isReadOnly != 0
		for i, n := range v.numbers() {
			if has>>i&1 != 0 {
				*n = r.Scaled(1)
			}
		}
		b.volumes = append(b.volumes, v)
	}
	return b, r.End()
}

// Volumes are those that count, in the form of messages.
func (b *HostBody) Volumes() (volumes []measurements.Volume) {
	for i := range b.volumes {
		volumes = append(volumes, b.volumes[i].Volumes())
	}
	return volumes
}

// Volumes is the volume in the form of messages.
func (v *volumeBody) Volumes() measurements.Volume {
	out := measurements.Volume{Mount: v.mount, Size: -1, Free: -1, Available: -1, ReadOnly: v.readOnly}
	if !math.IsNaN(v.percent) {
		out.UsedPercent = &v.percent
	}
	for i, to := range []*float64{volumeSize: &out.Size, volumeFree: &out.Free, volumeAvailable: &out.Available} {
		if !math.IsNaN(v.bytes[i]) {
			*to = v.bytes[i]
		}
	}
	return out
}
