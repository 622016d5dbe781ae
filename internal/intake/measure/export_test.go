package measure

import "context"

// Turn is what Run does between two waits.
func (s *Server) Turn(ctx context.Context) error { return s.turn(ctx) }
