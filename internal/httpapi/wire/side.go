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
type Side struct {
	missing []api.UnavailableFigure
	left    time.Duration // for side figures that are still to be read
	begun   bool
}

// Limited is ctx with the time that is left for side figures. The caller calls cancel when
// those are read that it reads: others have what is left then.
func (s *Side) Limited(ctx context.Context) (limited context.Context, cancel context.CancelFunc) {
	if !s.begun {
		s.begun, s.left = true, sideTimeout
		if deadline, ok := ctx.Deadline(); ok {
			s.left = min(s.left, time.Until(deadline)/sideShare)
		}
	}
	began := time.Now()
	limited, end := context.WithTimeout(ctx, s.left)
	return limited, func() {
		end()
		s.left -= time.Since(began)
	}
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
