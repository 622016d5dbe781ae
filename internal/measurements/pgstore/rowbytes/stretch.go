package rowbytes

import "iter"

// Stretch is what a row has within a window: the slots that are left of it when those
// before the window are skipped are of the buckets from at on, and those from end on
// are of none.
type Stretch struct {
	slots   []byte
	At, end int
}

// Cut is the stretch of a row whose slot 0 belongs to bucket of.
func Cut(row []byte, of, at, end int) (s Stretch, err error) {
	s = Stretch{slots: row, At: at, end: end}
	for range at - of {
		if len(s.slots) == 0 {
			break
		}
		if _, s.slots, err = NextSlot(s.slots); err != nil {
			return Stretch{}, err
		}
	}
	return s, nil
}

// More says whether there is a slot left.
func (s *Stretch) More() bool { return s.At < s.end && len(s.slots) > 0 }

// Next cuts the next slot off, and returns its bucket; empty: there is none. The slots of tiles
// are shorter than 128 bytes.
func (s *Stretch) Next() (slot []byte, bucket int, ok bool) {
	n := int(s.slots[0]) + 1
	if n > len(s.slots) {
		return nil, 0, false
	}
	slot, bucket = s.slots[1:n], s.At
	s.slots, s.At = s.slots[n:], s.At+1
	return slot, bucket, true
}

// Filled are the buckets whose slots are not empty; what cannot be read ends it.
func (s Stretch) Filled() iter.Seq[int] {
	return func(yield func(int) bool) {
		for s.More() {
			slot, bucket, ok := s.Next()
			if !ok || len(slot) > 0 && !yield(bucket) {
				return
			}
		}
	}
}
