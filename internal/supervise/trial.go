package supervise

import (
	"context"
	"time"
)

// Trial is what a test does to all loops under a context.
type Trial struct {
	// Around returns the context of a loop's run; nil: as it is.
	Around func(ctx context.Context, loop string) context.Context
	// Pause and Sound replace the first pause and how long a loop is in trouble; 0: they
	// are as they are.
	Pause, Sound time.Duration
}

type trialKey struct{}

// Under returns a context under which a trial is made.
func (t *Trial) Under(ctx context.Context) context.Context {
	return context.WithValue(ctx, trialKey{}, t)
}

func (t *Trial) around(ctx context.Context, loop string) context.Context {
	if t.Around == nil {
		return ctx
	}
	return t.Around(ctx, loop)
}
