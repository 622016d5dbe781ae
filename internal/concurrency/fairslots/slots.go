package fairslots

import (
	"cmp"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// remembered is how many organizations without a slot have a place in the order.
const remembered = 1000

// Slots are those of one process for one kind of work.
type Slots struct {
	each int

	mu    sync.Mutex
	of    map[uuid.UUID]*holder
	turns uint64 // so many were taken
}

// holder is an organization that holds slots, or did.
type holder struct {
	slots int
	turn  uint64 // its last one
}

// NewSlots returns twice as many slots as one organization may hold.
func NewSlots(each int) *Slots {
	return &Slots{each: max(1, each), of: make(map[uuid.UUID]*holder)}
}

// All is how many slots there are.
func (s *Slots) All() int { return 2 * s.each }

// Order says which organization gets the next slot.
type Order struct {
	// Full are the organizations that get none.
	Full []uuid.UUID
	// Later are organizations in the order of their turns. Those that are not among them
	// come before all of them.
	Later []uuid.UUID
}

// Order is the order of now.
func (s *Slots) Order() Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := Order{Full: []uuid.UUID{}, Later: make([]uuid.UUID, 0, len(s.of))}
	for organization, h := range s.of {
		if h.slots >= s.each {
			o.Full = append(o.Full, organization)
		} else {
			o.Later = append(o.Later, organization)
		}
	}
	slices.SortFunc(o.Later, func(a, b uuid.UUID) int { return before(s.of[a], s.of[b]) })
	return o
}

// before orders organizations by their turns.
func before(a, b *holder) int {
	return cmp.Or(cmp.Compare(a.slots, b.slots), cmp.Compare(a.turn, b.turn))
}

// Take gives an organization a slot.
func (s *Slots) Take(organization uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of[organization]
	if h == nil {
		s.forget()
		h = &holder{}
		s.of[organization] = h
	}
	s.turns++
	h.slots, h.turn = h.slots+1, s.turns
}

// Free gives a slot back; full says that the organization could have got no other before.
func (s *Slots) Free(organization uuid.UUID) (full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of[organization]
	full = h.slots >= s.each
	h.slots--
	return full
}

// forget makes room for another organization.
func (s *Slots) forget() {
	if len(s.of) < remembered {
		return
	}
	var longest uuid.UUID
	var oldest *holder
	for organization, h := range s.of {
		if h.slots == 0 && (oldest == nil || before(h, oldest) < 0) {
			longest, oldest = organization, h
		}
	}
	if oldest != nil {
		delete(s.of, longest)
	}
}

// next is the organization of those that wait that gets the next slot; ok is false where
// none may have one.
func (s *Slots) next(waiting []uuid.UUID) (organization uuid.UUID, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	nobody := &holder{}
	first := nobody
	for _, one := range waiting {
		h := cmp.Or(s.of[one], nobody)
		if h.slots < s.each && (!ok || before(h, first) < 0) {
			organization, first, ok = one, h, true
		}
	}
	return organization, ok
}
