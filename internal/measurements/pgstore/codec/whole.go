package codec

import (
	"slices"

	"muster/internal/measurements/pgstore/rowbytes"
)

// Whole is a tile of all series of a kind while their rows are read for one row that
// stands for them.
type Whole interface {
	// Take adds what a series' row has, or what is shown of it.
	Take(part rowbytes.Stretch) error
	// Slot is the result of a bucket, in the form of a series' slot, or of its visible values:
	// a reader of a tile sees no difference.
	Slot(bucket int) []byte
}

// NewWhole is one of so many buckets, before anything is read; nil where no tile shows
// the kind.
func NewWhole(kind string, buckets int) Whole {
	switch kind {
	case Hosts:
		return wholeHosts{NewUtilization(buckets)}
	case Sessions:
		return wholeSessions{NewWaitEvents(buckets)}
	case Statements:
		return &wholeStatements{NewQueryPerformance(buckets, 0), make([]bool, buckets)}
	}
	return nil
}

// wholeHosts are the hosts of an organization as if they were one, whose means are
// those over the hosts. The weights are how many hosts they are of.
type wholeHosts struct{ *Utilization }

func (h wholeHosts) Take(part rowbytes.Stretch) error {
	_, err := h.Utilization.Take(part)
	return err
}

func (h wholeHosts) Slot(i int) []byte {
	return HostSlot{
		sampled: h.cpu.n[i] > 0 || h.memory.n[i] > 0 || h.disk[i] >= 0,
		cpu:     h.cpu.sum[i], weight: uint64(h.cpu.n[i]),
		memory: h.memory.sum[i], n: uint64(h.memory.n[i]),
		disk: h.disk[i],
	}.encode()
}

// wholeSessions are the instances of an engine as if they were one.
type wholeSessions struct{ *WaitEvents }

func (s wholeSessions) Slot(i int) []byte {
	if !s.sampled[i] {
		return nil
	}
	out := []byte{0}
	for c, waiting := range s.Waiting {
		if waiting[i] > 0 {
			out[0] |= 1 << c
			out = rowbytes.AppendShort(out, waiting[i])
		}
	}
	return out
}

// wholeStatements likewise, and which buckets have samples.
type wholeStatements struct {
	*QueryPerformance
	sampled []bool
}

func (s *wholeStatements) Take(part rowbytes.Stretch) error {
	for i := range part.Filled() {
		s.sampled[i] = true
	}
	return s.QueryPerformance.Take(part)
}

func (s *wholeStatements) Slot(i int) []byte {
	return QuerySlot{s.sampled[i], uint64(s.Calls[i]), s.TotalMs[i], s.MaxMs[i]}.encode()
}

// SetSlots returns the row with other slots from the i-th on.
func SetSlots(row []byte, i int, slots [][]byte) ([]byte, error) {
	all, err := rowbytes.SlotsOf(row, i+len(slots))
	if err != nil {
		return nil, err
	}
	copy(all[i:], slots)
	return rowbytes.RowOf(all), nil
}

// FilledDays are the days of a week of which the row of a series has anything.
func FilledDays(kind string, row []byte) (days []int, err error) {
	if kind == Activity {
		a, err := ReadActivityRow(row)
		for day := range min(len(a.slots), WeekItself) {
			if len(a.slots[day]) > 0 {
				days = append(days, day)
			}
		}
		return days, err
	}
	all, err := rowbytes.Cut(row, 0, 0, WeekItself)
	return slices.Collect(all.Filled()), err
}
