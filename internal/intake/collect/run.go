package collect

import (
	"context"
	"errors"
	"time"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
)

const (
	// atOnce is how many servers of one organization a process looks at at once, and half
	// of how many it looks at at once of all (internal/concurrency/fairslots): looking is waiting, mostly.
	atOnce = 4
	// idle is how long a server that another process made due may wait.
	idle = 2 * time.Second
	// pruneEvery is how often old assessments are deleted; every process does
	// it, and finds nothing left to do when another was first.
	pruneEvery = 6 * time.Hour
)

// Run assesses what is due until ctx ends, and returns when the looks under
// way have ended.
func (c *Collector) Run(ctx context.Context) error {
	group, ctx := supervise.WithContext(ctx)
	for range c.looks.All() {
		group.Go(func() error {
			c.work(ctx)
			return nil
		})
	}
	for range c.lightLooks.All() {
		group.Go(func() error {
			c.lookLightly(ctx)
			return nil
		})
	}
	group.Go(func() error { return c.Loops.Run(ctx, "tidy assessments up", c.tidyUp) })
	return group.Wait()
}

// tidyUp completes what earlier versions kept, and deletes what is old.
func (c *Collector) tidyUp(ctx context.Context) error {
	if err := c.store.MakeFindings(ctx); err != nil && ctx.Err() == nil { // each look does what is left over
		c.log.ErrorContext(ctx, "make the findings of earlier assessments", "error", err)
	}
	if err := c.store.MakeAnswers(ctx); err != nil && ctx.Err() == nil { // until it is done they are read from the facts
		c.log.ErrorContext(ctx, "take the answers out of earlier assessments", "error", err)
	}
	for {
		if err := c.forgetRemoved(ctx); err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "forget what feeds assessed and is removed", "error", err)
		}
		if n, err := c.store.Prune(ctx); err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "prune old assessments", "error", err)
		} else if n > 0 {
			c.log.InfoContext(ctx, "pruned old assessments", "rows", n)
		}
		if err := pause.For(ctx, pause.Jittered(pruneEvery)); err != nil {
			return err
		}
	}
}

func (c *Collector) work(ctx context.Context) {
	for ctx.Err() == nil {
		ok := false
		err := c.Loops.Turn(ctx, "assess servers", func(ctx context.Context) (err error) {
			ok, err = c.AssessDue(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "assess a due instance", "error", err)
		}
		if ok && err == nil {
			continue
		}
		_ = pause.Unless(ctx, pause.Jittered(idle), c.wake)
	}
}

// forgetRemoved deletes what feeds sent about removed instances. The removal itself does that,
// unless its process dies after the event.
func (c *Collector) forgetRemoved(ctx context.Context) error {
	fed, err := c.store.Fed(ctx)
	if err != nil {
		return err
	}
	for _, one := range fed {
		active, err := c.instances.Active(ctx, one.Organization, one.Instance)
		if err != nil {
			return err
		}
		if active {
			continue
		}
		_, err = c.fleet.ChangeInstance(ctx, usecase.Actor{OrganizationID: one.Organization, Component: "collector"}, one.Instance, inventory.Change{})
		var gone *usecase.NotFoundError
		if errors.As(err, &gone) {
			err = c.store.ForgetFed(ctx, one.Organization, one.Instance)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
