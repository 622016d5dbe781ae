package pgstore

import (
	"context"
	"math/bits"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// Utilization is documented at measurements.Store.
func (s *Store) Utilization(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, asked timegrid.Window) (measurements.Utilization, error) {
	w := windowOf(asked)
	series, err := s.hostsIn(ctx, organization, scope)
	if err != nil {
		return measurements.Utilization{}, err
	}
	u := &utilization{cpu: newMeans(w.buckets), memory: newMeans(w.buckets), disk: measurements.Gaps(w.buckets)}
	sampled := make(map[int64]struct{}, len(series))
	err = s.readRows(ctx, w, hosts, series.ids(), func(id int64, part stretch) error {
		any, err := u.take(part)
		if any {
			sampled[id] = struct{}{}
		}
		return err
	})
	if err != nil {
		return measurements.Utilization{}, err
	}
	return measurements.Utilization{CPUPercent: u.cpu.values(), MemoryPercent: u.memory.values(), DiskPercent: u.disk, HostCount: len(sampled)}, nil
}

// utilization is the tile while it is read.
type utilization struct {
	cpu, memory means // over hosts, of which each has the same weight
	disk        measurements.Values
}

// take adds what a host's row has, and says whether it has a sample. It reads what
// decodeHostSlot does, without the weights.
func (u *utilization) take(part stretch) (sampled bool, err error) {
	for part.more() {
		slot, at, ok := part.next()
		if !ok {
			return sampled, errBytes
		}
		if len(slot) == 0 {
			continue
		}
		sampled = true
		has, numbers := slot[0], slot[1:]
		if len(numbers) < shortSize*bits.OnesCount8(has&(slotCPU|slotMemory|slotDisk)) {
			return sampled, errBytes
		}
		if has&slotCPU != 0 {
			u.cpu.addValue(at, shortOf(numbers))
			numbers = numbers[shortSize:]
		}
		if has&slotMemory != 0 {
			u.memory.addValue(at, shortOf(numbers))
			numbers = numbers[shortSize:]
		}
		if has&slotDisk != 0 {
			if p := shortOf(numbers); !(u.disk[at] >= p) { // of a gap neither
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
