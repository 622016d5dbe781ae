package measurementstest

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// partialSessions reports whether some instance in scope lies, in a stretch of time, at or
// after a sample that has only a part of its sessions, and at or before one.
func (s *samples) partialSessions(engine fleet.Engine, scope fleet.Scope, from, to time.Time) bool {
	of := make(map[uuid.UUID][]time.Time)
	for _, v := range s.sessions {
		if v.Partial && v.Part != measurements.OnlyCounts && v.Engine == engine && includes(scope, v.Instance) {
			of[v.Instance] = append(of[v.Instance], v.At)
		}
	}
	return anyAround(of, from, to)
}

// partialStatements is the same of statements.
func (s *samples) partialStatements(engine fleet.Engine, scope fleet.Scope, from, to time.Time) bool {
	of := make(map[uuid.UUID][]time.Time)
	for _, v := range s.statements {
		if v.Partial && v.Engine == engine && includes(scope, v.Instance) {
			of[v.Instance] = append(of[v.Instance], v.At)
		}
	}
	return anyAround(of, from, to)
}

func anyAround(of map[uuid.UUID][]time.Time, from, to time.Time) bool {
	for _, times := range of {
		before, after := false, false
		for _, at := range times {
			before = before || at.Before(to)
			after = after || !at.Before(from)
		}
		if before && after {
			return true
		}
	}
	return false
}
