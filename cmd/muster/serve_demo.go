package main

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/demo"
	"muster/internal/pause"
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
		DB: p.db, Commands: p.commands, Accounts: p.accounts, Facts: p.facts, Assessor: assessor,
		Assessments: p.feed(), Intake: p.intake, Past: demoPast, Recent: demoRecent, Series: p.samples,
		Wait: func(ctx context.Context, m commands.Mark) bool { return p.runner.Wait(ctx, m.Log, m.Position) },
		Now:  p.clock.Now, Log: p.log,
	}
	if p.server != nil {
		d.Own = p.server
	}
	return d
}

// startDemos keeps going what there is of demos: one made just now, or whose filling
// was cut off. begun is closed when there is enough of them to look at.
func (p *process) startDemos(ctx context.Context, group *errgroup.Group, filler *demo.Demo, begun chan<- struct{}) error {
	organizations, err := p.accounts.Organizations(ctx)
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
	p.persist(ctx, o, func(ctx context.Context) error { return filler.Begin(ctx, o) })
	begun()
	var group errgroup.Group
	for _, work := range []func(context.Context, accounts.Organization) error{filler.Measure, filler.Fill, filler.Fire} {
		group.Go(func() error {
			p.persist(ctx, o, func(ctx context.Context) error { return work(ctx, o) })
			return nil
		})
	}
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
		if deleted, lost := p.accounts.WasDeleted(ctx, o.ID); deleted && lost == nil {
			return
		}
		p.log.Warn("the demo is not complete yet, trying again", "in", demoRetry, "error", err)
		if pause.For(ctx, demoRetry) != nil {
			return
		}
	}
}
