package blobs

import "context"

// PartSize is how much of a file one request of an upload carries.
const PartSize = partSize

// CallsAtOnce is how many calls may be under way.
const CallsAtOnce = callsAtOnce

// OpenWithin is Open for a test that does not wait for the contract's deadlines.
func OpenWithin(ctx context.Context, address string, d Deadlines) (*Store, error) {
	s, err := Open(ctx, address)
	if err == nil {
		s.deadlines = d
	}
	return s, err
}

// UnderWay is how many calls are.
func (s *Store) UnderWay() int { return len(s.calls) }
