package main

import (
	"context"

	"muster/commands"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/mail"
	"muster/internal/notify"
	"muster/internal/notify/channel"
)

// dispatcher puts what happens into deliveries.
func (in *installation) dispatcher() *notify.Dispatcher {
	return &notify.Dispatcher{DB: in.db, Events: in.events, Registry: commands.Registry(), Queue: in.queue, Now: in.clock.Now,
		Alerts: func(ctx context.Context) error { return in.runner.Ready(ctx) }}
}

// told answers what was told, and what will be.
func (p *process) told() *notify.Reader {
	return &notify.Reader{DB: p.db, Seal: p.key, Events: p.events, Registry: commands.Registry(), Now: p.clock.Now}
}

// sender sees deliveries through.
func (p *process) sender() (*notify.Sender, error) {
	from, err := mail.ParseFrom(p.cfg.MailFrom)
	if err != nil {
		return nil, err
	}
	transport, err := p.transport()
	if err != nil {
		return nil, err
	}
	return &notify.Sender{
		DB: p.db, Queue: p.queue, Accounts: p.accounts, Seal: p.key, Poster: p.poster(), Composer: &mail.Composer{From: from, Now: p.clock.Now},
		Transport: transport, PublicURL: p.cfg.PublicURL, Registry: commands.Registry(), Now: p.clock.Now, Log: p.log,
		Alerts: p.runner.Ready,
	}, nil
}

// addNotifications has workers see deliveries through, and do what is done about them now
// and then.
func (p *process) addNotifications(workers *handlers.Workers, sender *notify.Sender) {
	dispatcher := p.dispatcher()
	workers.Add(handlers.Task{Kind: jobs.Notify, Timeout: sender.AttemptTimeout(), Policy: sender.Policy(handlers.TellsAtOnce), Handle: sender.Handle})
	workers.Every("tell open alerts again", notify.RepeatEvery, dispatcher.Repeat)
	workers.Every("feed Alertmanagers", channel.FeedEvery, sender.Feed)
	workers.Every("delete old deliveries", notify.PurgeEvery, dispatcher.Purge)
	if p.cfg.SMTPURL != "" {
		workers.Every("begin notifications", notify.BeginEvery, func(ctx context.Context) error {
			return notify.Begin(ctx, p.db, p.commands.BeginNotifications)
		})
	}
}
