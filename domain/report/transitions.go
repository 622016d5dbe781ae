package report

import (
	"fmt"
	"slices"
)

// statusNone is the status of a request that has not been made yet.
const statusNone Status = ""

// Transition is a row of the table of states: in state From the event with this
// wire name may happen, and leads to To.
type Transition struct {
	From  Status
	Event string
	To    Status
}

// Transitions is the specification's table, §3, row by row, followed by the
// facts that are recorded without moving a request. What is not in it does not
// happen.
func Transitions() []Transition { return slices.Clone(transitions[:]) }

// transitions is made once: to make it for each event took 4 % of the time of a
// rebuild outside the database.
var transitions = [...]Transition{
	{statusNone, "report.queued", StatusQueued},            // POST, no identical request is already building
	{StatusQueued, "report.build_started", StatusBuilding}, // generation starts
	{StatusBuilding, "report.ready", StatusReady},          // generation succeeds
	{StatusBuilding, "report.failed", StatusFailed},        // generation fails
	{StatusReady, "report.expired", StatusExpired},         // retention window elapses

	{StatusQueued, "report.reused", StatusQueued}, // POST, an identical request is already building
	{StatusBuilding, "report.reused", StatusBuilding},
	{StatusBuilding, "report.build_resumed", StatusBuilding},
	{StatusBuilding, "report.step_completed", StatusBuilding},
	{StatusReady, "report.signed", StatusReady}, // some seconds later, and again where the file was lost
	{StatusReady, "report.downloaded", StatusReady},
	{StatusExpired, "report.downloaded", StatusExpired}, // its inputs outlive the PDF
	{StatusReady, "report.email_sent", StatusReady},     // a mail is tried for 24 h, the window may be shorter
	{StatusExpired, "report.email_sent", StatusExpired},
	{StatusReady, "report.email_failed", StatusReady},
	{StatusExpired, "report.email_failed", StatusExpired},
	{StatusReady, "report.inputs_erased", StatusReady},
	{StatusExpired, "report.inputs_erased", StatusExpired},
}

// Next returns the state that e leads to from a state, and whether it may
// happen there at all.
func Next(from Status, e Event) (to Status, ok bool) {
	name := Name(e)
	for _, t := range transitions {
		if t.From == from && t.Event == name {
			return t.To, true
		}
	}
	return from, false
}

// TransitionError reports an event that may not happen in a state.
type TransitionError struct {
	From  Status // empty: no such request yet
	Event string // wire name
}

func (e *TransitionError) Error() string {
	from := string(e.From)
	if e.From == statusNone {
		from = "not requested"
	}
	return fmt.Sprintf("a report that is %s cannot take %s", from, e.Event)
}
