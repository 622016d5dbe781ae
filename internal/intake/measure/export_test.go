package measure

import (
	"context"
	"time"
)

// Turn is what Run does between two waits.
func (s *Server) Turn(ctx context.Context) error { return s.turn(ctx) }

// Wait is how long Run waits then.
func (s *Server) Wait() time.Duration { return s.wait() }
