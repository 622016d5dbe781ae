package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

const (
	// farthest is how far apart two scrapes may be for their difference to count.
	farthest = 10 * time.Minute
	// nativeWeight is what a percentage of CPU weighs beside intervals of counters, in
	// microseconds: only among its like, which weigh the same, is there a rule.
	nativeWeight = uint64(time.Minute / time.Microsecond)
)

// counters are those of the last scrape of a host.
type counters struct {
	At  time.Time
	all []measurements.CPUCounter // nil: there is none to count from
}

// advance moves to a sample. It returns how busy the CPUs were, in percent, in the interval
// that ends with it, and its length in microseconds; NaN and 0 if no interval ends there. A
// staleness marker comes before the scrape of its time: agents send it with the first scrape
// that lacks the stale series.
func (c *counters) advance(at time.Time, b *HostBody) (busy float64, length uint64) {
	if b.stale {
		*c = counters{}
	}
	if len(b.counters) == 0 {
		return math.NaN(), 0
	}
	now := counters{at, b.counters}
	if busy = now.since(*c); !math.IsNaN(busy) {
		length = uint64(at.Sub(c.At).Microseconds())
	}
	*c = now
	return busy, length
}

// since is how busy the CPUs have been since an earlier scrape; NaN where that cannot
// be told: it is too long ago, or of other CPUs, or one has been set back.
func (c counters) since(before counters) float64 {
	apart := c.At.Sub(before.At)
	sameCode := func(a, b measurements.CPUCounter) bool { return a.Code == b.Code }
	if apart <= 0 || apart > farthest || !slices.EqualFunc(c.all, before.all, sameCode) {
		return math.NaN()
	}
	var working, all float64 // not all less idle: of a host with nothing to do, little is left of that
	for i, now := range c.all {
		spent := now.Seconds - before.all[i].Seconds
		if spent < 0 {
			if -spent >= measurements.CPUJitter {
				return math.NaN()
			}
			spent = 0
		}
		all += spent
		if mode := now.Code & 15; mode != measurements.ModeIdle && mode != measurements.ModeIOWait {
			working += spent
		}
	}
	return percent(working, all)
}

// HostSlot is what a bucket has of a host: sums, which longer buckets add up.
type HostSlot struct {
	sampled bool
	cpu     float64 // Σ percent × weight
	weight  uint64  // µs
	memory  float64 // Σ percent
	n       uint64  // of samples of memory
	disk    float64 // the greatest; NaN: none
}

func noHost() HostSlot { return HostSlot{disk: math.NaN()} }

// Take adds what a sample says, or else the interval that ends with it.
func (s *HostSlot) Take(b *HostBody, busy float64, length uint64) {
	if !b.isSample() {
		return
	}
	s.sampled = true
	if math.IsNaN(b.cpu) {
		s.addCPU(busy, length)
	}
	s.addCPU(b.cpu, nativeWeight)
	if p := b.memoryPercent(); !math.IsNaN(p) {
		s.memory, s.n = s.memory+p, s.n+1
	}
	s.disk = greater(s.disk, b.fullest())
}

func (s *HostSlot) addCPU(percent float64, weight uint64) {
	if !math.IsNaN(percent) {
		s.cpu, s.weight = s.cpu+percent*float64(weight), s.weight+weight
	}
}

// AddHosts adds another bucket of the host.
func (s *HostSlot) AddHosts(o HostSlot) {
	s.sampled = s.sampled || o.sampled
	s.cpu, s.weight = s.cpu+o.cpu, s.weight+o.weight
	s.memory, s.n = s.memory+o.memory, s.n+o.n
	s.disk = greater(s.disk, o.disk)
}

// MeanCPU is how busy the CPUs were, in percent; NaN: it is not known.
func (s *HostSlot) MeanCPU() float64 { return s.cpu / float64(s.weight) } // 0 by 0 is NaN

// MeanMemory is how much of the memory was used, in percent; NaN: it is not known.
func (s *HostSlot) MeanMemory() float64 { return s.memory / float64(s.n) }

// What a host's slot has, in its first byte: three numbers, then the weights of the
// first two. Of most a minute has one sample, or a minute of intervals, and weights that
// say so are left out.
const (
	slotCPU = 1 << iota
	slotMemory
	slotDisk
	slotOneCPU    // weight is nativeWeight
	slotOneMemory // n is 1
)

// encode writes means and weights: means are what a tile shows.
func (s HostSlot) encode() []byte {
	if !s.sampled {
		return nil
	}
	out := make([]byte, 1, 32)
	if s.weight > 0 {
		out[0] |= slotCPU
		out = rowbytes.AppendShort(out, s.cpu/float64(s.weight))
	}
	if s.n > 0 {
		out[0] |= slotMemory
		out = rowbytes.AppendShort(out, s.memory/float64(s.n))
	}
	if !math.IsNaN(s.disk) {
		out[0] |= slotDisk
		out = rowbytes.AppendShort(out, s.disk)
	}
	switch s.weight {
	case 0:
	case nativeWeight:
		out[0] |= slotOneCPU
	default:
		out = binary.AppendUvarint(out, s.weight)
	}
	switch s.n {
	case 0:
	case 1:
		out[0] |= slotOneMemory
	default:
		out = binary.AppendUvarint(out, s.n)
	}
	return out
}

// DecodeHostSlot reads a slot; an empty one has no samples.
func DecodeHostSlot(slot []byte) (HostSlot, error) {
	s := noHost()
	if len(slot) == 0 {
		return s, nil
	}
	s.sampled = true
	r := read(slot)
	flags := r.Byte()
	if flags&slotCPU != 0 {
		s.cpu, s.weight = r.Short(), nativeWeight
	}
	if flags&slotMemory != 0 {
		s.memory, s.n = r.Short(), 1
	}
	if flags&slotDisk != 0 {
		s.disk = r.Short()
	}
	if flags&(slotCPU|slotOneCPU) == slotCPU {
		s.weight = r.Uvarint()
	}
	if flags&(slotMemory|slotOneMemory) == slotMemory {
		s.n = r.Uvarint()
	}
	s.cpu *= float64(s.weight)
	s.memory *= float64(s.n)
	return s, r.End()
}

// hostKind is the kind of hosts' series.
type hostKind struct{ slotRows }

func (hostKind) Reach() time.Duration { return farthest }

func (hostKind) Whole() bool { return false }

func (hostKind) Merge(stored, arrived []byte) ([]byte, bool, error) {
	is, err := DecodeHost(stored)
	if err != nil {
		return nil, false, err
	}
	more, err := DecodeHost(arrived)
	if err != nil {
		return nil, false, err
	}
	if !is.joinBody(more) {
		return stored, false, nil
	}
	return is.encode(), true, nil
}

func (hostKind) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, known []byte) (rolled, detail []byte, err error) {
	slots, err := rowbytes.SlotsOf(minutes, MinutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	var made [MinutesOfHour]HostSlot
	for i := range made {
		made[i] = noHost()
	}
	peaks, err := DecodePeaks(known)
	if err != nil {
		return nil, nil, err
	}
	var last counters
	for _, s := range samples {
		b, err := DecodeHost(s.Body)
		if err != nil {
			return nil, nil, err
		}
		busy, length := last.advance(s.At, b)
		if minute, ok := minuteOf(hour, s.At); ok {
			made[minute].Take(b, busy, length)
			peaks.Take(b)
		}
	}
	for i := range made {
		if dirty>>i&1 != 0 { // of the others, not all samples are here
			slots[i] = made[i].encode()
		}
	}
	if detail = peaks.encode(); bytes.Equal(detail, known) {
		detail = nil
	}
	return rowbytes.RowOf(slots), detail, nil
}

// minuteOf is the minute of an hour that contains a time; ok is false if it is in another hour.
func minuteOf(hour, at time.Time) (minute int, ok bool) {
	since := at.Sub(hour)
	return int(since / time.Minute), since >= 0 && since < time.Hour
}

func (hostKind) Join(details [][]byte) ([]byte, error) {
	sum := make(Peaks)
	for _, one := range details {
		of, err := DecodePeaks(one)
		if err != nil {
			return nil, err
		}
		sum.Join(of)
	}
	return sum.encode(), nil
}

func (hostKind) OfDetails() bool { return false }

func (hostKind) Total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	return addUpSlots(row, n, noHost(), DecodeHostSlot, (*HostSlot).AddHosts)
}
