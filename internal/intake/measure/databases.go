package measure

import (
	"errors"
	"slices"
	"strings"
	"time"

	"muster/internal/measurements"
	"muster/internal/watch/status"
)

// DatabaseError is why the statements of one database could not be read, which leaves those of the others
// as they are.
type DatabaseError struct {
	Database string
	Err      error
}

func (e *DatabaseError) Error() string { return "database " + e.Database + ": " + e.Err.Error() }
func (e *DatabaseError) Unwrap() error { return e.Err }

// mostFailing is how many databases are reported that alone fail. A server may have a thousand, and
// what one says of fifty, an administrator knows of all.
const mostFailing = 50

// apart takes the databases that alone failed out of an error, and says which they are and which do not
// fail any more.
func (s *Server) apart(at time.Time, err error) (outcomes []measurements.Reached, rest error) {
	of, rest := split(err)
	if s.counts.line.Closed() {
		return nil, err // none of them is to blame
	}
	now := make(map[string]bool, len(of))
	for _, failed := range of[:min(len(of), mostFailing)] {
		r := s.part(status.Statements, at, failed.Err)
		r.Database = failed.Database
		outcomes, now[failed.Database] = append(outcomes, r), true
	}
	for database := range s.failing {
		if !now[database] {
			r := s.part(status.Statements, at, nil)
			r.Database = database
			outcomes = append(outcomes, r)
		}
	}
	slices.SortFunc(outcomes, func(a, b measurements.Reached) int { return strings.Compare(a.Database, b.Database) })
	s.failing = now
	return outcomes, rest
}

// split takes what single databases failed with out of joined errors.
func split(err error) (of []*DatabaseError, rest error) {
	if one, ok := err.(*DatabaseError); ok { //nolint:errorlint // what is wrapped once more is another error
		return []*DatabaseError{one}, nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, err
	}
	var others []error
	for _, one := range joined.Unwrap() {
		found, other := split(one)
		of, others = append(of, found...), append(others, other)
	}
	return of, errors.Join(others...)
}
