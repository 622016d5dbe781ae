package collect

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/pause"
	"muster/internal/servers"
)

const (
	// lightEvery is how often a server is looked at lightly.
	lightEvery = 5 * time.Minute
	// lightGap is how long a server that was made due by a light look is not made due by
	// another: one whose roles change all the time would be assessed all the time.
	lightGap = 15 * time.Minute
	// lightAtOnce is how many servers of one organization a process looks lightly at at once,
	// and half of how many of all.
	lightAtOnce = 1
	// lightTimeout is how long one may take.
	lightTimeout = 20 * time.Second
)

// lightLooker is an inspector that can tell cheaply whether a server has changed.
type lightLooker interface {
	// LightLook is a digest of what the server is like. Errors: as those of a connection.
	LightLook(ctx context.Context, target servers.Target) (digest string, err error)
}

// LookLightly looks at the server that has waited longest for a light look, of the organization
// whose turn it is, and makes it due where something has changed; ok is false where none waits.
// A server out of reach says nothing: whether it is up is for the monitor to say.
func (c *Collector) LookLightly(ctx context.Context) (ok bool, err error) {
	var engines []fleet.Engine
	for engine, one := range c.inspectors {
		if _, can := one.(lightLooker); can {
			engines = append(engines, engine)
		}
	}
	place, free, ok, err := claimed(c.lightLooks, func(order fairslots.Order) (assessment.Place, bool, error) {
		return c.store.NextLightLook(ctx, engines, pause.Jittered(lightEvery), order)
	}, func(place assessment.Place) uuid.UUID { return place.Organization })
	if err != nil || !ok {
		return false, err
	}
	defer free()
	active, err := c.instances.Active(ctx, place.Organization, place.Instance)
	if err != nil || !active {
		return true, err
	}
	credentials, known, err := c.store.Credentials(ctx, place.Organization, place.Instance)
	if err != nil || !known {
		return true, err
	}
	target, err := credentials.Target(c.reach)
	if err != nil {
		return true, nil //nolint:nilerr // the assessment says so
	}
	looker, can := c.inspectors[credentials.Engine].(lightLooker)
	if !can {
		return true, nil
	}
	bounded, cancel := context.WithTimeout(ctx, lightTimeout)
	defer cancel()
	digest, err := looker.LightLook(bounded, target)
	if err != nil {
		return true, nil //nolint:nilerr // likewise
	}
	due, err := c.store.LightLook(ctx, place, digest, lightGap)
	if err == nil && due {
		c.wakeUp()
	}
	return true, err
}

// lookLightly looks at one server after the other, beside others that do.
func (c *Collector) lookLightly(ctx context.Context) {
	for ctx.Err() == nil {
		ok := false
		err := c.Loops.Turn(ctx, "look lightly at servers", func(ctx context.Context) (err error) {
			ok, err = c.LookLightly(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "look lightly at a server", "error", err)
		}
		if ok && err == nil {
			continue
		}
		_ = pause.For(ctx, pause.Jittered(lightIdle))
	}
}

// lightIdle is how long a server waits whose time for a light look has come.
const lightIdle = 5 * time.Second
