package intake

import (
	"context"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/internal/measurements"
	"muster/internal/watch"
)

// Caller is who sends a message: their organization, and what their token is limited to.
type Caller = usecase.Actor

// Machine is the caller of actions that no member did, also with a member's token: firing
// alerts would bury the member's own actions.
func Machine(c Caller) Caller {
	c.MemberID, c.Component = uuid.Nil, "ingest"
	return c
}

// Store keeps samples, and tells the watch of them and of the sender's own signs;
// *push.Intake is one.
type Store interface {
	Record(ctx context.Context, b measurements.Batch, signs ...watch.Sign) (measurements.Receipt, error)
}

// Sort is what was recorded; a label of a figure.
type Sort string

// The sorts.
const (
	Instance        Sort = "instance"
	Database        Sort = "database"
	Alert           Sort = "alert"
	HostSample      Sort = "host_sample"
	SessionSample   Sort = "session_sample"
	StatementSample Sort = "statement_sample"
	Backup          Sort = "backup"

	Assessment       Sort = "assessment"
	Finding          Sort = "finding"
	ClassifiedColumn Sort = "classified_column"
)

// Receipt is the result of a message, for its answer and for the metrics. A Receipt with an
// error says what was recorded before it.
type Receipt struct {
	// Received counts the data points or alerts of an agent's message, Dropped what
	// of a message was not used. Histograms and exemplars are counted only.
	Received, Histograms, Exemplars int
	Dropped                         map[Reason]int
	Recorded                        map[Sort]int

	Fleet  []inventory.IDs // in the order of the message, as what follows
	Alerts []alerting.ID
	Mark   usecase.Mark // where the log was written to, if it was
}

// namesKey is the key of the Tally that a door fills, in a context.
type namesKey struct{}

// WithNames returns a context in which a door stores the counts of its message by names.
func WithNames(ctx context.Context) (context.Context, *Tally) {
	names := &Tally{}
	return context.WithValue(ctx, namesKey{}, names), names
}

// TellNames stores the counts in the Tally of WithNames, if the context has one.
func TellNames(ctx context.Context, names Tally) {
	if to, asked := ctx.Value(namesKey{}).(*Tally); asked {
		*to = names
	}
}

// Drop counts what was not used.
func (r *Receipt) Drop(reason Reason, n int) {
	if r.Dropped == nil {
		r.Dropped = map[Reason]int{}
	}
	r.Dropped[reason] += n
}

// Include counts what another part of the message came to.
func (r *Receipt) Include(o Receipt) {
	r.Received += o.Received
	for reason, n := range o.Dropped {
		r.Drop(reason, n)
	}
	for sort, n := range o.Recorded {
		r.Record(sort, n)
	}
}

// Record counts what was recorded.
func (r *Receipt) Record(sort Sort, n int) {
	if r.Recorded == nil {
		r.Recorded = map[Sort]int{}
	}
	r.Recorded[sort] += n
}

// RecordSamples counts what the store kept, and what came too late for it.
func (r *Receipt) RecordSamples(written measurements.Receipt) {
	r.Record(HostSample, written.Accepted.Hosts)
	r.Record(SessionSample, written.Accepted.Sessions)
	r.Record(StatementSample, written.Accepted.Statements)
	r.Drop(TooLate, written.TooLate.Hosts+written.TooLate.Sessions+written.TooLate.Statements+written.TooLate.Servers)
	if written.Counted > 0 {
		r.Drop(Counted, written.Counted)
	}
}

// Refused is how much could not be used by a fault of its own.
func (r *Receipt) Refused() int {
	n := 0
	for reason, dropped := range r.Dropped {
		if reason.IsFault() {
			n += dropped
		}
	}
	return n
}
