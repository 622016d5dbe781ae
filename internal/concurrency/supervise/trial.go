package supervise

import (
	"cmp"
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

// trialOf returns the trial that is made under a context; without one, a trial that does
// nothing.
func trialOf(ctx context.Context) *Trial {
	trial, _ := ctx.Value(trialKey{}).(*Trial)
	return cmp.Or(trial, &Trial{})
}

// call calls do with a context that ends with it. Where do panics, the error is a *PanicError.
func (t *Trial) call(ctx context.Context, loop string, do func(context.Context) error) error {
	return Call(func() error {
		within, end := context.WithCancel(ctx)
		defer end()
		if t.Around != nil {
			within = t.Around(within, loop)
		}
		return do(within)
	})
}
