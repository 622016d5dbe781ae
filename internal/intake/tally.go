package intake

import "hash/maphash"

// Tally counts data points by the name of their metric and by what became of them, of one
// message. The zero value is ready. It keeps the bytes of names: it is for as long as its
// message, and costs one allocation, however many names there are.
type Tally struct {
	seed  maphash.Seed
	slots []tallied
	rest  map[Reason]int // of names for which there was no slot
}

type tallied struct {
	name   []byte
	reason Reason
	n      int
}

// Sizes of a tally.
const (
	tallySlots  = 1024
	tallyProbes = 16
	tallyName   = 120 // bytes of a reported name
)

// Add counts points. An empty reason says that they were used.
func (t *Tally) Add(name []byte, reason Reason, n int) {
	if n <= 0 {
		return
	}
	if len(name) <= tallyName && len(name) > 0 {
		if t.slots == nil {
			t.seed, t.slots = maphash.MakeSeed(), make([]tallied, tallySlots)
		}
		at := maphash.Bytes(t.seed, name)
		for i := range uint64(tallyProbes) {
			slot := &t.slots[(at+i)%tallySlots]
			if slot.n == 0 {
				*slot = tallied{name, reason, n}
				return
			}
			if slot.reason == reason && string(slot.name) == string(name) {
				slot.n += n
				return
			}
		}
	}
	if t.rest == nil {
		t.rest = map[Reason]int{}
	}
	t.rest[reason] += n
}

// Each goes through what was counted; an empty name is the rest.
func (t *Tally) Each(do func(name string, reason Reason, n int)) {
	for _, slot := range t.slots {
		if slot.n > 0 {
			do(string(slot.name), slot.reason, slot.n)
		}
	}
	for reason, n := range t.rest {
		do("", reason, n)
	}
}
