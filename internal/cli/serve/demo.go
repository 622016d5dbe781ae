package serve

import (
	"context"
	"sync"
	"time"

	"muster/commands/usecase"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/operate/demo"
)

const (
	// demoRetry is the pause before something of the demo is tried again.
	demoRetry = 5 * time.Second
	// demoPast is how long a demo has been measured when it is made, and demoRecent how
	// much of it is there before anybody is told that there is a demo.
	demoPast, demoRecent = 60 * 24 * time.Hour, 24 * time.Hour
)

func (p *process) newDemo(assessor demo.Assessor) *demo.Demo {
	d := &demo.Demo{
		DB: p.DB, Commands: p.Commands, Accounts: p.Accounts, Facts: p.Facts, Assessor: assessor,
		Assessments: p.feed(), Intake: p.Intake, Past: demoPast, Recent: demoRecent, Series: p.Samples,
		Wait: func(ctx context.Context, m usecase.Mark) bool { return p.Runner.Wait(ctx, m.Log, m.Position) },
		Now:  p.Clock.Now, Log: p.Log,
	}
	if p.Server != nil {
		d.Own = p.Server
	}
	return d
}

// startDemos keeps going what there is of demos: one made just now, or whose filling
// was cut off. begun is closed when there is enough of them to look at.
func (p *process) startDemos(ctx context.Context, group *supervise.Group, filler *demo.Demo, begun chan<- struct{}) error {
	organizations, err := p.Accounts.Organizations(ctx)
	if err != nil {
		return err
	}
	var beginning sync.WaitGroup
	for _, o := range organizations {
		if o.Demo {
			beginning.Add(1)
			group.Go(func() error { return p.runDemo(ctx, filler, o, sync.OnceFunc(beginning.Done)) })
		}
	}
	go func() {
		defer close(begun)
		beginning.Wait()
	}()
	return nil
}

// runDemo keeps a demo going until ctx ends, and calls begun when there is enough of
// it to look at.
func (p *process) runDemo(ctx context.Context, filler *demo.Demo, o accounts.Organization, begun func()) error {
	defer begun()
	work := func(name string, do func(context.Context, accounts.Organization) error) error {
		return p.loops.Finish(ctx, name, func(ctx context.Context) error {
			p.persist(ctx, o, func(ctx context.Context) error { return do(ctx, o) })
			return nil
		})
	}
	if err := work("begin the demo", filler.Begin); err != nil {
		return err
	}
	begun()
	var group supervise.Group
	group.Go(func() error { return work("measure the demo", filler.Measure) })
	group.Go(func() error { return work("fill the demo", filler.Fill) })
	group.Go(func() error { return work("fire the demo's alerts", filler.Fire) })
	return group.Wait()
}

// persist works on the demo until it is done, or deleted: a database that restarts
// meanwhile ends neither the demo nor the process.
func (p *process) persist(ctx context.Context, o accounts.Organization, work func(context.Context) error) {
	for {
		err := work(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if deleted, lost := p.Accounts.WasDeleted(ctx, o.ID); deleted && lost == nil {
			return
		}
		p.Log.Warn("the demo is not complete yet, trying again", "in", demoRetry, "error", err)
		if pause.For(ctx, demoRetry) != nil {
			return
		}
	}
}
