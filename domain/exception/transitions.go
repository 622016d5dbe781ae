package exception

import "fmt"

// Status is where an exception stands.
type Status string

// The statuses. An exception is Lapsed by the clock, never by an event.
const (
	StatusRequested Status = "requested"
	StatusGranted   Status = "granted"
	StatusRevoked   Status = "revoked" // refused, or taken back
	StatusLapsed    Status = "lapsed"  // granted, and its time is over

	statusNone Status = "" // not requested yet
)

// Transition is a row of the table of statuses: in From the event with this wire
// name may happen, and leads to To.
type Transition struct {
	From  Status
	Event string
	To    Status
}

// Transitions is every way in which an exception moves. What is not in it does
// not happen.
func Transitions() []Transition {
	return []Transition{
		{statusNone, "exception.requested", StatusRequested}, // a member asks
		{StatusRequested, "exception.granted", StatusGranted},
		{StatusRequested, "exception.revoked", StatusRevoked}, // refused
		{StatusGranted, "exception.revoked", StatusRevoked},   // taken back
	}
}

// Next returns the status that e leads to from a status, and whether it may
// happen there at all.
func Next(from Status, e Event) (to Status, ok bool) {
	name := Name(e)
	for _, t := range Transitions() {
		if t.From == from && t.Event == name {
			return t.To, true
		}
	}
	return from, false
}

// TransitionError reports an event that may not happen in a status.
type TransitionError struct {
	From  Status // empty: no such exception
	Event string // wire name
}

func (e *TransitionError) Error() string {
	from := string(e.From)
	if e.From == statusNone {
		from = "not requested"
	}
	return fmt.Sprintf("an exception that is %s cannot take %s", from, e.Event)
}
