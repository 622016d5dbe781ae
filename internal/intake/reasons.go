package intake

import "fmt"

// Reason is why a part of a message was not used; a label of a figure.
type Reason string

// The reasons.
const (
	Malformed Reason = "malformed" // no object, text that cannot be kept, a reference to nothing
	TooMany   Reason = "too_many"  // beyond what one message may bring
	Forbidden Reason = "forbidden" // beyond the instances of the token

	OverBudget Reason = "budget_exhausted" // a whole call, because a budget of its sender is used up

	DuplicateLabel Reason = "duplicate_label" // a label, an attribute or a member twice: it is unclear which one is meant

	// Of alerts:
	OurOwn      Reason = "our_own"      // fed by Muster itself, and back again
	NoLabels    Reason = "no_labels"    // so that nothing tells it from others
	InvalidTime Reason = "invalid_time" // ends before it starts, or lies out of the calendar; of a point: none, or before 1970
	Truncated   Reason = "truncated"    // the sender cut it off

	// Of data points:
	NotUsed      Reason = "not_used"       // of no tile
	NotANumber   Reason = "not_a_number"   // NaN or infinite
	OutOfRange   Reason = "out_of_range"   // negative, or more than 64 bits count
	TimeInFuture Reason = "time_in_future" // by more than five minutes
	TooLong      Reason = "too_long"       // the name of a host, an instance or a mount point; an alert as a whole
	NoHost       Reason = "no_host"        // nothing says whose it is
	Incomplete   Reason = "incomplete"     // a label is missing, or a part of the value
	Unsupported  Reason = "unsupported"    // a delta, a histogram, a CPU without a number; an event that cannot be counted

	// Of what receivers of databases say:
	NoInstance Reason = "no_instance" // nothing says which one it is of, or there is none such of that engine
	NoDatabase Reason = "no_database" // or which database of it
	Held       Reason = "held"        // Muster or another sender measures it already

	// Of samples, which were well when they were sent:
	TooLate         Reason = "too_late"         // of an hour that is sealed
	Counted         Reason = "counted"          // statements of a time that another sender has counted
	UnknownInstance Reason = "unknown_instance" // the sample is kept without it
	Ambiguous       Reason = "ambiguous"        // several instances match; the data is stored for one of them
)

// IsFault says whether a sender is told about it.
func (r Reason) IsFault() bool {
	return r != NotUsed && r != TooLate && r != Counted && r != UnknownInstance && r != Ambiguous
}

// UnreadableError says that a body is not the expected message, so nothing of it is used. An
// agent that gets this gives up, which is right: it would send the same again.
type UnreadableError struct {
	Pointer string // to the part that is wrong, a JSON pointer fragment; "#" for all of it
	Detail  string // completes "<pointer> …"
	Err     error  // the value found, if that says more
}

func (e *UnreadableError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s %s", e.Pointer, e.Detail)
	}
	return fmt.Sprintf("%s %s: %v", e.Pointer, e.Detail, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// NotA is the error of a body that is no message of that name.
func NotA(message string, err error) error {
	return &UnreadableError{Pointer: "#", Detail: "is no " + message, Err: err}
}

// LaggingError says that what a message names was registered so lately that the read
// model of the fleet does not have it. Nothing was kept; later it will be.
type LaggingError struct{}

func (*LaggingError) Error() string { return "the fleet's read model lags behind its log" }
