package codec

import (
	"math"
	"math/bits"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// Utilization is the tile while it is read.
type Utilization struct {
	cpu, memory means // over hosts, of which each has the same weight
	disk        measurements.Values
}

// NewUtilization is the tile of so many buckets, before anything is read.
func NewUtilization(buckets int) *Utilization {
	return &Utilization{cpu: newMeans(buckets), memory: newMeans(buckets), disk: measurements.Gaps(buckets)}
}

// Tile is what was read of a number of hosts.
func (u *Utilization) Tile(hosts int) measurements.Utilization {
	return measurements.Utilization{CPUPercent: u.cpu.values(), MemoryPercent: u.memory.values(), DiskPercent: u.disk, HostCount: hosts}
}

// Take adds what a host's row has, and says whether it has a sample. It reads what
// DecodeHostSlot does, without the weights.
func (u *Utilization) Take(part rowbytes.Stretch) (sampled bool, err error) {
	for part.More() {
		slot, at, ok := part.Next()
		if !ok {
			return sampled, rowbytes.ErrBytes
		}
		if len(slot) == 0 {
			continue
		}
		sampled = true
		has, numbers := slot[0], slot[1:]
		if len(numbers) < rowbytes.ShortSize*bits.OnesCount8(has&(slotCPU|slotMemory|slotDisk)) {
			return sampled, rowbytes.ErrBytes
		}
		if has&slotCPU != 0 {
			u.cpu.addValue(at, rowbytes.ShortOf(numbers))
			numbers = numbers[rowbytes.ShortSize:]
		}
		if has&slotMemory != 0 {
			u.memory.addValue(at, rowbytes.ShortOf(numbers))
			numbers = numbers[rowbytes.ShortSize:]
		}
		if has&slotDisk != 0 {
			if p := rowbytes.ShortOf(numbers); !(u.disk[at] >= p) { // of a gap neither
				u.disk[at] = p
			}
		}
	}
	return sampled, nil
}

// means are plain means, a bucket each.
type means struct {
	sum measurements.Values
	n   []int32
}

func newMeans(buckets int) means {
	return means{make(measurements.Values, buckets), make([]int32, buckets)}
}

func (m *means) addValue(at int, v float64) {
	m.sum[at] += v
	m.n[at]++
}

// values makes the means of the sums; of no number it is a gap.
func (m *means) values() measurements.Values {
	for i, n := range m.n {
		m.sum[i] /= float64(n) // 0 by 0 is NaN
	}
	return m.sum
}

// QueryPerformance is an engine's part while it is read.
type QueryPerformance struct {
	measurements.QuerySums
	since int // the first bucket that the engine has a part in
}

// NewQueryPerformance has a part of buckets, from the first on that the engine has one in.
func NewQueryPerformance(buckets, since int) *QueryPerformance {
	return &QueryPerformance{measurements.QuerySums{
		TotalMs: make(measurements.Values, buckets), Calls: make(measurements.Values, buckets), MaxMs: measurements.Gaps(buckets),
	}, since}
}

// Take adds what an instance's row has.
func (p *QueryPerformance) Take(part rowbytes.Stretch) error {
	for part.More() {
		slot, at, ok := part.Next()
		if !ok {
			return rowbytes.ErrBytes
		}
		if len(slot) == 0 || at < p.since {
			continue
		}
		p.Sampled = true
		switch {
		case len(slot) == 1:
			continue // there was no call
		case len(slot) <= querySlotNumbers:
			return rowbytes.ErrBytes
		}
		r := read(slot[querySlotNumbers:])
		p.Calls[at] += float64(r.Uvarint())
		p.TotalMs[at] += rowbytes.ShortOf(slot)
		if most := rowbytes.ShortOf(slot[rowbytes.ShortSize:]); !(p.MaxMs[at] >= most) { // of a gap neither
			p.MaxMs[at] = most
		}
		if r.End() != nil {
			return rowbytes.ErrBytes
		}
	}
	return nil
}

// WaitEvents is an engine's part while it is read.
type WaitEvents struct {
	measurements.WaitSums
	sampled []bool // the buckets in which somebody sampled
}

// NewWaitEvents is an engine's part of so many buckets, before anything is read.
func NewWaitEvents(buckets int) *WaitEvents {
	e := &WaitEvents{sampled: make([]bool, buckets)}
	for c := range e.Waiting {
		e.Waiting[c] = make(measurements.Values, buckets)
	}
	return e
}

// Take adds what is shown of an instance's row (WaitSlot.Shown).
func (e *WaitEvents) Take(part rowbytes.Stretch) error {
	for part.More() {
		slot, at, ok := part.Next()
		if !ok {
			return rowbytes.ErrBytes
		}
		if len(slot) == 0 {
			continue
		}
		e.sampled[at] = true
		has, r := slot[0], read(slot[1:])
		if has&isFraction == 0 {
			for c := range e.Waiting {
				if has>>c&1 != 0 {
					e.Waiting[c][at] += r.Short()
				}
			}
		} else if has != isFraction {
			denominator := float64(r.Uvarint())
			for c := range e.Waiting {
				if has>>c&1 != 0 {
					e.Waiting[c][at] += float64(r.Uvarint()) / denominator
				}
			}
		}
		if r.End() != nil {
			return rowbytes.ErrBytes
		}
	}
	return nil
}

// Sums has a gap in all categories if there are no samples.
func (e *WaitEvents) Sums() measurements.WaitSums {
	for i, sampled := range e.sampled {
		e.Sampled = e.Sampled || sampled
		for c := range e.Waiting {
			if !sampled {
				e.Waiting[c][i] = math.NaN()
			}
		}
	}
	return e.WaitSums
}
