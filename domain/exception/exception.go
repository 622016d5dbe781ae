package exception

import "time"

// Exception is one exception, folded from its events. The zero value has not been requested
// yet.
type Exception struct {
	status  Status
	subject Subject
	until   time.Time
}

// LapsedError reports a decision about an exception whose time is over.
type LapsedError struct{ Until time.Time }

func (e *LapsedError) Error() string {
	return "the time of the exception was over at " + e.Until.UTC().Format(time.RFC3339)
}

// Status is where the exception stands by its events. See StatusAt.
func (x *Exception) Status() Status { return x.status }

// Subject is the findings that the exception is about.
func (x *Exception) Subject() Subject { return x.subject }

// StatusAt is where the exception stands at a time.
func (x *Exception) StatusAt(at time.Time) Status { return StatusAt(x.status, x.until, at) }

// StatusAt is the status of an exception at a time: a granted one lapses at its until. A
// requested one does not lapse, because it was never in force.
func StatusAt(status Status, until, at time.Time) Status {
	if status == StatusGranted && !at.Before(until) {
		return StatusLapsed
	}
	return status
}

// Apply folds one recorded event into the exception. It checks no rules: a recorded event has
// happened.
func (x *Exception) Apply(event Event) {
	x.status, _ = Next(x.status, event)
	if e, ok := event.(Requested); ok {
		x.subject, x.until = e.Subject, e.Until
	}
}

// Request asks for the exception. Errors: *LapsedError where its time would be
// over at once, *TransitionError.
func (x *Exception) Request(requested Requested, now time.Time) ([]Event, error) {
	if !now.Before(requested.Until) {
		return nil, &LapsedError{Until: requested.Until}
	}
	return decide(x.status, requested)
}

// Grant puts the exception in force. Errors: *LapsedError, *TransitionError.
func (x *Exception) Grant(now time.Time) ([]Event, error) {
	events, err := decide(x.status, Granted{})
	if err == nil && !now.Before(x.until) {
		return nil, &LapsedError{Until: x.until}
	}
	return events, err
}

// Revoke refuses a requested exception, or revokes a granted one. One that has lapsed stays
// lapsed. Errors: *LapsedError, *TransitionError.
func (x *Exception) Revoke(now time.Time) ([]Event, error) {
	if x.StatusAt(now) == StatusLapsed {
		return nil, &LapsedError{Until: x.until}
	}
	return decide(x.status, Revoked{})
}

// decide returns the event if it may happen in the status.
func decide(status Status, e Event) ([]Event, error) {
	if _, ok := Next(status, e); !ok {
		return nil, &TransitionError{From: status, Event: Name(e)}
	}
	return []Event{e}, nil
}
