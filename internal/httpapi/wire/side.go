package wire

import (
	"context"
	"time"

	"muster/internal/httpapi/api"
)

// sideTimeout is for how long an answer waits for side figures that come from elsewhere, all
// of them together: a server of measurements that says nothing would take all the time of the
// request. sideShare is which part of the time that is left they have at most.
const (
	sideTimeout = 5 * time.Second
	sideShare   = 3
)

// Side is what an answer shows beside its subject. A side figure that cannot be read is null
// and named in the member unavailable, and the answer stands.
type Side struct{ missing []api.UnavailableFigure }

// Limited is ctx with the time that side figures have. The caller calls cancel when they are read.
func (*Side) Limited(ctx context.Context) (limited context.Context, cancel context.CancelFunc) {
	limit := sideTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/sideShare)
	}
	return context.WithTimeout(ctx, limit)
}

// Lacks says whether reading side figures failed, and notes which ones are missing and why.
// A figure is named by its path in the answer.
func (s *Side) Lacks(ctx context.Context, err error, figures ...string) bool {
	if err == nil {
		return false
	}
	code, sentence := "unavailable", "It could not be read."
	if c := CallOf(ctx); c != nil && c.Explain != nil {
		code, sentence = c.Explain(ctx, figures, err)
	}
	for _, figure := range figures {
		s.missing = append(s.missing, api.UnavailableFigure{Figure: figure, Code: code, Sentence: sentence})
	}
	return true
}

// Unavailable are the figures that are missing; never null on the wire.
func (s *Side) Unavailable() []api.UnavailableFigure { return NeverNull(s.missing) }
