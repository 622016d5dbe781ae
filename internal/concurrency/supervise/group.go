package supervise

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Group is an errgroup.Group whose Wait returns the panic of a member as its error, a
// *PanicError. The zero Group is ready to use; it cancels nothing.
type Group struct {
	within *errgroup.Group // of WithContext
	plain  errgroup.Group
}

// WithContext returns a group and a context that ends with the first error or panic of a
// member.
func WithContext(ctx context.Context) (*Group, context.Context) {
	within, ctx := errgroup.WithContext(ctx)
	return &Group{within: within}, ctx
}

func (g *Group) group() *errgroup.Group {
	if g.within != nil {
		return g.within
	}
	return &g.plain
}

// Go runs f in a goroutine of its own, as soon as the limit allows.
func (g *Group) Go(f func() error) {
	g.group().Go(func() error { return Call(f) })
}

// SetLimit bounds how many members run at once.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Wait waits for all members and returns the first error.
func (g *Group) Wait() error { return g.group().Wait() }

// Join is Wait for members that return no errors. The panic of a member continues in the
// goroutine of the caller, whose own caller recovers it.
func (g *Group) Join() {
	if err := g.Wait(); err != nil {
		panic(err)
	}
}
