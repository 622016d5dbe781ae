package alert

import "fmt"

// State is where an alert stands. Whether it is muted is apart from it.
type State string

// The states. The last two are final: a condition that holds again afterwards is a new alert.
const (
	Open              State = "Open"
	AcknowledgedState State = "Acknowledged"
	ResolvedState     State = "Resolved"     // a person closed it
	AutoResolvedState State = "AutoResolved" // its condition is over

	none State = "" // not raised yet
)

// States returns every state.
func States() []State { return []State{Open, AcknowledgedState, ResolvedState, AutoResolvedState} }

// Closed reports whether an alert in this state is over.
func (s State) Closed() bool { return s == ResolvedState || s == AutoResolvedState }

// Transition is a row of the table of states: in From the event with this wire
// name may happen, and leads to To.
type Transition struct {
	From  State
	Event string
	To    State
}

// Transitions is every way in which an alert moves. What is not in it does not
// happen.
func Transitions() []Transition {
	return []Transition{
		{none, "alert.raised", Open},
		{Open, "alert.acknowledged", AcknowledgedState},
		{Open, "alert.resolved", ResolvedState},
		{Open, "alert.auto_resolved", AutoResolvedState},
		{AcknowledgedState, "alert.resolved", ResolvedState},
		{AcknowledgedState, "alert.auto_resolved", AutoResolvedState},
		// Events that change no state, and the states in which they may happen.
		{Open, "alert.changed", Open},
		{Open, "alert.triggered_again", Open},
		{Open, "alert.still_firing", Open},
		{Open, "alert.muted", Open},
		{Open, "alert.muted_until", Open},
		{Open, "alert.unmuted", Open},
		{Open, "alert.mute_ended", Open},
		{Open, "alert.noted", Open},
		{AcknowledgedState, "alert.changed", AcknowledgedState},
		{AcknowledgedState, "alert.triggered_again", AcknowledgedState},
		{AcknowledgedState, "alert.still_firing", AcknowledgedState},
		{AcknowledgedState, "alert.muted", AcknowledgedState},
		{AcknowledgedState, "alert.muted_until", AcknowledgedState},
		{AcknowledgedState, "alert.unmuted", AcknowledgedState},
		{AcknowledgedState, "alert.mute_ended", AcknowledgedState},
		{AcknowledgedState, "alert.noted", AcknowledgedState},
		// Muting what is closed takes it out of the history.
		{ResolvedState, "alert.muted", ResolvedState},
		{ResolvedState, "alert.muted_until", ResolvedState},
		{ResolvedState, "alert.unmuted", ResolvedState},
		{ResolvedState, "alert.mute_ended", ResolvedState},
		{ResolvedState, "alert.noted", ResolvedState},
		{AutoResolvedState, "alert.muted", AutoResolvedState},
		{AutoResolvedState, "alert.muted_until", AutoResolvedState},
		{AutoResolvedState, "alert.unmuted", AutoResolvedState},
		{AutoResolvedState, "alert.mute_ended", AutoResolvedState},
		{AutoResolvedState, "alert.noted", AutoResolvedState},
	}
}

// Next returns the state that e leads to from a state, and whether it may
// happen there at all.
func Next(from State, e Event) (to State, ok bool) {
	name := Name(e)
	for _, t := range Transitions() {
		if t.From == from && t.Event == name {
			return t.To, true
		}
	}
	return from, false
}

// TransitionError reports an event that may not happen in a state.
type TransitionError struct {
	From  State // empty: no such alert
	Event string
}

func (e *TransitionError) Error() string {
	from := string(e.From)
	if e.From == none {
		from = "not raised"
	}
	return fmt.Sprintf("an alert that is %s cannot take %s", from, e.Event)
}
