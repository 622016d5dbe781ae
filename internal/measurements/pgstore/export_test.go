package pgstore

import "context"

// Small lets fleets of any size have rows as a whole, as only large ones have them
// otherwise.
func (s *Store) Small() *Store {
	s.wholeFrom = 1
	return s
}

// Settle rolls up, and makes the rows of whole organizations, until nothing is left.
func (s *Store) Settle(ctx context.Context) error {
	if _, err := s.Roll(ctx); err != nil {
		return err
	}
	for {
		if n, err := s.Whole(ctx); err != nil || n == 0 {
			return err
		}
	}
}
