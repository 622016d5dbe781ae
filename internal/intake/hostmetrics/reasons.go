package hostmetrics

import "fmt"

// Reason is why a data point was not used; a label of a figure.
type Reason string

// The reasons. Only NotUsed is no fault of the point.
const (
	NotUsed      Reason = "not_used"       // of no tile
	NotANumber   Reason = "not_a_number"   // NaN or infinite
	OutOfRange   Reason = "out_of_range"   // negative, or more than 64 bits count
	InvalidTime  Reason = "invalid_time"   // none, or before 1970
	TimeInFuture Reason = "time_in_future" // by more than five minutes
	TooLong      Reason = "too_long"       // the name of a host, an instance or a mount point
	Malformed    Reason = "malformed"      // text that is not UTF-8 or has U+0000, a reference to nothing
	NoHost       Reason = "no_host"        // nothing says whose it is
	Incomplete   Reason = "incomplete"     // a label is missing, or a part of the value
	Unsupported  Reason = "unsupported"    // a delta, a histogram, a CPU without a number
	Forbidden    Reason = "forbidden"      // beyond the instances of the token
	TooMany      Reason = "too_many"       // beyond what one message may bring
)

// DecodeError says that a body is not the message that it should be. Nothing of it
// is taken.
type DecodeError struct {
	Message string // what it should be: prometheus.WriteRequest
	Err     error
}

func (e *DecodeError) Error() string { return fmt.Sprintf("read %s: %v", e.Message, e.Err) }

func (e *DecodeError) Unwrap() error { return e.Err }
